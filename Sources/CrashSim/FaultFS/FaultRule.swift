// FaultRule.swift: faults as data: when a rule applies, and what then happens.
// docs/fault-rules.md is the reading for people; its JSON form is what the control socket takes.

/// Kind of a file operation, as a rule names it.
public enum OperationKind: String, Codable, CaseIterable, Sendable, Hashable {
  case open, read, write, truncate, allocate, create, link, remove, rename, setOwnership
  case setExtendedAttribute, sync, syncDirectory, close
}

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
    /// Hits only the n-th matching operation, counted from 1.
    public var nth: Int?
    /// Hits every k-th matching operation, beginning with number `offset` + 1.
    public var everyKth: Int?
    /// See `everyKth`; smaller than it.
    public var offset: Int
    /// True when operations of the kernel's own (process 0) count and can be hit.
    public var includesWriteBack: Bool
    /// Part of the run, between marks, in which operations count; nil is all of it.
    public var scope: MarkScope?

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

  /// When the calling process is killed.
  public enum Moment: String, Codable, Hashable, Sendable {
    /// The operation does not happen.
    case before
    /// The operation happens and is recorded.
    case after
  }

  /// What a rule does.
  public enum Effect: Codable, Hashable, Sendable {
    /// The call fails with this number and changes nothing. A failed sync is recorded as `.failed`:
    /// what was pending then becomes durable by no later sync, and the error is told once.
    case error(Int32)
    /// The sync is acknowledged and recorded as `.ignored`.
    case ignoreSync
    /// The write is visible at once, but recorded only after the next write that matches.
    case reorder(before: Match)
    /// The calling process is killed with SIGKILL.
    case kill(Moment)
  }

  /// When it applies.
  public var when: Match
  /// What happens then.
  public var what: Effect

  /// Makes a rule.
  public init(when: Match, what: Effect) {
    self.when = when
    self.what = what
  }

  /// Refuses a rule that could never do what it says.
  /// - Throws: `LabError` with code `.usage`, naming the field.
  public func validate() throws(LabError) {
    try when.validate()
    switch what {
    case .error(let number):
      guard (1...133).contains(number) else {
        throw .usage("fault rule: errno \(number) is not in 1...133")
      }
    case .ignoreSync:
      guard when.kinds.isSubset(of: [.sync, .syncDirectory]) else {
        throw .usage("fault rule: ignoreSync can only hit sync and syncDirectory")
      }
    case .reorder(let before):
      guard when.kinds == [.write], before.kinds == [.write] else {
        throw .usage("fault rule: reorder holds writes until a write; both kinds must be [write]")
      }
      try before.validate()
    case .kill: break
    }
  }
}

extension FaultRule.Match {
  func validate() throws(LabError) {
    if kinds.isEmpty { throw .usage("fault rule: kinds is empty, so nothing can match") }
    if let nth, nth < 1 { throw .usage("fault rule: nth=\(nth), but counting starts at 1") }
    if let everyKth, everyKth < 1 { throw .usage("fault rule: everyKth=\(everyKth) < 1") }
    if offset < 0 || (offset > 0 && offset >= (everyKth ?? 1)) {
      throw .usage("fault rule: offset=\(offset) is not in 0..<everyKth=\(everyKth ?? 1)")
    }
    if nth != nil, everyKth != nil {
      throw .usage("fault rule: give nth or everyKth, not both")
    }
    if let fromByte, let toByte, fromByte >= toByte {
      throw .usage("fault rule: fromByte=\(fromByte) >= toByte=\(toByte)")
    }
  }

  /// True when a matching operation with this number (from 1) is hit.
  func hits(_ number: Int) -> Bool {
    if let nth { return number == nth }
    if let everyKth { return (number - 1) % everyKth == offset }
    return true
  }
}
