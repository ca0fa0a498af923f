// FaultPlan.swift: the rules in force, and how often each has matched and hit.
// Invariants: every rule counts its own matches; an operation gets at most one outcome, one wait
// and one kill, each from the first rule that hits it with one; an operation of process 0 counts
// only for rules that include write-back; a rule's number is never given to another rule.

import Glibc
import LabCore
import Recording

/// An operation as rules see it.
struct FaultSubject {
  var kind: OperationKind
  var inode: Inode?
  /// Names that the operation creates, removes or changes.
  var places: [InodeName] = []
  var bytes: Range<UInt64>?
  /// The open file that the operation uses.
  var file: OpenFile?
  /// True for an open for writing.
  var wantsWrite = false
  /// True for a read of pages into the kernel's cache, which needs them whole.
  var isPageIn = false
  var caller: Caller

  /// Every path that may refer to the operation's object.
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
  /// Those of them to which the effect was applied.
  public var hitCount: Int
  /// Hits while the caller was in a phase, by the phase's name.
  public var hitsInPhases: [String: Int] = [:]

  /// Makes counts.
  public init(matchCount: Int, hitCount: Int) {
    self.matchCount = matchCount
    self.hitCount = hitCount
  }
}

/// A rule in force.
public struct RuleStatus: Codable, Hashable, Sendable {
  /// The rule's number on this mount, from 1.
  public var id: Int
  /// The rule.
  public var rule: FaultRule
  /// How often it has matched and hit.
  public var hits: RuleHits

  /// The rule and its counts on one line.
  package var line: String {
    "\(id)  hits=\(hits.hitCount) matches=\(hits.matchCount)  \(rule)"
  }

  /// The message at the end for a rule that had no effect; nil for one that had.
  package var complaint: String? {
    if hits.hitCount > 0 { return nil }
    if hits.matchCount == 0 {
      return "rule \(id) never matched: see its kinds, glob and bytes"
    }
    let times = hits.matchCount == 1 ? "once" : "\(hits.matchCount) times"
    return "rule \(id) matched \(times) and never hit: see its nth, every and amounts"
  }
}

/// An effect on an operation, with its origin.
struct Firing {
  let ruleID: Int
  /// The effect in the rule.
  let cause: FaultRule.Effect
  /// The effect on this operation: a full disk, for example, is an error or a short write.
  let effect: FaultRule.Effect
  /// The seed for this hit's bits and parts.
  let seed: Seed
}

/// What the rules decided for one operation.
struct Injection {
  var outcome: Firing?
  var wait: Firing?
  var kill: Firing?
  /// The operation that the decision is for.
  let subject: FaultSubject

  var isEmpty: Bool { outcome == nil && wait == nil && kill == nil }
}

/// The rules in force.
final class FaultPlan {
  private struct Counted {
    let id: Int
    let rule: FaultRule
    let glob: Glob?
    let command: Glob?
    let actor: Glob?
    /// Glob of the match that a reorder rule waits for.
    let beforeGlob: Glob?
    let seed: Seed
    var hits = RuleHits(matchCount: 0, hitCount: 0)
    /// Matches since the rule's scope last opened.
    var matchesInScope = 0
    var isInScope: Bool
    /// Bytes written so far under a `noSpace` rule.
    var takenBytes: UInt64 = 0
  }

  private var rules: [Counted] = []
  /// The process that writes dirty pages back for the file system; no rule applies to it.
  var ownThread: Int32?
  private var lastID = 0
  /// The rule that has made the file system read-only.
  private var readOnlyRule: Int?
  /// Bytes of all pages that files occupy.
  private let occupiedBytes: () -> UInt64

  /// The current phase of a process.
  private let phase: (_ process: Int32) -> String?

  init(
    occupiedBytes: @escaping () -> UInt64, phase: @escaping (Int32) -> String? = { _ in nil }
  ) {
    self.occupiedBytes = occupiedBytes
    self.phase = phase
  }

  var isEmpty: Bool { rules.isEmpty }
  var hits: [RuleHits] { rules.map(\.hits) }
  var list: [RuleStatus] {
    rules.map { RuleStatus(id: $0.id, rule: $0.rule, hits: $0.hits) }
  }
  func isInForce(_ id: Int) -> Bool { rules.contains { $0.id == id } }

  /// True when some rule, or the mount's maker, needs what files held at their last sync.
  private(set) var needsShadows = false
  /// True when the mount's maker does.
  var keepsShadows = false { didSet { refreshNeeds() } }
  /// True when some rule is about questions that the kernel would answer from memory.
  private(set) var watchesAttributes = false
  private(set) var watchesReads = false

  /// Adds rules after those in force; their counts start at 0.
  /// - Returns: Their numbers.
  @discardableResult
  func add(_ added: [FaultRule]) throws(LabError) -> [Int] {
    guard rules.count + added.count <= FaultRule.countMax else {
      throw .usage(
        "\(rules.count) + \(added.count) fault rules > \(FaultRule.countMax); clear some first")
    }
    for rule in added { try rule.validate() }
    var numbers: [Int] = []
    for rule in added {
      var before: Glob?
      if case .reorder(let match) = rule.what { before = match.path.map(Glob.init) }
      lastID += 1
      numbers.append(lastID)
      rules.append(
        Counted(
          id: lastID, rule: rule, glob: rule.when.path.map(Glob.init),
          command: rule.when.command.map(Glob.init), actor: rule.when.actor.map(Glob.init),
          beforeGlob: before, seed: Seed(rawValue: rule.seed).derived("fault rule"),
          isInScope: rule.when.scope == nil))
    }
    refreshNeeds()
    return numbers
  }

  /// Removes rules.
  /// - Returns: Those that were in force.
  func remove(_ ids: Set<Int>) -> [RuleStatus] {
    let removed = list.filter { ids.contains($0.id) }
    rules.removeAll { ids.contains($0.id) }
    if let rule = readOnlyRule, ids.contains(rule) { readOnlyRule = nil }
    refreshNeeds()
    return removed
  }

  private func refreshNeeds() {
    let isNeeded = rules.contains { counted in
      switch counted.rule.what {
      case .stale, .failSync, .clearCache, .readOnly: true
      case .error, .randomError, .errorOncePerOpenFile: counted.rule.when.kinds.contains(.sync)
      default: false
      }
    }
    needsShadows = keepsShadows || isNeeded
    let asked: Set<OperationKind> = [.lookUp, .getAttributes]
    watchesAttributes = rules.contains { !$0.rule.when.kinds.isDisjoint(with: asked) }
    watchesReads = rules.contains { $0.rule.when.kinds.contains(.read) }
  }

  /// True when a rule on reads fits a file, so that the kernel should send each read.
  func watchesReads(of inode: Inode) -> Bool {
    guard watchesReads else { return false }
    let paths = FaultSubject(kind: .read, inode: inode, caller: Caller()).paths()
    return rules.contains { counted in
      guard counted.rule.when.kinds.contains(.read) else { return false }
      return counted.glob.map { glob in paths.contains { glob.matches($0) } } ?? true
    }
  }

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

  /// Counts an operation, and returns its effects.
  func decide(_ subject: FaultSubject) -> Injection? {
    if let ownThread, subject.caller.thread == ownThread { return nil }
    var injection = Injection(subject: subject)
    for index in rules.indices {
      let rule = rules[index].rule
      guard rules[index].isInScope, Self.fits(subject, rule.when, rules[index].glob),
        rule.what.fits(subject), fitsCaller(subject.caller, rules[index]),
        isInPhase(subject.caller, rule.when)
      else { continue }
      rules[index].hits.matchCount += 1
      rules[index].matchesInScope += 1
      guard rule.when.hits(rules[index].matchesInScope, seed: rules[index].seed),
        rule.when.times.map({ rules[index].hits.hitCount < $0 }) ?? true
      else { continue }
      let slot = rule.what.slot
      guard injection[keyPath: slot] == nil, let effect = effect(of: index, on: subject) else {
        continue
      }
      rules[index].hits.hitCount += 1
      if let phase = phase(subject.caller.process) {
        rules[index].hits.hitsInPhases[phase, default: 0] += 1
      }
      let seed = rules[index].seed.derived("hit").derived(UInt64(rules[index].hits.hitCount))
      injection[keyPath: slot] = Firing(
        ruleID: rules[index].id, cause: rule.what, effect: effect, seed: seed)
    }
    if injection.outcome == nil, let rule = readOnlyRule,
      OperationKind.changing.contains(subject.kind) || subject.wantsWrite
    {
      injection.outcome = Firing(
        ruleID: rule, cause: .readOnly, effect: .error(EROFS), seed: Seed(rawValue: 0))
    }
    return injection.isEmpty ? nil : injection
  }

  /// The effect of a rule on an operation that its conditions fit; nil for none.
  private func effect(of index: Int, on subject: FaultSubject) -> FaultRule.Effect? {
    let rule = rules[index]
    switch rule.rule.what {
    case .errorOncePerOpenFile(let number):
      guard let file = subject.file, file.toldBy.insert(rule.id).inserted else { return nil }
      return .error(number)
    case .randomError:
      let numbers = ErrnoTable.errors(of: subject.kind).sorted()
      var generator = PRNG(
        rule.seed.derived("errno").derived(UInt64(rule.hits.hitCount)))
      return numbers.isEmpty ? nil : .error(numbers[generator.below(numbers.count)])
    case .noSpace(let limit):
      let wanted = UInt64(subject.bytes?.count ?? 0)
      let left = limit - min(limit, rule.takenBytes)
      rules[index].takenBytes = rule.takenBytes + min(wanted, left)
      if wanted <= left { return nil }
      return left > 0 && subject.kind == .write ? .short(bytes: left) : .error(ENOSPC)
    case .quota(let limit):
      guard let bytes = subject.bytes, let content = subject.inode?.content else { return nil }
      let pageBytes = UInt64(FileContent.pageBytes)
      let missing = content.missingPages(in: bytes).multipliedReportingOverflow(by: pageBytes)
      let (sum, overflow) = missing.partialValue.addingReportingOverflow(occupiedBytes())
      guard missing.partialValue > 0 || missing.overflow else { return nil }
      return missing.overflow || overflow || sum > limit ? .error(EDQUOT) : nil
    case .readOnly:
      readOnlyRule = rule.id
      return .error(EROFS)
    default: return rule.rule.what
    }
  }

  /// The space that rules on all files leave, total and free, for statfs; nil means no limit.
  func spaceLimits() -> (total: UInt64?, free: UInt64?) {
    var total: UInt64?
    var free: UInt64?
    for counted in rules where counted.isInScope && counted.rule.when.isAboutEverything {
      switch counted.rule.what {
      case .quota(let limit):
        total = min(total ?? limit, limit)
        let left = limit - min(limit, occupiedBytes())
        free = min(free ?? left, left)
      case .noSpace(let limit):
        let left = limit - min(limit, counted.takenBytes)
        free = min(free ?? left, left)
      default: break
      }
    }
    return (total, free)
  }

  /// The part of a range that a rule applies to.
  func bytes(of id: Int, in range: Range<UInt64>) -> Range<UInt64> {
    guard let match = rules.first(where: { $0.id == id })?.rule.when else { return range }
    let from = match.fromByte ?? 0
    return range.clamped(to: from..<max(from, match.toByte ?? UInt64.max))
  }

  /// The reorder rules that this write releases.
  func reordersReleased(by subject: FaultSubject) -> [Int] {
    rules.filter { counted in
      guard case .reorder(let before) = counted.rule.what else { return false }
      return Self.fits(subject, before, counted.beforeGlob)
    }.map(\.id)
  }

  private static func fits(
    _ subject: FaultSubject, _ match: FaultRule.Match, _ glob: Glob?
  ) -> Bool {
    guard match.kinds.contains(subject.kind) else { return false }
    // The kernel closes files in the background, without a caller.
    if subject.caller.process == 0 || subject.caller.isWriteBack, subject.kind != .close {
      guard match.includesWriteBack else { return false }
    }
    if let process = match.process, process != subject.caller.process { return false }
    // For damage at rest the byte range gives the place, and operations of such kinds have none.
    if match.fromByte != nil || match.toByte != nil, !OperationKind.ofRest.contains(subject.kind) {
      guard let bytes = subject.bytes else { return false }
      let from = match.fromByte ?? 0
      let to = match.toByte ?? UInt64.max
      guard bytes.lowerBound < to, bytes.upperBound > from else { return false }
    }
    guard let glob else { return true }
    return subject.paths().contains { glob.matches($0) }
  }

  private func isInPhase(_ caller: Caller, _ match: FaultRule.Match) -> Bool {
    match.phase.map { $0 == phase(caller.process) } ?? true
  }

  /// Reads /proc each time: the process may have executed another program since.
  private func fitsCaller(_ caller: Caller, _ counted: Counted) -> Bool {
    if let command = counted.command {
      guard let name = ProcessCalls.name(of: caller.process), command.matches(name) else {
        return false
      }
    }
    if let actor = counted.actor {
      guard let name = ProcessCalls.name(of: caller.thread), actor.matches(name) else {
        return false
      }
    }
    return true
  }
}

extension FaultRule.Match {
  /// True when neither files, places, callers nor counts limit the match.
  fileprivate var isAboutEverything: Bool {
    path == nil && fromByte == nil && toByte == nil && process == nil && command == nil
      && actor == nil && nth == nil && everyKth == nil && chance == nil && phase == nil
  }
}

extension FaultRule.Effect {
  /// False for an effect that is impossible for an operation: the kernel fills a page with zeros
  /// when a read of it is short, so a page cannot be short.
  fileprivate func fits(_ subject: FaultSubject) -> Bool {
    if subject.isPageIn, case .short = self { return false }
    return true
  }

  /// Where an injection keeps the effect.
  fileprivate var slot: WritableKeyPath<Injection, Firing?> {
    switch self {
    case .delay, .hang: \.wait
    case .kill, .killOther, .killFileSystem: \.kill
    default: \.outcome
    }
  }
}
