// FaultPlan.swift: the rules in force, and how often each has matched and hit.
// Invariants: every rule counts its own matches; of the rules that an operation hits, the first one
// takes effect; an operation of process 0 counts only for rules that include write-back.

/// An operation as rules see it.
struct FaultSubject {
  var kind: OperationKind
  var inode: Inode?
  /// Names that the operation makes, takes away or changes.
  var places: [InodeName] = []
  var bytes: Range<UInt64>?
  var caller: Caller

  /// Every path by which the operation's object can be meant.
  func paths() -> [[UInt8]] {
    var paths: [[UInt8]] = []
    for place in places + (inode?.names ?? []) {
      guard var path = place.parent.path() else { continue }
      if !path.isEmpty { path.append(UInt8(ascii: "/")) }
      paths.append(path + place.name.bytes)
    }
    if inode?.number == .root { paths.append([]) }
    return paths
  }
}

/// How often a rule has matched and hit.
public struct RuleHits: Codable, Hashable, Sendable {
  /// Operations that the rule's conditions fit.
  public var matchCount: Int
  /// Those of them that got the effect.
  public var hitCount: Int

  /// Makes counts.
  public init(matchCount: Int, hitCount: Int) {
    self.matchCount = matchCount
    self.hitCount = hitCount
  }
}

/// The rules in force.
final class FaultPlan {
  struct Firing {
    let ruleIndex: Int
    let effect: FaultRule.Effect
  }

  private struct Counted {
    let rule: FaultRule
    let glob: Glob?
    /// The glob of the match that a reorder waits for.
    let beforeGlob: Glob?
    var hits = RuleHits(matchCount: 0, hitCount: 0)
    /// Matches since the rule's scope was last opened.
    var matchesInScope = 0
    var isInScope: Bool
  }

  private var rules: [Counted] = []

  var isEmpty: Bool { rules.isEmpty }
  var hits: [RuleHits] { rules.map(\.hits) }

  /// Adds rules behind those in force; their counts start at 0.
  func add(_ added: [FaultRule]) throws(LabError) {
    for rule in added { try rule.validate() }
    for rule in added {
      var before: Glob?
      if case .reorder(let match) = rule.what { before = match.path.map(Glob.init) }
      rules.append(
        Counted(
          rule: rule, glob: rule.when.path.map(Glob.init), beforeGlob: before,
          isInScope: rule.when.scope == nil))
    }
  }

  func clear() { rules = [] }

  /// Opens and closes the scopes of rules.
  func note(_ mark: Mark) {
    for index in rules.indices {
      guard let scope = rules[index].rule.when.scope else { continue }
      if mark.bytes.starts(with: scope.from.utf8) {
        rules[index].isInScope = true
        rules[index].matchesInScope = 0
      } else if let until = scope.until, mark.bytes.starts(with: until.utf8) {
        rules[index].isInScope = false
      }
    }
  }

  /// Counts an operation, and says which rule it hits.
  func decide(_ subject: FaultSubject) -> Firing? {
    var firing: Firing?
    for index in rules.indices {
      let rule = rules[index].rule
      guard rules[index].isInScope, Self.fits(subject, rule.when, rules[index].glob) else {
        continue
      }
      rules[index].hits.matchCount += 1
      rules[index].matchesInScope += 1
      guard firing == nil, rule.when.hits(rules[index].matchesInScope) else { continue }
      rules[index].hits.hitCount += 1
      firing = Firing(ruleIndex: index, effect: rule.what)
    }
    return firing
  }

  /// The reorder rules that wait for a write like this one.
  func reordersReleased(by subject: FaultSubject) -> [Int] {
    rules.indices.filter { index in
      guard case .reorder(let before) = rules[index].rule.what else { return false }
      return Self.fits(subject, before, rules[index].beforeGlob)
    }
  }

  private static func fits(
    _ subject: FaultSubject, _ match: FaultRule.Match, _ glob: Glob?
  ) -> Bool {
    guard match.kinds.contains(subject.kind) else { return false }
    if subject.caller.process == 0 || subject.caller.isWriteBack {
      guard match.includesWriteBack else { return false }
    }
    if let process = match.process, process != subject.caller.process { return false }
    if match.fromByte != nil || match.toByte != nil {
      guard let bytes = subject.bytes else { return false }
      let from = match.fromByte ?? 0
      let to = match.toByte ?? UInt64.max
      guard bytes.lowerBound < to, bytes.upperBound > from else { return false }
    }
    guard let glob else { return true }
    return subject.paths().contains { glob.matches($0) }
  }
}
