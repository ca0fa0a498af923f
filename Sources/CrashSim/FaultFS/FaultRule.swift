// FaultRule.swift: faults as data: when a rule applies, and its effect (FaultEffect.swift).
// docs/reference/faults.md describes rules for users; control sockets accept their JSON form.

import LabCore

/// A fault: when and what.
public struct FaultRule: Codable, Hashable, Sendable {
  /// Which operations a rule applies to, and which of them it hits.
  public struct Match: Codable, Hashable, Sendable {
    /// Kinds of operations.
    public var kinds: Set<OperationKind>
    /// Glob over the path from the root of the mount; nil fits any path.
    ///
    /// Paths have no leading slash. `*` and `?` stop at `/`, `**` does not; a glob without `/` is
    /// matched against the last component.
    public var path: String?
    /// First byte of the range that the operation must touch; nil is the start of the file.
    public var fromByte: UInt64?
    /// First byte after that range; nil is the end of the file.
    public var toByte: UInt64?
    /// The calling process; nil is any.
    public var process: Int32?
    /// Glob over the command name of the calling process (its first 15 bytes, as in
    /// /proc/PID/comm); nil is any.
    public var command: String?
    /// Glob over the name of the calling thread, which in scenarios is an actor's name (first 15
    /// bytes); nil is any.
    public var actor: String?
    /// Hits only the n-th matching operation, counted from 1.
    public var nth: Int?
    /// Hits every k-th matching operation, starting with number `offset` + 1.
    public var everyKth: Int?
    /// See `everyKth`; smaller than it.
    public var offset: Int
    /// Hits only with this probability, drawn from the rule's seed and the match's number.
    public var chance: Chance?
    /// Hits at most this many times.
    public var times: Int?
    /// True when the kernel's own operations (process 0) count and can be hit.
    public var includesWriteBack: Bool
    /// Part of the run, between marks, in which operations count; nil is all of it.
    public var scope: MarkScope?
    /// Phase, as announced by the process itself, that the caller must be in; nil is any or none.
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

  /// A probability as two whole numbers.
  public struct Chance: Codable, Hashable, Sendable {
    /// Favourable cases.
    public var numerator: Int
    /// All cases.
    public var denominator: Int

    /// Makes the probability `numerator` in `denominator`.
    public init(_ numerator: Int, in denominator: Int) {
      self.numerator = numerator
      self.denominator = denominator
    }
  }

  /// A part of the run, between marks.
  ///
  /// It extends from each mark that begins with one text to the next one that begins with another.
  /// Counting restarts whenever the part begins.
  public struct MarkScope: Codable, Hashable, Sendable {
    /// Prefix of the mark that opens the part.
    public var from: String
    /// Prefix of the mark that closes it; nil is never.
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

  /// When the rule applies.
  public var when: Match
  /// Its effect.
  public var what: Effect
  /// Seed of all the rule's random choices.
  public var seed: UInt64
  /// True: `error` may be a number that the call does not return according to its manual page.
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
  /// The byte range as written in a fault file; also for an invalid rule.
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
  /// The rule as written in a fault file, on one line.
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

  /// A YAML word, quoted unless it consists of letters and spaces.
  private static func word(_ text: String) -> String {
    let isPlain = text.utf8.allSatisfy { $0 == 32 || (97...122).contains($0 | 32) }
    if isPlain, text.first != " ", text.last != " " { return text }
    let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    return "\"\(escaped)\""
  }
}
