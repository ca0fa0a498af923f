// KeyIndex.swift: the keys of all rows of a class, to find the position of a row without a walk
// over the table. Invariants: keys ascend strictly over all chunks; no chunk is empty; `starts[i]`
// is the number of keys before chunk i. Copies share the chunks that did not change.

/// Keys in ascending order with their positions.
struct KeyIndex {
  /// A chunk that grows beyond twice this is split.
  static let chunkCountMax = 512

  private(set) var chunks: [[Int64]]
  private var starts: [Int]
  private(set) var count: Int

  /// Takes keys in strictly ascending order.
  init(_ keys: [Int64]) {
    chunks = stride(from: 0, to: keys.count, by: Self.chunkCountMax).map {
      Array(keys[$0..<min($0 + Self.chunkCountMax, keys.count)])
    }
    starts = []
    count = 0
    number()
  }

  private mutating func number() {
    starts.removeAll(keepingCapacity: true)
    count = 0
    for chunk in chunks {
      starts.append(count)
      count += chunk.count
    }
  }

  /// The chunk that holds a key, or would.
  private func chunk(for key: Int64) -> Int {
    var (low, high) = (0, chunks.count)
    while low < high {
      let middle = (low + high) / 2
      if chunks[middle][0] <= key { low = middle + 1 } else { high = middle }
    }
    return max(0, low - 1)
  }

  /// The position of a key; nil when it is missing.
  /// - Complexity: O(log keys).
  func position(of key: Int64) -> Int? {
    guard !chunks.isEmpty else { return nil }
    let number = chunk(for: key)
    let keys = chunks[number]
    var (low, high) = (0, keys.count)
    while low < high {
      let middle = (low + high) / 2
      if keys[middle] < key { low = middle + 1 } else { high = middle }
    }
    return low < keys.count && keys[low] == key ? starts[number] + low : nil
  }

  /// Removes some keys and inserts others; both ascend.
  /// - Complexity: O(changes × chunk + chunks).
  mutating func apply(deletions: [Int64], insertions: [Int64]) {
    guard !deletions.isEmpty || !insertions.isEmpty else { return }
    guard !chunks.isEmpty else {
      self = KeyIndex(insertions)
      return
    }
    var changed: [(chunk: Int, deletions: Range<Int>, insertions: Range<Int>)] = []
    var (deleted, inserted) = (0, 0)
    while deleted < deletions.count || inserted < insertions.count {
      let next = min(
        deleted < deletions.count ? deletions[deleted] : .max,
        inserted < insertions.count ? insertions[inserted] : .max)
      let number = chunk(for: next)
      let end = number + 1 < chunks.count ? chunks[number + 1][0] : nil
      let (firstDeleted, firstInserted) = (deleted, inserted)
      while deleted < deletions.count, end.map({ deletions[deleted] < $0 }) ?? true {
        deleted += 1
      }
      while inserted < insertions.count, end.map({ insertions[inserted] < $0 }) ?? true {
        inserted += 1
      }
      changed.append((number, firstDeleted..<deleted, firstInserted..<inserted))
    }
    // From the last to the first, so that the numbers of the chunks before do not change.
    for change in changed.reversed() {
      let merged = Self.merged(
        chunks[change.chunk], without: deletions[change.deletions],
        with: insertions[change.insertions])
      let parts =
        merged.count <= 2 * Self.chunkCountMax
        ? merged.isEmpty ? [] : [merged] : KeyIndex(merged).chunks
      if parts.count == 1 {
        chunks[change.chunk] = parts[0]
      } else {
        chunks.replaceSubrange(change.chunk...change.chunk, with: parts)
      }
    }
    number()
  }

  private static func merged(
    _ keys: [Int64], without deletions: ArraySlice<Int64>, with insertions: ArraySlice<Int64>
  ) -> [Int64] {
    var merged: [Int64] = []
    merged.reserveCapacity(keys.count + insertions.count)
    var (deletions, insertions) = (deletions, insertions)
    for key in keys {
      while let next = insertions.first, next < key {
        merged.append(next)
        insertions.removeFirst()
      }
      while let next = deletions.first, next < key { deletions.removeFirst() }
      if deletions.first == key {
        deletions.removeFirst()
      } else if insertions.first != key {
        merged.append(key)
      }
    }
    return merged + insertions
  }
}
