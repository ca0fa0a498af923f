// FaultRule.swift: faults as data: when a rule applies, and what then happens (FaultEffect.swift).
// docs/reference/faults.md is the reading for people; its JSON form is what the control sockets
// take.

import LabCore

/// A fault: when and what.
public struct FaultRule: Codable, Hashable, Sendable {
  /// Which operations a rule is about, and which of them it hits.
  public struct Match: Codable, Hashable, Sendable {
    /// Kinds of operations.
    public var kinds: Set<OperationKind>
    /// Glob over the path from the root of the mount; nil fits any path.
    ///
    /// Paths have no leading slash. `*` and `?` stop at
    /// `/`, `**` does not; a glob without `/` is about the last component.
    public var path: String?
    /// First byte of the range that the operation must touch; nil is the start of the file.
    public var fromByte: UInt64?
    /// First byte behind that range; nil is the end of the file.
    public var toByte: UInt64?
    /// Process that must have asked; nil is any.
    public var process: Int32?
    /// Glob over the command name of the process that asked (its first 15 bytes, as in
    /// /proc/PID/comm); nil is any.
    public var command: String?
    /// Glob over the name of the thread that asked, which is an actor's name in scenarios (first 15
    /// bytes); nil is any.
    public var actor: String?
    /// Hits only the n-th matching operation, counted from 1.
    public var nth: Int?
    /// Hits every k-th matching operation, beginning with number `offset` + 1.
    public var everyKth: Int?
    /// See `everyKth`; smaller than it.
    public var offset: Int
    /// Hits with this chance only, drawn from the rule's seed and the match's number.
    public var chance: Chance?
    /// Hits this many times at most.
    public var times: Int?
    /// True when operations of the kernel's own (process 0) count and can be hit.
    public var includesWriteBack: Bool
    /// Part of the run, between marks, in which operations count; nil is all of it.
    public var scope: MarkScope?
    /// Phase that the caller's process must be in, as the process itself announced it; nil is any,
    /// and none.
    public var phase: String?

    /// Makes a match; without a count it hits every matching operation.
    public init(
      _ kinds: Set<OperationKind>, path: String? = nil, fromByte: UInt64? = nil,
      toByte: UInt64? = nil, process: Int32? = nil, nth: Int? = nil, everyKth: Int? = nil,
      offset: Int = 0, includesWriteBack: Bool = false, scope: MarkScope? = nil
    ) {
      self.kinds = kinds
      self.path = path
      self.fromByte = fromByte
      self.toByte = toByte
      self.process = process
      self.nth = nth
      self.everyKth = everyKth
      self.offset = offset
      self.includesWriteBack = includesWriteBack
      self.scope = scope
    }
  }

  /// A chance as two whole numbers.
  public struct Chance: Codable, Hashable, Sendable {
    /// Favourable cases.
    public var numerator: Int
    /// All cases.
    public var denominator: Int

    /// Makes the chance `numerator` in `denominator`.
    public init(_ numerator: Int, in denominator: Int) {
      self.numerator = numerator
      self.denominator = denominator
    }
  }

  /// A part of the run, between marks.
  ///
  /// It goes from each mark that begins with one text to the next one that begins with another.
  /// Counting starts anew whenever the part begins.
  public struct MarkScope: Codable, Hashable, Sendable {
    /// How the mark begins that opens the part.
    public var from: String
    /// How the mark begins that closes it; nil is never.
    public var until: String?

    /// Makes a scope.
    public init(from: String, until: String? = nil) {
      self.from = from
      self.until = until
    }
  }

  /// When a process or the file system is killed.
  public enum Moment: String, Codable, Hashable, Sendable, CaseIterable {
    /// The operation does not happen.
    case before
    /// The operation happens and is recorded.
    case after
  }

  /// When it applies.
  public var when: Match
  /// What happens then.
  public var what: Effect
  /// What all of the rule's chances, bits and parts are drawn from.
  public var seed: UInt64
  /// True: `error` may be one that the call never returns by its manual page.
  public var allowsAnyErrno: Bool

  /// Makes a rule.
  public init(when: Match, what: Effect, seed: UInt64 = 1, allowsAnyErrno: Bool = false) {
    self.when = when
    self.what = what
    self.seed = seed
    self.allowsAnyErrno = allowsAnyErrno
  }
}

extension FaultRule.Match {
  /// The first and the last byte in the words of a fault file; of a rule that is not valid, too.
  var bytesText: String {
    let last = toByte.map { $0 == 0 ? "-1" : "\($0 - 1)" } ?? ""
    return "\(fromByte ?? 0)..\(last)"
  }

  /// True when a matching operation with this number (from 1) is hit.
  func hits(_ number: Int, seed: Seed) -> Bool {
    if let nth, number != nth { return false }
    if let everyKth, number <= offset || (number - 1 - offset) % everyKth != 0 { return false }
    guard let chance else { return true }
    var generator = PRNG(seed.derived("chance").derived(UInt64(number)))
    return generator.chance(Ratio(chance.numerator, in: chance.denominator))
  }
}

extension FaultRule: CustomStringConvertible {
  /// The rule in the words of a fault file, on one line.
  public var description: String {
    var parts = ["on: [\(when.kinds.sorted().map(\.rawValue).joined(separator: ", "))]"]
    if let path = when.path { parts.append("file: \"\(path)\"") }
    if when.fromByte != nil || when.toByte != nil {
      parts.append("bytes: \(when.bytesText)")
    }
    if let process = when.process { parts.append("pid: \(process)") }
    if let command = when.command { parts.append("command: \"\(command)\"") }
    if let actor = when.actor { parts.append("actor: \"\(actor)\"") }
    if let nth = when.nth { parts.append("nth: \(nth)") }
    if let everyKth = when.everyKth { parts.append("every: \(everyKth)") }
    if when.offset > 0 { parts.append("skip: \(when.offset)") }
    if let chance = when.chance {
      parts.append("chance: \(chance.numerator) in \(chance.denominator)")
    }
    if let times = when.times { parts.append("maximumHits: \(times)") }
    if let scope = when.scope {
      parts.append("after: \"\(scope.from)\"")
      if let until = scope.until { parts.append("until: \"\(until)\"") }
    }
    if let phase = when.phase { parts.append("during: \(Self.word(phase))") }
    if when.includesWriteBack { parts.append("includeWriteBack: true") }
    parts.append(what.description)
    if seed != 1 { parts.append("seed: \(seed)") }
    if allowsAnyErrno { parts.append("anyErrno: true") }
    return "{" + parts.joined(separator: ", ") + "}"
  }

  /// A word of YAML, in quotes unless it is letters and spaces.
  private static func word(_ text: String) -> String {
    let isPlain = text.utf8.allSatisfy { $0 == 32 || (97...122).contains($0 | 32) }
    if isPlain, text.first != " ", text.last != " " { return text }
    let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    return "\"\(escaped)\""
  }
}
