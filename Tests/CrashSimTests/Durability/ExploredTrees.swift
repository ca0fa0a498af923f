// ExploredTrees.swift: all that the explorer allows behind each operation of a trace, as the
// reference of durability says it.

import CrashStates
import LabCore
import Recording

/// The trees that a crash behind each event may leave, by the number of events.
///
/// Two marks stand behind each operation: with an odd number of marks acknowledged, the crash is
/// just behind it.
func exploredTrees(
  of trace: Trace, _ model: PersistenceModel, pendingMax: Int
) throws -> [Int: Set<VisibleTree>] {
  var marked = Trace(initial: trace.initial)
  for event in trace.events {
    var event = event
    // The marks count among the events that came while the sync waited.
    if case .operation(.syncAll(let late)) = event.body {
      event = TraceEvent(.operation(.syncAll(late: 3 * late)), flags: event.flags)
    }
    marked.events += [event, TraceEvent(.mark(Mark("1"))), TraceEvent(.mark(Mark("2")))]
  }
  var found: [Int: Set<VisibleTree>] = [:]
  var options = ExplorationOptions(exhaustiveUpTo: pendingMax, tornUnits: 0)
  options.comparesTimes = true
  let enumerator = try CrashStateEnumerator(
    trace: marked, model: model, seed: Seed(rawValue: 1), options: options)
  try enumerator.visit(enumerator.plan()) { (state, image) throws(LabError) in
    let marks = state.state.acknowledgedMarks
    guard !marks.isMultiple(of: 2) else { return .goOn }
    guard let visible = try? image.visible() else { throw .lab("image cannot be read") }
    found[marks / 2 + 1, default: []].insert(visible)
    return .goOn
  }
  return found
}
