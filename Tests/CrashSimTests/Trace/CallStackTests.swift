// CallStackTests.swift: what programs leave as call stacks becomes stacks of a trace, is kept in
// trace files, and is not believed from either.

import Foundation
import TestSupport
import Testing

@testable import CrashStates
@testable import Findings
@testable import LabCore
@testable import Recording
@testable import Workload

@Suite("call stacks of traces")
struct CallStackTests {
  /// A trace with two stacks.
  static func sample() -> Trace {
    var trace = TraceFileTests.sample()
    trace.callStacks.modules = ["/bin/program", "/lib/library.so"]
    trace.callStacks.stacks = [
      [CodeAddress(module: 1, address: 0x10), CodeAddress(module: 0, address: 1 << 47)],
      [CodeAddress(module: 0, address: 0)],
    ]
    trace.events[0].stack = 0
    trace.events[3].stack = 1
    trace.events[4].stack = 0
    return trace
  }

  @Test("what is saved is loaded")
  func roundTrip() throws {
    let directory = try TemporaryDirectory()
    let trace = Self.sample()
    try TraceFile.save(trace, to: directory.file("t"))
    let loaded = try TraceFile.load(directory.file("t"))
    #expect(loaded.callStacks == trace.callStacks)
    #expect(loaded.events.map(\.stack) == trace.events.map(\.stack))
  }

  @Test("a trace without call stacks has no table of them")
  func noTables() throws {
    let directory = try TemporaryDirectory()
    try TraceFile.save(TraceFileTests.sample(), to: directory.file("t"))
    let tables = try runShell("sqlite3 t .tables", in: directory.path).output
    #expect(tables.contains("events") && !tables.contains("stacks"))
  }

  @Test(
    "every change of a value to nonsense is an error and no trap",
    arguments: [
      "UPDATE modules SET path = 'relative' WHERE number = 0",
      "UPDATE modules SET path = '/a' || char(10) || 'CODE /b' WHERE number = 0",
      "UPDATE modules SET path = '/a\\\"' WHERE number = 0",
      "UPDATE modules SET number = 7 WHERE number = 1",
      "UPDATE stacks SET module = 2", "UPDATE stacks SET module = -1",
      "UPDATE stacks SET address = -1", "UPDATE stacks SET address = 1 << 48",
      "UPDATE stacks SET address = 'x'", "UPDATE stacks SET depth = depth + 2",
      "UPDATE stacks SET depth = 48 WHERE depth = 1", "UPDATE stacks SET stack = stack + 5",
      "DELETE FROM stacks WHERE stack = 0 AND depth = 0", "DELETE FROM stacks WHERE stack = 1",
      "UPDATE event_stacks SET stack = 2", "UPDATE event_stacks SET stack = -1",
      "UPDATE event_stacks SET seq = 1000 WHERE seq = 4", "INSERT INTO event_stacks VALUES(27, 0)",
      "DROP TABLE modules", "DROP TABLE event_stacks", "ALTER TABLE stacks ADD COLUMN more",
    ])
  func hostile(_ change: String) throws {
    let directory = try TemporaryDirectory()
    try TraceFile.save(Self.sample(), to: directory.file("t"))
    #expect(try runShell("sqlite3 t \"\(change)\"", in: directory.path).status == 0)
    let error = #expect(throws: LabError.self) { try TraceFile.load(directory.file("t")) }
    #expect(error?.code == .usage)
  }

  @Test("two executions of one program at other places in memory have the same stacks")
  func settled() {
    let seen = [
      LeftCallStack(image: 1, frames: [1 << 48 | 0x20, 0x30]),
      LeftCallStack(image: 2, frames: [0x20, 1 << 48 | 0x30]),
      LeftCallStack(image: 2, frames: [0x20]),
    ]
    let lists: [UInt32: String] = [1: "/program\n/library\n", 2: "/library\n/program\n"]
    var settler = CallStackSettler(seen) { Data((lists[$0] ?? "").utf8) }
    #expect([1, 0, 2].map { settler.number(of: $0) } == [0, 0, 1])
    #expect(settler.stacks.modules == ["/library", "/program"])
    #expect(
      settler.stacks.stacks == [
        [CodeAddress(module: 0, address: 0x20), CodeAddress(module: 1, address: 0x30)],
        [CodeAddress(module: 0, address: 0x20)],
      ])
  }

  @Test("what a program leaves that makes no sense ends a stack, or there is none")
  func nonsense() {
    let seen = [
      LeftCallStack(image: 9, frames: [0x20]),
      LeftCallStack(image: 1, frames: [0x20, 3 << 48, 0x30]),
      LeftCallStack(image: 1, frames: [1 << 48]), LeftCallStack(image: 1, frames: []),
    ]
    var settler = CallStackSettler(seen) { Data(($0 == 1 ? "/program\nrelative\n" : "").utf8) }
    #expect(seen.indices.map { settler.number(of: $0) } == [nil, 0, nil, nil])
    #expect(settler.stacks.stacks == [[CodeAddress(module: 0, address: 0x20)]])
  }

  @Test("a budget takes one state of each set of call stacks before more of any")
  func representatives() throws {
    // Ten writes from one place, then one from another.
    var trace = Trace(initial: TreeImage())
    let file = InodeNumber(rawValue: 2)
    trace.events.append(
      TraceEvent(
        .operation(
          .create(
            inode: file, parent: .root, name: FileName("f"), type: .regular,
            ownership: Ownership(mode: 0o600)))))
    for index in 0..<11 {
      let write = TraceOperation.write(
        inode: file, offsetBytes: UInt64(index) * 4096, payload: Payload([UInt8(index + 1)]))
      trace.events.append(TraceEvent(.operation(write), stack: index == 5 ? 1 : 0))
      if index == 5 {
        trace.events.append(TraceEvent(.operation(.sync(inode: file, dataOnly: false))))
      }
    }
    let bare = trace
    trace.callStacks.modules = ["/program"]
    trace.callStacks.stacks = [1, 2].map { [CodeAddress(module: 0, address: $0)] }
    func sets(_ trace: Trace, budget: Int?, seed: UInt64 = 1) throws -> Set<Set<Int>> {
      let enumerator = try CrashStateEnumerator(
        trace: trace, model: .posix, seed: Seed(rawValue: seed))
      var found: Set<Set<Int>> = []
      try enumerator.visit(try enumerator.plan(budget: budget)) { (explored, _) in
        let units = explored.state.lost + (explored.state.torn.map { [$0.unit] } ?? [])
        found.insert(
          Set(units.compactMap { trace.events[enumerator.table.units[$0].event].stack }))
        return .goOn
      }
      return found
    }
    let enumerator = try CrashStateEnumerator(trace: trace, model: .posix, seed: Seed(rawValue: 1))
    let points = try enumerator.plan().proposals
    let sizes = (0..<points.crashPointCount).map {
      points.first(at: $0 + 1).ordinal - points.first(at: $0).ordinal
    }.filter { $0 > 0 }
    let ends = try #require(sizes.first) + #require(sizes.last)
    let all = try sets(trace, budget: nil)
    #expect(all == [[], [0], [1], [0, 1]])
    let budget = ends + all.count
    for seed: UInt64 in 1...8 { #expect(try sets(trace, budget: budget, seed: seed) == all) }
    // The same budget without call stacks leaves a set out: the order does make a difference.
    let isLucky = try (1...8).map { try sets(bare, budget: budget, seed: $0) == all }
    #expect(isLucky.contains(false))
  }
}

@Suite("source frames")
struct SourceFrameTests {
  @Test(
    "demangled names are shortened to what people say",
    arguments: [
      (
        "Engine.FileBackend.write(_: Swift.Array<Swift.UInt8>, at: Swift.UInt64) throws -> ()",
        "FileBackend.write"
      ),
      (
        "Engine.CommitWriter.(writeNodes in _8C1B87D94A2F)() throws(Engine.CommitFailure) -> ()",
        "CommitWriter.writeNodes"
      ),
      (
        "closure #1 () throws(Engine.EngineError) -> () in Engine.CommitWriter."
          + "(syncNodes in _8C1B)(before: Engine.RootSlot) throws(Engine.CommitFailure) -> ()",
        "closure in CommitWriter.syncNodes"
      ),
      ("static Engine.SystemCalls.sync(Swift.Int32) -> Swift.Int", "SystemCalls.sync"),
      ("(extension in Engine):Swift.Array.f(Swift.Int) -> ()", "Array.f"),
      ("generic specialization <Swift.Int> of Engine.Slab.write<A>(to: A) -> ()", "Slab.write"),
      ("Engine.Slab.room.getter : Engine.Room", "Slab.room.getter"), ("main", "main"),
    ])
  func names(_ long: String, _ short: String) {
    #expect(SwiftName.shortened(long) == short)
  }

  @Test("symbols of Swift are demangled, those of C are themselves")
  func symbols() {
    let symbol =
      "$s6Engine12CommitWriterV10writeNodes33_8C1B87D94A2F83782548EC3D2DE9C278LLyyAA0B7FailureVYKF"
    #expect(SwiftName.short(symbol) == "CommitWriter.writeNodes")
    #expect(SwiftName.short("save_first") == "save_first")
    #expect(SwiftName.short("$snonsense") == "$snonsense")
  }

  @Test("the telling frames are those with lines outside of the storage layer, if there are any")
  func telling() {
    func frame(_ file: String?, _ module: String = "/bin/program") -> SourceFrame {
      SourceFrame(file: file, line: file == nil ? nil : 1, module: module, address: 16)
    }
    let storage = frame("/x/Sources/Engine/Storage/FileBackend.swift")
    let code = frame("/x/Sources/Engine/Transactions/CommitWriter.swift")
    let bare = frame(nil)
    let library = frame(nil, "/lib/libc.so.6")
    #expect(SourceFrame.telling([library, storage, bare, code, code], count: 1) == [code])
    #expect(SourceFrame.telling([library, storage, bare], count: 3) == [storage])
    #expect(SourceFrame.telling([library, bare], count: 3) == [bare])
    #expect(SourceFrame.telling([library], count: 3) == [library])
    #expect(bare.place == "program+0x10")
  }

  @Test("without symbols there are modules and addresses")
  func noSymbols() {
    var stacks = CallStacks()
    stacks.modules = ["/nowhere/program"]
    stacks.stacks = [[CodeAddress(module: 0, address: 0x1234)]]
    let frames = Symbolizer().frames(of: stacks)
    #expect(frames.map { $0.map(\.place) } == [["program+0x1234"]])
  }
}
