// FaultEffect.swift: what a fault rule does to the operations that it hits.
// An effect is an outcome (it decides the operation's result), a wait, or a kill; an operation can
// get one of each, from different rules.

import LabCore

extension FaultRule {
  /// The state in which a file system leaves dirty pages after a failed sync, as measured by
  /// Rebello et al., "Can Applications Recover from fsync Failures?" (USENIX ATC 2020).
  public enum SyncFailure: String, Codable, Hashable, Sendable, CaseIterable {
    /// Pages become clean and keep the new content; each open file gets the error once.
    case ext4Ordered = "ext4-ordered"
    /// As ext4-ordered.
    case xfs
    /// As ext4-ordered, but this sync succeeds; the next one of each open file reports the error.
    case ext4Data = "ext4-data"
    /// Content and size revert to those of the last sync, and the cache is dropped.
    case btrfs
  }

  /// Which parts of a write survive.
  public struct Tearing: Codable, Hashable, Sendable {
    /// How the write is cut into parts.
    public enum Cut: Codable, Hashable, Sendable {
      /// At multiples of this many bytes of the file: 512 for sectors, 4096 for pages.
      case fileUnits(bytes: UInt64)
      /// After every multiple of this many bytes of the write.
      case writeUnits(bytes: UInt64)
      /// Into this many parts of equal size; the last one also gets the remainder.
      case equalParts(Int)
      /// Into parts of these sizes, and one more for the rest.
      case sizes([UInt64])
    }

    /// Which of the parts are kept.
    public enum Keep: Codable, Hashable, Sendable {
      case first(Int)
      case last(Int)
      /// These parts, counted from 1.
      case these([Int])
      /// Each part with probability 1/2, drawn from the rule's seed and the hit's number.
      case random
    }

    /// How the write is cut.
    public var cut: Cut
    /// Which parts are kept.
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
    /// no later sync makes the then pending changes durable, and the error is reported once.
    case error(Int32)
    /// The call fails with one of its documented error numbers, drawn from the rule's seed.
    case randomError
    /// As `error`, but each open file gets the error only once.
    case errorOncePerOpenFile(Int32)
    /// The sync is acknowledged and recorded as `.ignored`.
    case ignoreSync
    /// The sync fails and leaves the pages as the given file system does. The dirty pages that
    /// `keep` selects, in file order, had reached the medium by then; nil selects none.
    case failSync(Int32, as: SyncFailure, keep: Tearing.Keep? = nil)
    /// A read or write transfers at most this many bytes.
    case short(bytes: UInt64)
    /// Once matching operations have written this many bytes, further ones get `ENOSPC`.
    case noSpace(afterBytes: UInt64)
    /// Operations that would make the files exceed this total size get `EDQUOT`.
    case quota(limitBytes: UInt64)
    /// The operation starts later.
    case delay(milliseconds: Int)
    /// The operation starts when the rule is removed; a signal to the caller ends it with `EINTR`.
    case hang
    /// The write is visible at once, but recorded only after the next write that fits the match.
    case reorder(before: Match)
    /// The write is acknowledged, but only the file's size changes.
    case lose
    /// Only parts of the write reach the file.
    case tear(Tearing)
    /// The write goes to another place in the file, this many bytes further on.
    case misdirect(byBytes: Int64)
    /// The read returns what the file held at its last sync, or when the rule was added.
    case stale
    /// Flips this many bits of the bytes read or written.
    case flip(bits: Int)
    /// Flips this many bits of the file on the medium.
    case rot(bits: Int)
    /// The file loses this many bytes at its end.
    case cutTail(bytes: UInt64)
    /// This operation and all later ones that change something get `EROFS`.
    case readOnly
    /// The calling process is killed with SIGKILL.
    case kill(Moment)
    /// Before the operation, SIGKILL ends every process that has used the mount and whose name, or
    /// the name of one of whose threads, fits the glob, except the caller.
    case killOther(String)
    /// Every file reverts to its content at its last sync; the file system continues.
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

  /// The effect as written in a fault file.
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
  /// The tearing as written in a fault file.
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
  /// The kept parts as written in a fault file.
  public var description: String {
    switch self {
    case .first(let count): "first \(count)"
    case .last(let count): "last \(count)"
    case .these(let parts): "[\(parts.map { "\($0)" }.joined(separator: ", "))]"
    case .random: "random"
    }
  }

  /// The kept ones of the given parts, in order.
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
