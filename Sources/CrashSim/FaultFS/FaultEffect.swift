// FaultEffect.swift: what a fault rule does to the operations that it hits.
// An effect is an outcome (it decides what the operation does), a wait, or a kill: one operation
// can get one of each, from different rules.

import LabCore

extension FaultRule {
  /// What the failed sync of a file system leaves of the dirty pages, as measured by Rebello et
  /// al., "Can Applications Recover from fsync Failures?" (USENIX ATC 2020).
  public enum SyncFailure: String, Codable, Hashable, Sendable, CaseIterable {
    /// Pages count as clean and keep the new content; each open file is told once.
    case ext4Ordered = "ext4-ordered"
    /// As ext4-ordered.
    case xfs
    /// As ext4-ordered, but this sync answers success; the next one of each open file is told.
    case ext4Data = "ext4-data"
    /// Content and size go back to those of the last sync, and the cache is dropped.
    case btrfs
  }

  /// Which parts of a write survive.
  public struct Tearing: Codable, Hashable, Sendable {
    /// How the write is cut into parts.
    public enum Cut: Codable, Hashable, Sendable {
      /// At multiples of this many bytes of the file: 512 for sectors, 4096 for pages.
      case fileUnits(bytes: UInt64)
      /// After every so many bytes of the write.
      case writeUnits(bytes: UInt64)
      /// Into this many parts of equal size, the last one taking the rest.
      case equalParts(Int)
      /// Into parts of these sizes, and one more for the rest.
      case sizes([UInt64])
    }

    /// Which of the parts are kept.
    public enum Keep: Codable, Hashable, Sendable {
      case first(Int)
      case last(Int)
      /// These, counted from 1.
      case these([Int])
      /// Each with even chance, drawn from the rule's seed and the hit's number.
      case random
    }

    /// How the write is cut.
    public var cut: Cut
    /// What is kept.
    public var keep: Keep

    /// Makes a tearing.
    public init(_ cut: Cut, keep: Keep) {
      self.cut = cut
      self.keep = keep
    }
  }

  /// What a rule does.
  public enum Effect: Codable, Hashable, Sendable {
    /// The call fails with this number and changes nothing. A failed sync is recorded as `.failed`:
    /// what was pending then becomes durable by no later sync, and the error is told once.
    case error(Int32)
    /// The call fails with one of the numbers that it may return, drawn from the rule's seed.
    case randomError
    /// As `error`, but each open file is told only once.
    case errorOncePerOpenFile(Int32)
    /// The sync is acknowledged and recorded as `.ignored`.
    case ignoreSync
    /// The sync fails and leaves the pages as a file system does. Of the dirty pages those that are
    /// kept, in the order of the file, had reached the medium when it failed; nil is none.
    case failSync(Int32, as: SyncFailure, keep: Tearing.Keep? = nil)
    /// A read or write transfers at most so many bytes.
    case short(bytes: UInt64)
    /// Once matching operations have taken so many bytes, further ones get `ENOSPC`.
    case noSpace(afterBytes: UInt64)
    /// Operations that would make all files together take more than this get `EDQUOT`.
    case quota(limitBytes: UInt64)
    /// The operation begins later.
    case delay(milliseconds: Int)
    /// The operation begins when the rule is removed; a signal to the caller ends it with `EINTR`.
    case hang
    /// The write is visible at once, but recorded only after the next write that matches.
    case reorder(before: Match)
    /// The write is acknowledged, and only the file's size follows it.
    case lose
    /// Only parts of the write reach the file.
    case tear(Tearing)
    /// The write reaches another place of the file, so many bytes further.
    case misdirect(byBytes: Int64)
    /// The read gets what the file held at its last sync, or when the rule was added.
    case stale
    /// So many bits of what is read or written are turned.
    case flip(bits: Int)
    /// So many bits of the file are turned on the medium.
    case rot(bits: Int)
    /// The file loses so many bytes at its end.
    case cutTail(bytes: UInt64)
    /// This operation and all later ones that change something get `EROFS`.
    case readOnly
    /// The calling process is killed with SIGKILL.
    case kill(Moment)
    /// Every process whose name, or a thread of which, fits the glob and that has used the mount is
    /// killed with SIGKILL before the operation, the asking one excepted.
    case killOther(String)
    /// Every file goes back to what it held at its last sync; the file system goes on.
    case clearCache(Moment)
    /// The file system dies: its users get `ENOTCONN` until it is unmounted.
    case killFileSystem(Moment)
  }
}

extension FaultRule.Effect: CustomStringConvertible {
  /// The key of the effect in fault files, and its word in traces.
  public var word: String {
    switch self {
    case .error, .randomError, .errorOncePerOpenFile: "error"
    case .ignoreSync: "ignore"
    case .failSync: "failSync"
    case .short: "short"
    case .noSpace: "noSpaceAfter"
    case .quota: "quota"
    case .delay: "delay"
    case .hang: "hang"
    case .reorder: "holdBehind"
    case .lose: "lose"
    case .tear: "torn"
    case .misdirect: "misdirect"
    case .stale: "stale"
    case .flip: "flip"
    case .rot: "rot"
    case .cutTail: "cutTail"
    case .readOnly: "makeReadOnly"
    case .kill: "killCaller"
    case .killOther: "killOther"
    case .clearCache: "clearCache"
    case .killFileSystem: "killFileSystem"
    }
  }

  /// The effect as a fault file has it.
  public var description: String {
    switch self {
    case .error(let number): "error: \(ErrnoTable.name(of: number))"
    case .randomError: "error: random"
    case .errorOncePerOpenFile(let number):
      "error: \(ErrnoTable.name(of: number)), oncePerOpenFile: true"
    case .failSync(let number, let state, let keep):
      "failSync: \(state.rawValue), error: \(ErrnoTable.name(of: number))"
        + (keep.map { ", keep: \($0)" } ?? "")
    case .short(let bytes), .noSpace(let bytes), .quota(let bytes), .cutTail(let bytes):
      "\(word): \(bytes)"
    case .delay(let milliseconds): "delay: \(milliseconds)"
    case .reorder(let before):
      "holdBehind: {bytes: \(before.bytesText)}"
    case .tear(let tearing): "torn: \(tearing)"
    case .misdirect(let bytes): "misdirect: \(bytes)"
    case .flip(let bits), .rot(let bits): "\(word): \(bits)"
    case .kill(let moment), .killFileSystem(let moment), .clearCache(let moment):
      "\(word): \(moment.rawValue)"
    case .killOther(let glob): "killOther: \"\(glob)\""
    case .ignoreSync, .hang, .lose, .stale, .readOnly: "\(word): true"
    }
  }
}

extension FaultRule.Tearing: CustomStringConvertible {
  /// The tearing as a fault file has it.
  public var description: String {
    let first =
      switch cut {
      case .fileUnits(512): "unit: sector"
      case .fileUnits(let bytes): bytes == 4096 ? "unit: page" : "unit: \(bytes)"
      case .writeUnits(let bytes): "bytes: \(bytes)"
      case .equalParts(let count): "parts: \(count)"
      case .sizes(let sizes): "bytes: [\(sizes.map { "\($0)" }.joined(separator: ", "))]"
      }
    return "{\(first), keep: \(keep)}"
  }

  /// The parts of a write that are kept, as ranges from the write's first byte.
  /// - Complexity: O(parts).
  func kept(offset: UInt64, count: Int, seed: Seed) -> [Range<Int>] {
    keep.chosen(of: parts(offset: offset, count: count), seed: seed)
  }

  private func parts(offset: UInt64, count: Int) -> [Range<Int>] {
    var parts: [Range<Int>] = []
    var start = 0
    while start < count {
      let end: Int
      switch cut {
      case .fileUnits(let bytes):
        let rest = bytes - (offset + UInt64(start)) % bytes
        end = rest < UInt64(count - start) ? start + Int(rest) : count
      case .writeUnits(let bytes):
        end = bytes < UInt64(count - start) ? start + Int(bytes) : count
      case .equalParts(let number):
        let size = max(1, count / number)
        end = parts.count + 1 >= number ? count : min(count, start + size)
      case .sizes(let sizes):
        let bytes = parts.count < sizes.count ? sizes[parts.count] : UInt64(count)
        end = bytes < UInt64(count - start) ? start + Int(bytes) : count
      }
      parts.append(start..<end)
      start = end
    }
    return parts
  }
}

extension FaultRule.Tearing.Keep: CustomStringConvertible {
  /// What is kept as a fault file has it.
  public var description: String {
    switch self {
    case .first(let count): "first \(count)"
    case .last(let count): "last \(count)"
    case .these(let parts): "[\(parts.map { "\($0)" }.joined(separator: ", "))]"
    case .random: "random"
    }
  }

  /// Those of some parts that are kept, in their order.
  /// - Complexity: O(parts).
  func chosen<Part>(of parts: [Part], seed: Seed) -> [Part] {
    switch self {
    case .first(let number): return Array(parts.prefix(number))
    case .last(let number): return Array(parts.suffix(number))
    case .these(let numbers):
      let wanted = Set(numbers)
      return parts.indices.filter { wanted.contains($0 + 1) }.map { parts[$0] }
    case .random:
      var generator = PRNG(seed)
      return parts.filter { _ in generator.chance(Ratio(1, in: 2)) }
    }
  }
}
