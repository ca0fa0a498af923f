// SecuredUnitsTests.swift: the states that ignoring syncs makes possible, against all states.
// With a sync ignored a trace has the states that it had with it, and those that a certificate
// looks at. Nothing may be missing: a state left out would be a proof that nobody finds.

import Foundation
import Testing

@testable import CrashStates
@testable import LabCore
@testable import Recording

@Suite("What syncs secure")
struct SecuredUnitsTests {
  private struct Outcome: Hashable {
    let content: ContentHash
    let marks: Int
  }

  private func outcomes(
    _ trace: Trace, _ model: PersistenceModel, ignoring syncs: [Int] = []
  ) throws -> Set<Outcome> {
    // Everything, so that no choice of a strategy hides a state.
    let options = ExplorationOptions(exhaustiveUpTo: 24, tornUnits: 0)
    let enumerator = try CrashStateEnumerator(
      trace: trace, model: model, seed: Seed(rawValue: 1), options: options, ignoring: syncs)
    var found: Set<Outcome> = []
    try enumerator.visit(enumerator.plan()) { (explored, _) throws(LabError) in
      found.insert(
        Outcome(content: explored.contentHash, marks: explored.state.acknowledgedMarks))
      return .goOn
    }
    return found
  }

  @Test("a plan without any state, of a sync that secures nothing, can be written down")
  func emptyPlan() throws {
    var recording = Recording(files: ["a": "1"])
    recording.syncDirectory()
    let enumerator = try CrashStateEnumerator(
      trace: recording.trace, model: .posix, seed: Seed(rawValue: 1),
      options: ExplorationOptions(), ignoring: [0])
    let plan = try enumerator.plan()
    let read = try JSONDecoder().decode(ExplorationPlan.self, from: JSONEncoder().encode(plan))
    #expect(read.distinct == 0 && read.bound == plan.bound && read.bound.description == "0")
  }

  /// A trace without failed syncs, with a mark behind every few operations.
  private func marked(_ number: Int) -> Trace {
    var trace = makeRandomTrace(
      seed: Seed(rawValue: UInt64(number)), operations: 9, syncChance: Ratio(1, in: 3))
    trace.events.removeAll { $0.flags.contains(.failed) }
    for place in stride(from: trace.events.count, to: 0, by: -4) {
      trace.events.insert(TraceEvent(.mark(Mark("m"))), at: place)
    }
    return trace
  }

  @Test(
    "with a sync ignored there are the states with it and those that it prevents, and no others",
    arguments: PersistenceModel.stock)
  func complete(model: PersistenceModel) throws {
    var compared = 0
    var prevented = 0
    for number in 0..<24 {
      let trace = marked(number)
      let syncs = trace.workingSyncs
      let table = try UnitTable(trace: try trace.ignoring(syncs), model: model)
      let isSmall = (0..<table.crashPointCount).allSatisfy { table.pendingUnits(at: $0).count <= 9 }
      guard isSmall else { continue }
      let with = try outcomes(trace, model)
      for ignored in syncs.map({ [$0] }) + (syncs.isEmpty ? [] : [syncs]) {
        let new = try outcomes(trace, model, ignoring: ignored)
        let all = try outcomes(try trace.ignoring(ignored), model)
        #expect(all.isSubset(of: with.union(new)), "seed \(number), ignored \(ignored)")
        #expect(new.isSubset(of: all), "seed \(number), ignored \(ignored)")
        compared += 1
        prevented += new.subtracting(with).count
      }
    }
    #expect(compared > 30)
    #expect(prevented > 30, "the syncs of these traces prevent nothing, so nothing was compared")
  }

  @Test("a sync that another one repeats prevents nothing")
  func repeated() throws {
    var recording = Recording(files: ["a": "old"])
    recording.write("a", "new")
    recording.sync("a")
    recording.sync("a")
    recording.mark("done")
    let trace = recording.trace
    #expect(trace.workingSyncs == [1, 2])
    for model in PersistenceModel.stock {
      #expect(try outcomes(trace, model, ignoring: [1]).isEmpty, "\(model)")
      #expect(try outcomes(trace, model, ignoring: [2]).isEmpty, "\(model)")
      #expect(try outcomes(trace, model, ignoring: [1, 2]).count == 1, "\(model)")
    }
  }

  @Test("events that are no working syncs are refused")
  func refused() throws {
    var recording = Recording(files: ["a": "old"])
    recording.write("a", "new")
    recording.sync("a", flags: .failed)
    recording.sync("a")
    for event in [-1, 0, 1, 3, Int.max, Int.min] {
      #expect(throws: LabError.self) { try recording.trace.ignoring([event]) }
    }
    #expect(try recording.trace.ignoring([2]).events[2].flags == .ignored)
    #expect(try recording.trace.ignoring([2]).shape != recording.trace.shape)
  }
}
