// BackendTests.swift [U]: both backends to the faulty tree see the same engine do the same things,
// and the in-process backend, which runs everywhere, finds what the mount finds.

import Engine
import Foundation
import TestSupport
import Testing

@testable import Exploration
@testable import FaultFS
@testable import Findings
@testable import LabCore
@testable import Recording
@testable import Reports
@testable import Scenarios
@testable import Workload

/// Paths of all shipped scenarios, sorted.
private let shippedPaths: [String] = {
  let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("scenarios")
  let all = FileManager.default.enumerator(atPath: root.path)?.compactMap { $0 as? String } ?? []
  return all.filter { $0.hasSuffix(".yaml") }.sorted().map { "\(root.path)/\($0)" }
}()

/// Those that both backends can run to the same bytes: an encrypted file has new salts each time,
/// and steps that run side by side do so in the lab's process whatever the backend.
///
/// Every sixth of them, because of the time; FAULTLINE_LARGE takes all.
private let comparablePaths: [String] = shippedPaths.filter { path in
  guard let scenario = try? ScenarioRunner.load([path])[0] else { return true }
  let isLockstep = scenario.blocks.isEmpty
  return scenario.needsMount == nil && scenario.database.key == .none && isLockstep
    && scenario.history == nil && scenario.sync == nil
}.enumerated().filter { FullSize.isOn || $0.offset % 6 == 0 }.map(\.element)

/// A run of one scenario through one backend.
private func report(
  _ path: String, backend: BackendChoice, budget: Int = 60
) throws -> CaseReport {
  var settings = ExplorationSettings()
  settings.budget = budget
  settings.jobs = 1
  let runner = try ScenarioRunner(settings: settings, console: Console(), backend: backend)
  let item = try runner.run(try ScenarioRunner.load([path])[0])
  try runner.end()
  return item
}

/// What an engine did, without what depends on the backend: numbers of inodes, processes and times,
/// where the kernel cuts a write, and when it tells of a close.
private func normalised(_ trace: Trace) -> [String] {
  var names: [InodeNumber: String] = [.root: "root"]
  var words: [String] = []
  var open: (inode: InodeNumber, start: UInt64, bytes: [UInt8], flags: OperationFlags)?
  func endWrite() {
    guard let write = open else { return }
    var hasher = Hasher()
    unsafe write.bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    words.append(
      "write \(names[write.inode] ?? "?") \(write.start)+\(write.bytes.count) \(hasher.finalize()) "
        + "flags \(write.flags.rawValue)")
    open = nil
  }
  let trace = trace.without(DatabaseFile.isSharedMemory)
  for (index, event) in trace.events.enumerated() {
    // A close is not an event of the engine's, so a step may stand on either side of it.
    for entry in trace.phases where entry.position == index {
      endWrite()
      words.append("phase \(entry.phase ?? "none")")
    }
    // When a page leaves the cache and shows the medium: on a mount when the kernel reads ahead.
    if event.flags.contains(.onMedium) { continue }
    if case .operation(.write(let inode, let offset, let payload)) = event.body {
      if let write = open, write.inode == inode, write.flags == event.flags,
        write.start + UInt64(write.bytes.count) == offset
      {
        open?.bytes += payload.bytes
      } else {
        endWrite()
        open = (inode, offset, payload.bytes, event.flags)
      }
      continue
    }
    endWrite()
    let flags = "flags \(event.flags.rawValue)"
    switch event.body {
    case .mark(let mark): words.append("mark \(mark.text)")
    case .operation(.close): continue
    case .operation(.create(let inode, _, let name, _, _, _, _)):
      names[inode] = "\(name)"
      words.append("create \(name)")
    case .operation(.rename(let inode, _, let name, _, let newName, _)):
      names[inode] = "\(newName)"
      words.append("rename \(name) \(newName)")
    case .operation(.allocate(let inode, let offset, let count, let zeroes, let old, let new)):
      words.append(
        "allocate \(names[inode] ?? "?") \(offset)+\(count) \(zeroes) \(old) \(new)")
    case .operation(.truncate(let inode, let old, let new)):
      words.append("truncate \(names[inode] ?? "?") \(old) \(new)")
    case .operation(.sync(let inode, let dataOnly)):
      words.append("sync \(names[inode] ?? "?") dataOnly=\(dataOnly) \(flags)")
    case .operation(.syncDirectory(let inode)):
      words.append("syncDirectory \(names[inode] ?? "?") \(flags)")
    case .operation(let operation): words.append("\(operation)")
    }
  }
  endWrite()
  return words
}

private func recording(_ path: String, backend: BackendChoice) throws -> (Trace, WorkerRun) {
  let runner = try ScenarioRunner(
    settings: ExplorationSettings(), console: Console(), backend: backend)
  let scenario = try ScenarioRunner.load([path])[0]
  let plan = try WorkloadPlan(scenario, seed: Seed(rawValue: 8412))
  let (tracePath, run) = try runner.record(scenario, plan, as: "trace")
  let trace = try TraceFile.load(tracePath)
  try runner.end()
  return (trace, run)
}

@Suite("Backends", .serialized)
struct BackendTests {
  @Test(
    "one plan gives the same operations through both backends",
    .requires(.fuse),
    arguments: comparablePaths)
  func sameTrace(path: String) throws {
    let (mounted, mountedRun) = try recording(path, backend: .fuse)
    let (simulated, simulatedRun) = try recording(path, backend: .inProcess)
    let expected = normalised(mounted)
    let got = normalised(simulated)
    let difference = zip(expected, got).first { $0 != $1 }
    #expect(difference == nil, "mount first, in-process second")
    #expect(expected.count == got.count)
    #expect(expected.count > 10)
    #expect(mountedRun.marks == simulatedRun.marks)
    #expect(mountedRun.violations == [] && simulatedRun.violations == [])
  }

  /// Scenarios that run in-process.
  ///
  /// Without the time for all, those that `make smoke` leaves out and those with a planted bug: it
  /// takes the others through the mount, whose operations are the same as those in-process
  /// (`sameTrace`).
  private static let inProcessPaths = shippedPaths.filter {
    guard let scenario = try? ScenarioRunner.load([$0])[0] else { return true }
    let isChosen = FullSize.isOn || scenario.tags.contains("slow") || scenario.negative != nil
    return scenario.needsMount == nil && isChosen
  }

  @Test(
    "every scenario that runs in-process holds there, and planted bugs are found",
    arguments: inProcessPaths)
  func verdict(path: String) throws {
    let scenario = try ScenarioRunner.load([path])[0]
    let item = try report(path, backend: .inProcess)
    #expect(item.outcome == .held, "\(item.complaints) \(item.findings.map(\.headline))")
    let skipped =
      (scenario.kill == nil ? [] : ["killSweep needs a FUSE mount"])
      + (scenario.sweep == nil || scenario.sync != nil ? [] : ["sweep needs a FUSE mount"])
    let systems = scenario.crash?.systems.map { "on: \($0) needs a mount" } ?? []
    #expect(item.skipped == skipped + systems)
    // What only a file system of the kernel shows is skipped here.
    let isNegative = scenario.negative != nil && systems.isEmpty
    #expect(item.findings.isEmpty != isNegative)
  }

  @Test("without a choice a run mounts where it can")
  func choice() throws {
    let runner = try ScenarioRunner(settings: ExplorationSettings(), console: Console())
    defer { try? runner.end() }
    guard Requirement.fuse.missing == nil else {
      #expect(runner.backendName.hasPrefix("in-process (no /dev/fuse: "))
      return
    }
    #expect(runner.backendName == "FUSE mount")
  }

  /// Takes /dev/fuse away, in a mount namespace of its own.
  private static let hiding =
    "mount -t tmpfs none /mnt && cp -a /dev/null /dev/urandom /mnt && mount --bind /mnt /dev"
  private static func withoutDevice(_ arguments: String) throws -> ProgramResult {
    let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
      .deletingLastPathComponent().appendingPathComponent("faultline").path
    return try runShell("unshare -m sh -c '\(hiding) && exec \(program) \(arguments)'", in: "/")
  }

  @Test(
    "without /dev/fuse run goes in-process and says why, and explore says what to do",
    .requires(.fuse, .namespaces))
  func missingDevice() throws {
    let path = try #require(shippedPaths.first { $0.hasSuffix("processes/kill.yaml") })
    let run = try Self.withoutDevice("run \(path)")
    #expect(run.status == 0, "\(run.output)")
    #expect(run.output.contains("backend=in-process (no /dev/fuse: /dev/fuse is missing; "))
    #expect(run.output.contains("  skipped: killSweep needs a FUSE mount\n"))
    #expect(run.output.contains(", 1 part skipped, and no crash state was looked at\n"))
    for arguments in ["explore --workload true --check true", "run --backend fuse \(path)"] {
      let result = try Self.withoutDevice(arguments)
      #expect(result.status == 3)
      #expect(result.output.contains("faultline: /dev/fuse is missing; load the fuse"))
    }
  }

  @Test("skipped parts are in every report")
  func skipped() throws {
    let path = try #require(shippedPaths.first { $0.hasSuffix("processes/kill.yaml") })
    let item = try report(path, backend: .inProcess)
    let report = RunReport(seed: 1, cases: [item])
    #expect(try report.json().contains("\"killSweep needs a FUSE mount\""))
    let xml = JUnit.xml(report)
    #expect(xml.contains("<skipped message=\"killSweep needs a FUSE mount\"/>"))
    #expect(xml.contains("tests=\"2\" failures=\"0\" errors=\"0\" skipped=\"1\""))
  }
}

@Suite("Simulated storage")
struct SimulatedStorageTests {
  private static func write(_ database: Database, key: Int64) throws {
    let writer = try database.beginWrite()
    if writer.tables.isEmpty {
      try writer.createTable(
        TableSchema(name: "A", columns: [ColumnSchema(name: "text", type: .string)]))
    }
    let text = String(repeating: "x", count: 100_000)
    try writer.insert(into: "A", key: key, [.string(text)])
    try writer.commit()
  }

  @Test("a snapshot reads its version after the file has grown many times, and after the handle")
  func mappingsLive() throws {
    let fileSystem = try SimulatedFileSystem()
    let database = try fileSystem.openDatabase("data.realm")
    try Self.write(database, key: 0)
    let snapshot = try database.snapshot()
    let before = try snapshot.contentHash()
    for key in 1..<60 { try Self.write(database, key: Int64(key)) }
    #expect(database.statistics().fileSizeBytes > 4 << 20)
    #expect(try snapshot.contentHash() == before)
    #expect(try database.verify().rows == 60)
    snapshot.release()
    try database.close()
    let again = try fileSystem.openDatabase("data.realm")
    #expect(try again.verify().rows == 60)
  }

  @Test("a second handle is refused, and a left-over of a creation is not an obstacle")
  func handles() throws {
    let fileSystem = try SimulatedFileSystem()
    try fileSystem.addRules([
      FaultRule(when: FaultRule.Match([.rename], nth: 1), what: .error(EIO))
    ])
    var codes: [EngineError.Code] = []
    do { _ = try fileSystem.openDatabase("data.realm") } catch { codes.append(error.code) }
    let database = try fileSystem.openDatabase("data.realm")
    do { _ = try fileSystem.openDatabase("data.realm") } catch { codes.append(error.code) }
    #expect(codes == [.io, .locked])
    #expect(throws: LabError.self) { try fileSystem.load(nil) }
    try database.close()
    try fileSystem.load(nil)
  }

  @Test("a failed write leaves tree and mapping as they were, and the quota is a full disk")
  func failures() throws {
    let fileSystem = try SimulatedFileSystem(quotaBytes: 1 << 20)
    let database = try fileSystem.openDatabase("data.realm")
    var code: EngineError.Code?
    var rows: UInt64 = 0
    do {
      while true {
        try Self.write(database, key: Int64(rows))
        rows += 1
      }
    } catch let error as EngineError {
      code = error.code
    }
    #expect(code == .noSpace)
    #expect(try database.verify().rows == rows)
    #expect(rows > 0)
  }

  @Test("rules that kill are refused, because there is no process to kill")
  func noKills() throws {
    let fileSystem = try SimulatedFileSystem()
    #expect(throws: LabError.self) {
      try fileSystem.addRules([FaultRule(when: FaultRule.Match([.write]), what: .kill(.before))])
    }
  }
}
