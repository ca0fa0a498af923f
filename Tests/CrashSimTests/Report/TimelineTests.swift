// TimelineTests.swift: who did what, in the order of the trace, without the machine's numbers.

import Testing

@testable import Findings
@testable import Recording
@testable import Workload

@Suite("Timeline")
struct TimelineTests {
  private func trace(_ process: Int32) -> Trace {
    var recording = Recording(files: ["a": "1"])
    recording.write("a", "2")
    recording.mark("begin 0\n")
    recording.sync("a")
    var trace = recording.trace
    trace.events[0] = TraceEvent(trace.events[0].body, process: process, thread: process)
    trace.events[2] = TraceEvent(
      trace.events[2].body, flags: .ignored, process: process, thread: process + 1)
    return trace
  }

  @Test("processes and threads are numbered in the order of appearance")
  func actors() {
    let timeline = Timeline(trace(4711))
    #expect(timeline.actors == ["process 1", "output", "process 1 thread 2"])
    #expect(timeline.events.map(\.kind) == [.write, .mark, .sync])
    #expect(timeline.events[2].fault == "acknowledged and ignored")
    #expect(timeline == Timeline(trace(99)))
  }

  @Test("a thread that worked in an actor's transaction is that actor's")
  func plan() {
    let plan = WorkloadPlan(
      title: "t", seed: 1, processes: [ProcessDeclaration(name: "app", actors: ["writer"])],
      tables: [], commands: [WorkerCommand(index: 0, actor: "writer", action: .createTables([]))])
    let trace = trace(7)
    let timeline = Timeline(trace, marks: plan.actorMarks(in: trace))
    #expect(timeline.actors == ["process 1", "writer"])
    #expect(timeline.events.map(\.actor) == [0, 1, 1])
  }

  @Test("of a long trace, what findings are about is shown")
  func long() {
    var recording = Recording(files: ["a": "1"])
    for number in 0..<20_000 { recording.write("a", "x", at: UInt64(number)) }
    let evidence = FindingEvidence(
      crashPoint: 19_000, lost: [18_000], lostCount: 1, partlyLost: [], keptAfter: [18_999],
      keptAfterCount: 1, files: [], omittedFileCount: 0)
    let timeline = Timeline(
      recording.trace, findings: [HTMLFixture.finding(evidence: evidence)])
    #expect(timeline.events.count == Timeline.eventsMax)
    let numbers = timeline.events.map(\.number)
    #expect(numbers == numbers.sorted() && numbers.first == 0)
    #expect(numbers.contains(18_000) && numbers.contains(18_999) && !numbers.contains(15_000))
  }

  @Test("many actors share a place")
  func manyActors() {
    var recording = Recording(files: ["a": "1"])
    for _ in 0..<40 { recording.write("a", "x") }
    var trace = recording.trace
    for place in trace.events.indices {
      trace.events[place] = TraceEvent(
        trace.events[place].body, process: Int32(place + 1), thread: Int32(place + 1))
    }
    let timeline = Timeline(trace)
    #expect(timeline.actors.count == Timeline.actorsMax + 1 && timeline.actors.last == "others")
    #expect(timeline.events.last?.actor == Timeline.actorsMax)
  }
}
