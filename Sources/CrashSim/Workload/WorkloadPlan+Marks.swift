// WorkloadPlan+Marks.swift: finds the actor of each acknowledgement in a recording.

import Findings
import Recording

extension WorkloadPlan {
  /// The actors of the marks from a run of the plan.
  /// - Parameter trace: The recording of that run.
  /// - Returns: The actor of each mark that is an acknowledgement.
  package func actorMarks(in trace: Trace) -> ActorMarks {
    var actors: [Int: String] = [:]
    for command in commands {
      if let transaction = command.transaction { actors[transaction.number] = command.actor }
    }
    var marks = ActorMarks()
    for (number, event) in trace.events.enumerated() {
      guard case .mark(let mark) = event.body else { continue }
      let entry = mark.text.split(whereSeparator: \.isNewline).first.flatMap { AckLog.Entry($0) }
      switch entry {
      case .begin(let transaction): marks[number] = (actors[transaction], .begin)
      case .number(let transaction, _): marks[number] = (actors[transaction], .other)
      case .commit(let transaction, _), .failed(let transaction, _), .cancel(let transaction):
        marks[number] = (actors[transaction], .end)
      case .recovered, .copied, nil: break
      }
    }
    return marks
  }
}
