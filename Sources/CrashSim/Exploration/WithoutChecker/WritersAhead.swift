// WritersAhead.swift: programs in which one thread writes while another syncs and acknowledges.
// What came after a sync is no part of the acknowledgement that the sync allows.
// Invariant: a thread that never syncs, and for which nobody syncs, is never ahead.

import Recording

/// Follows who writes and who syncs each file.
struct WritersAhead {
  private struct State {
    /// Who synced last, and how many bytes there were.
    let syncer: Int32
    let count: Int
    /// Who has written since.
    var writers: Set<Int32> = []
    /// Marks since then.
    var marks: [Int] = []
  }

  private var files: [InodeNumber: State] = [:]

  mutating func write(_ inode: InodeNumber, _ thread: Int32) {
    files[inode]?.writers.insert(thread)
  }

  /// Notes that a line is printed.
  mutating func mark(_ index: Int) {
    for (inode, state) in files where !state.writers.isEmpty {
      files[inode]?.marks.append(index)
    }
  }

  /// Notes a sync.
  /// - Returns: Marks that came when others were ahead, and how many bytes were synced then.
  mutating func sync(
    _ inode: InodeNumber, _ thread: Int32, _ count: UInt64
  ) -> [(mark: Int, count: Int)] {
    let state = files[inode]
    files[inode] = State(syncer: thread, count: Int(clamping: count))
    guard let state, !state.writers.isEmpty, !state.writers.contains(state.syncer),
      thread == state.syncer || state.writers.contains(thread)
    else { return [] }
    return state.marks.map { ($0, state.count) }
  }
}
