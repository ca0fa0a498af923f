// FaultRule+Validation.swift: rejects rules that can never take effect, and numbers larger than any
// run needs, because rules may also come from untrusted bytes.

import LabCore
import Recording

extension FaultRule {
  /// Most rules that a mount accepts at a time.
  static let countMax = 1000
  private static let delayMillisecondsMax = 60_000
  private static let bitsMax = 4096
  private static let partsMax = 4096

  /// Rejects a rule that can never take effect.
  /// - Throws: `LabError` with code `.usage`, naming the field.
  public func validate() throws(LabError) {
    try when.validate()
    guard let kinds = what.kinds else { return try validateErrors() }
    for kind in when.kinds.sorted() where !kinds.contains(kind) {
      let list = kinds.sorted().map(\.rawValue).joined(separator: ", ")
      throw .usage("fault rule: \(what.word) cannot hit \(kind.rawValue), only \(list)")
    }
    try validateErrors()
    try validateNumbers()
  }

  private func validateErrors() throws(LabError) {
    switch what {
    case .error(let number), .errorOncePerOpenFile(let number), .failSync(let number, _, _):
      try ErrnoTable.check(number, for: when.kinds, allowsAny: allowsAnyErrno)
    default: break
    }
  }

  private func validateNumbers() throws(LabError) {
    switch what {
    case .reorder(let before):
      guard before.kinds == [.write] else {
        throw .usage("fault rule: reorder holds writes until a write; both kinds must be [write]")
      }
      try before.validate()
    case .short(let bytes):
      if bytes == 0, when.kinds.contains(.write) {
        throw .usage("fault rule: short=0, but no write transfers nothing; give 1 or more")
      }
    case .delay(let milliseconds):
      guard (0...Self.delayMillisecondsMax).contains(milliseconds) else {
        throw .usage(
          "fault rule: delay=\(milliseconds) is not in 0...\(Self.delayMillisecondsMax) ms")
      }
    case .flip(let bits), .rot(let bits):
      guard (1...Self.bitsMax).contains(bits) else {
        throw .usage("fault rule: \(what.word)=\(bits) is not in 1...\(Self.bitsMax) bits")
      }
    case .misdirect(let bytes):
      guard bytes != 0, bytes.magnitude <= FileContent.limitBytes else {
        throw .usage("fault rule: misdirect=\(bytes), give the bytes between both places")
      }
    case .cutTail(let bytes):
      if bytes == 0 { throw .usage("fault rule: cutTail=0 takes nothing away") }
    case .tear(let tearing): try Self.validate(tearing)
    case .failSync(_, .btrfs, .some):
      throw .usage(
        "fault rule: failSync: btrfs takes all pages back to the last sync, so 'keep' has none "
          + "to choose from; write ext4-ordered, xfs or ext4-data")
    case .failSync(_, _, let keep?): try Self.validate(keep, of: "failSync")
    case .killOther(let glob):
      guard (1...64).contains(glob.utf8.count) else {
        throw .usage("fault rule: killOther: give a glob of 1 to 64 bytes over names")
      }
    default: break
    }
  }

  private static func validate(_ tearing: Tearing) throws(LabError) {
    switch tearing.cut {
    // A write is at most 1 MiB, so parts of 256 bytes or more keep their number small.
    case .fileUnits(let bytes):
      guard (256...UInt64(1 << 20)).contains(bytes) else {
        throw .usage("fault rule: torn: unit=\(bytes) is not in 256...1048576")
      }
    case .writeUnits(let bytes):
      guard (1...UInt64(1 << 20)).contains(bytes) else {
        throw .usage("fault rule: torn: bytes=\(bytes) is not in 1...1048576")
      }
    case .equalParts(let count):
      guard (2...partsMax).contains(count) else {
        throw .usage("fault rule: torn: parts=\(count) is not in 2...\(partsMax)")
      }
    case .sizes(let sizes):
      guard !sizes.isEmpty, sizes.count <= partsMax,
        sizes.allSatisfy({ (1...UInt64(1 << 20)).contains($0) })
      else {
        throw .usage("fault rule: torn: bytes: give 1 to \(partsMax) sizes in 1...1048576")
      }
    }
    try Self.validate(tearing.keep, of: "torn")
  }

  private static func validate(_ keep: Tearing.Keep, of what: String) throws(LabError) {
    let numbers: [Int] =
      switch keep {
      case .first(let count), .last(let count): [count]
      case .these(let parts): parts
      case .random: []
      }
    let least = if case .these = keep { 1 } else { 0 }
    for number in numbers where number < least {
      throw .usage("fault rule: \(what): keep=\(number) < \(least)")
    }
    guard numbers.count <= partsMax else {
      throw .usage("fault rule: \(what): keep names \(numbers.count) parts > \(partsMax)")
    }
  }
}

extension FaultRule.Effect {
  /// The kinds of operations that the effect can hit; nil is all.
  package var kinds: Set<OperationKind>? {
    switch self {
    case .error, .randomError: OperationKind.answered
    case .errorOncePerOpenFile: OperationKind.ofOpenFiles
    case .ignoreSync: [.sync, .syncDirectory]
    case .failSync: [.sync]
    case .short, .flip: [.read, .write]
    case .noSpace, .quota: [.write, .allocate]
    case .delay, .hang: OperationKind.answered
    case .reorder, .lose, .tear, .misdirect: [.write]
    case .stale: [.read]
    case .rot, .cutTail: OperationKind.ofRest
    case .readOnly: OperationKind.changing
    case .kill, .killOther: OperationKind.answered
    // During any of these the kernel can drop the pages of any file.
    case .clearCache: [.sync, .syncDirectory, .remove, .rename, .setExtendedAttribute]
    case .killFileSystem: nil
    }
  }
}

extension FaultRule.Match {
  private static let textBytesMax = 4096

  func validate() throws(LabError) {
    if kinds.isEmpty { throw .usage("fault rule: kinds is empty, so nothing can match") }
    if let nth, nth < 1 { throw .usage("fault rule: nth=\(nth), but counting starts at 1") }
    if let everyKth, everyKth < 1 { throw .usage("fault rule: everyKth=\(everyKth) < 1") }
    if offset < 0 || (offset > 0 && everyKth == nil) {
      throw .usage("fault rule: skip=\(offset) without 'every', or below 0")
    }
    if nth != nil, everyKth != nil {
      throw .usage("fault rule: give nth or everyKth, not both")
    }
    if let times, times < 1 { throw .usage("fault rule: maximumHits=\(times) < 1 hits nothing") }
    if let chance {
      guard (1...Int(Int32.max)).contains(chance.denominator),
        (1...chance.denominator).contains(chance.numerator)
      else {
        throw .usage(
          "fault rule: chance=\(chance.numerator) in \(chance.denominator) is not between 0 and 1")
      }
    }
    if let fromByte, let toByte, fromByte >= toByte {
      throw .usage("fault rule: fromByte=\(fromByte) >= toByte=\(toByte)")
    }
    if toByte == 0 { throw .usage("fault rule: toByte=0 leaves no byte") }
    if let phase, PhaseLog.name(Array(phase.utf8)) == nil {
      throw .usage(
        "fault rule: during '\(phase.prefix(80))' is not the name of a phase; a name has 1 to "
          + "\(PhaseLog.nameBytesMax) bytes and no control characters")
    }
    try validatePath()
    if kinds == [.close], process != nil || command != nil || actor != nil {
      throw .usage(
        "fault rule: close with pid, command or actor never matches: the kernel closes files in "
          + "the background, for no process; leave the condition out")
    }
    if let process, process < 1 { throw .usage("fault rule: process=\(process) < 1") }
    for text in [path, command, actor, scope?.from, scope?.until] {
      if let text, text.utf8.count > Self.textBytesMax {
        throw .usage("fault rule: a text of \(text.utf8.count) bytes > \(Self.textBytesMax)")
      }
    }
  }
}
