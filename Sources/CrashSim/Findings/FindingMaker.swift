// FindingMaker.swift: shrinks a failing crash state and describes it.
// Invariant: a finding depends only on the trace, the state and the checker's answer.

import CrashStates
import Foundation
import LabCore

/// Makes findings of the states of one exploration.
package struct FindingMaker {
  /// Judges a state with a checker.
  package typealias Check = (CrashState) throws(LabError) -> Bool

  /// Most checker calls for shrinking one state.
  private static let shrinkCallsMax = 200
  /// Most lines of a checker's output, and most lost operations, in a finding.
  private static let linesMax = 12
  private static let lastLines = 4
  /// Most files and directories that are tried as the cause of a finding.
  private static let causesMax = 8
  /// The rule of judging without a checker that speaks of a file's content.
  private static let contentRule = "half-written"

  /// The enumerator of the states.
  package let enumerator: CrashStateEnumerator
  /// The model under which they were found.
  package let model: PersistenceModel
  private let explainer: Explainer
  private let callSites: CallSites
  private let ladder: ModelLadder
  /// The real file system whose device was recorded, if any.
  private let fileSystem: String?

  /// A maker for one exploration.
  package init(
    enumerator: CrashStateEnumerator, model: PersistenceModel, on fileSystem: String? = nil
  ) throws(LabError) {
    self.enumerator = enumerator
    self.model = model
    self.fileSystem = fileSystem
    explainer = Explainer(table: enumerator.table)
    callSites = CallSites(enumerator.table.trace)
    ladder = try ModelLadder(trace: enumerator.table.trace)
  }

  /// Restores as many lost units as possible while the state still fails.
  package func shrink(
    _ state: CrashState, _ stillFails: Check
  ) throws(LabError) -> CrashState {
    try Minimizer(table: enumerator.table, maximumCalls: Self.shrinkCallsMax)
      .minimized(state, stillFails: stillFails)
  }

  /// A finding for a state.
  /// - Parameters:
  ///   - number: Its number in the run.
  ///   - state: The state, shrunk.
  ///   - result: The checker's result for it.
  ///   - stateCount: Number of states with the same failure.
  ///   - token: Its replay token.
  ///   - context: The context of the crash, if not the workload itself.
  ///   - accepts: Whether the checker accepts a state; without it, the first loss is the cause.
  /// - Returns: The finding.
  /// - Throws: `LabError` when the trace cannot be split under another model.
  package func finding(
    number: Int, state: CrashState, result: CheckResult, stateCount: Int, token: String,
    context: String? = nil, accepts: Check? = nil
  ) throws(LabError) -> Finding {
    let (explanation, others) = try explain(state, result.rule, accepts)
    let marks = Array(enumerator.table.trace.marks.prefix(state.acknowledgedMarks))
    let losses = explanation.losses.map { "#\($0.event) \($0.text)" }
    let sentences =
      [
        explanation.disorder,
        fileSystem == nil ? explanation.missingSync : losses.isEmpty ? nil : Self.missingFlush,
        fileSystem == nil ? try checked(explanation.missing, state) : nil,
        fileSystem == nil ? explanation.unpreventable : nil,
      ]
      .compactMap { $0 } + explanation.brokenSyncs
    let crash =
      state.crashPoint == 0
      ? "before the first operation"
      : "after #\(state.crashPoint - 1) \(explainer.describe(state.crashPoint - 1))"
    let models =
      fileSystem == nil ? try ladder.allowing(state, of: enumerator.table).map(\.name) : []
    var finding = Finding(
      number: number,
      promised: result.promised ?? "the checker accepts every state that a crash may leave",
      headline: result.headline,
      got: Self.cut(result.output.split(separator: "\n").map(String.init)),
      ending: result.rule.map { "judged without a checker, by the rule '\($0)'" }
        ?? "the checker ended with \(result.ending)",
      crash: (context.map { "\($0), " } ?? "")
        + crash.replacing("\n'", with: "'").replacing("\n", with: " "),
      acknowledgedCount: marks.count,
      lastAcknowledged: marks.last.map { $0.text.trimmingCharacters(in: .whitespacesAndNewlines) },
      lost: losses.isEmpty ? [nothingLost] : Self.cutInside(losses),
      missingSync: sentences, models: models,
      stateCount: stateCount,
      token: token)
    finding.classKey = FailureClass.key(of: result)
    finding.evidence = try EvidenceMaker(table: enumerator.table).evidence(
      of: state, missing: fileSystem == nil ? explanation.missing : nil)
    // A crash during recovery has other causes.
    if context == nil, fileSystem == nil {
      try nameCauses(&finding, explanation, others, state, accepts)
      if result.rule != nil, explanation.laterEvent == nil {
        // No sync would help: the program does not replace this file in one step.
        finding.rootCause =
          "in steps: " + result.headline.split(separator: "'").prefix(1).joined()
      }
    }
    let events = explanation.losses.prefix(Self.linesMax).map(\.event) + [explanation.laterEvent]
    let sites = events.compactMap { $0.flatMap { callSites.site(of: $0) } }
    finding.callSites = sites.isEmpty ? nil : sites
    finding.fileSystem = fileSystem
    let injected = injected(before: state.crashPoint)
    finding.injected = injected.isEmpty ? nil : Self.cutInside(injected)
    return finding
  }

  /// Names the cause of a finding, and the other places at which the same sync would have helped,
  /// or the sync of a name that would have helped as well.
  private func nameCauses(
    _ finding: inout Finding, _ explanation: Explanation, _ others: [Explanation],
    _ state: CrashState, _ accepts: Check?
  ) throws(LabError) {
    func causes(_ places: [Int]) -> [String]? {
      let found = places.compactMap { rootCause(explanation, before: $0) }
      return found.isEmpty ? nil : found
    }
    finding.rootCause = rootCause(explanation, before: explanation.laterEvent)
    finding.earlierCauses = causes(explainer.earlierPlaces(explanation))
    finding.laterCauses = causes(try laterPlaces(explanation, state, accepts))
    let shared =
      ([explanation] + others).flatMap { explanation in
        explainer.sharedPlaces(explanation, before: state.crashPoint).compactMap { event in
          explainer.rootCause(explanation, ofName: event).map {
            $0 + lines(of: [event, explanation.laterEvent])
          }
        }
      } + others.compactMap { rootCause($0, before: $0.laterEvent) }
    finding.sharedCauses = shared.isEmpty ? nil : shared
  }

  /// The faults injected before a crash point, each at the operation where it became visible.
  private func injected(before crashPoint: Int) -> [String] {
    enumerator.table.trace.faults.filter { $0.position < crashPoint }.map { fault in
      let error = fault.errno == 0 ? "" : ": \(ErrorNumber(fault.errno))"
      let what = "\(fault.effect) of a \(fault.kind)\(error)"
      return fault.isOfEvent
        ? "\(what), in #\(fault.position) \(explainer.describe(fault.position))"
        : "\(what), before #\(fault.position)" + (fault.path.isEmpty ? "" : ", of '\(fault.path)'")
    }
  }

  /// A state's explanation, and those by other losses whose return repairs it, too.
  private func explain(
    _ state: CrashState, _ rule: String?, _ accepts: Check?
  ) throws(LabError) -> (Explanation, others: [Explanation]) {
    let causes = try causes(of: state, rule, accepts)
    var explanation = explainer.explain(state, cause: causes.first)
    var others = causes.dropFirst().map { explainer.explain(state, cause: $0) }
    if explanation.laterEvent == nil,
      let preventable = others.firstIndex(where: { $0.laterEvent != nil })
    {
      // No sync of the content would help, but one of a name does.
      explanation = others.remove(at: preventable)
    }
    guard let later = explanation.laterEvent,
      let mark = try earlyMark(from: later, state, accepts)
    else { return (explanation, others) }
    return (explainer.explain(state, cause: explanation.cause?.event, mark: mark), others)
  }

  /// The premature acknowledgement, if the error is not that a later operation survived.
  ///
  /// The checker accepts the same losses just before it, so their own order does not matter.
  private func earlyMark(
    from later: Int, _ state: CrashState, _ accepts: Check?
  ) throws(LabError) -> Int? {
    let events = enumerator.table.trace.events
    guard let accepts, fileSystem == nil,
      let mark = (later..<state.crashPoint).first(where: { events[$0].isMark }),
      mark != later
    else { return nil }
    return try isAccepted(before: mark, state, accepts) ? mark : nil
  }

  /// The places behind what overtook the lost contents at which their sync would not come too late:
  /// a crash right before them, with the same losses, is accepted.
  private func laterPlaces(
    _ explanation: Explanation, _ state: CrashState, _ accepts: Check?
  ) throws(LabError) -> [Int] {
    var places: [Int] = []
    guard let accepts else { return places }
    for event in explainer.laterPlaces(explanation, before: state.crashPoint)
    where try isAccepted(before: event, state, accepts) {
      places.append(event)
    }
    return places
  }

  /// Whether the checker accepts the same losses right before an event; false when they form no
  /// state of that moment because of ordering rules.
  private func isAccepted(
    before event: Int, _ state: CrashState, _ accepts: Check
  ) throws(LabError) -> Bool {
    let table = enumerator.table
    let lost = Set(state.lost)
    let torn = state.torn.flatMap { $0.unit < table.issuedCount(at: event) ? $0 : nil }
    let kept = table.pendingUnits(at: event).filter { !lost.contains($0) && $0 != torn?.unit }
    guard let before = try? table.state(at: event, keeping: kept, torn: torn) else { return false }
    return try isAccepted(before, accepts)
  }

  /// Whether the checker accepts a state; false when Faultline is asked to stop, so that the
  /// finding is still reported.
  private func isAccepted(_ state: CrashState, _ accepts: Check) throws(LabError) -> Bool {
    do throws(LabError) {
      try Interruption.check()
      return try accepts(state)
    } catch {
      guard error.code == .interrupted else { throw error }
      return false
    }
  }

  /// The first loss of the file or directory whose sync repairs the state; of a half-written file
  /// the names follow that repair it, too, such as that of a journal or a backup.
  ///
  /// The checker accepts the state when everything lost of that file is present. Another sync may
  /// also make this state impossible, but leave the next one that breaks the promise.
  private func causes(
    of state: CrashState, _ rule: String?, _ accepts: Check?
  ) throws(LabError) -> [Int] {
    guard let accepts, fileSystem == nil else { return [] }
    let minimizer = Minimizer(table: enumerator.table)
    let isName = { (units: [Int]) in enumerator.table.units[units[0]].kind == .entry }
    var groups = minimizer.lostByInode(state)
    if rule == Self.contentRule { groups = groups.filter { !isName($0) } + groups.filter(isName) }
    var found: [Int] = []
    for units in groups.prefix(Self.causesMax) where found.isEmpty || isName(units) {
      guard let candidate = try minimizer.restoring(units, in: state) else { continue }
      guard try isAccepted(candidate, accepts) else { continue }
      found.append(enumerator.table.units[units[0]].event)
      if rule != Self.contentRule { break }
    }
    return found
  }

  /// The source lines of the loss and of the later event that survived: two places in a program
  /// with the same operations are two causes.
  private func rootCause(_ explanation: Explanation, before later: Int?) -> String? {
    explainer.rootCause(explanation, before: later).map {
      $0 + lines(of: [explanation.cause?.event, later])
    }
  }

  private func lines(of events: [Int?]) -> String {
    let places = events.compactMap { event in
      event.flatMap { callSites.places(of: $0) }
    }
    return places.isEmpty ? "" : " (" + places.joined(separator: ", then ") + ")"
  }

  /// The result of adding the missing sync at its place.
  private func checked(
    _ missing: MissingSync?, _ state: CrashState
  ) throws(LabError) -> String? {
    guard let missing else { return nil }
    let isPrevented = try missing.prevents(state, of: enumerator.table)
    return "Checked under \(model.name): with it this state is "
      + (isPrevented ? "impossible." : "still possible.")
  }

  private static let missingFlush =
    "Missing: a sync by the program that made the kernel write this and flush the device."

  private var nothingLost: String {
    fileSystem == nil
      ? "nothing: all that was issued survived"
      : "no block: all that the kernel had written survived; the rest was still in its cache"
  }

  private static func cut(_ lines: [String]) -> [String] {
    guard lines.count > linesMax else { return lines }
    return lines.prefix(linesMax) + ["… and \(lines.count - linesMax) more"]
  }

  /// The first and last lines: losses just before the crash are as informative as the first.
  private static func cutInside(_ lines: [String]) -> [String] {
    guard lines.count > linesMax else { return lines }
    return lines.prefix(linesMax - lastLines)
      + ["… \(lines.count - linesMax) more, and"] + lines.suffix(lastLines)
  }
}
