// FaultMount.swift: a mount on which tests inject faults by their YAML, and a client process that
// says what each of its system calls gave.

import FaultFS
import Foundation
import LabCore
import Recording
import Scenarios
import TestSupport
import Testing

/// A mount with a client that tells.
struct FaultMount {
  let mount: MountedFaultFS
  var client: FaultFSClient { mount.client }

  /// Prepares a tree by steps, before any rule.
  init(_ setup: [String] = [], options: FaultFSOptions = FaultFSOptions()) throws {
    mount = try MountedFaultFS(options)
    let lines = try run(setup)
    #expect(lines.allSatisfy { $0.contains(" ok") }, "\(lines)")
  }

  /// Adds rules as a fault file has them.
  @discardableResult
  func add(_ yaml: String) throws -> [RuleStatus] {
    let before = try client.rules().count
    try client.addRules(try FaultFile.parse(yaml, file: "test"))
    return Array(try client.rules().dropFirst(before))
  }

  func start(_ steps: [String]) throws -> RunningProgram {
    try RunningProgram(
      [posixCasesProgram, "--steps", mount.path] + (steps.isEmpty ? ["sleep 0"] : steps), in: "/",
      marksDescriptor: client.marksWriteDescriptor)
  }

  /// What each step gave.
  @discardableResult
  func run(_ steps: [String]) throws -> [String] {
    try start(steps).wait().output.split(separator: "\n").map(String.init)
  }

  /// What each step gave, and the trace of it.
  func record(_ steps: [String]) throws -> (lines: [String], trace: Trace) {
    try client.beginRecording()
    let lines = try run(steps)
    return (lines, try mount.endRecording())
  }

  /// Waits until a rule has hit so many operations.
  func waitForHits(_ count: Int, of index: Int = 0) throws {
    let end = ContinuousClock.now + .seconds(10)
    while try client.rules()[index].hits.hitCount < count {
      guard ContinuousClock.now < end else { throw LabError.lab("rule \(index) does not hit") }
      usleep(2000)
    }
  }
}

extension Trace {
  /// Kind and effect of each fault, with its error and a star when its operation is in the trace.
  var faultWords: [String] {
    faults.map { fault in
      let error = fault.errno == 0 ? "" : " \(ErrnoTable.name(of: fault.errno))"
      return "\(fault.kind) \(fault.effect)\(error)\(fault.isOfEvent ? "*" : "")"
    }
  }

  /// The words of the operations, with a bang when a fault changed them.
  var operationWords: [String] {
    withoutCloses.events.map { event in
      event.word + (event.flags.contains(.injected) ? "!" : "")
        + (event.flags.contains(.failed) ? "-failed" : "")
        + (event.flags.contains(.ignored) ? "-ignored" : "")
    }
  }

  /// The tree that its operations lead to.
  var finalTree: TreeImage {
    var tree = initial
    for case .operation(let operation) in events.map(\.body) { tree.apply(operation) }
    tree.removeUnreachable()
    return tree.normalized()
  }
}
