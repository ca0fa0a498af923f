// FaultFSTraceTests.swift: what a mount records, in which order, and that it is all.

import CrashSim
import Foundation
import TestSupport
import Testing

@Suite(
  "FaultFS trace",
  .enabled(if: MountedFaultFS.isAvailable, "\(MountedFaultFS.skipReason)"))
struct FaultFSTraceTests {
  @Test("a file written by a shell is in the trace, and its output is a mark")
  func simpleTrace() throws {
    let mount = try MountedFaultFS()
    let (result, trace) = try mount.record("echo hello > a; echo done >&3; cat a; sync a")
    #expect(result.output == "hello\n")
    let words = trace.events.map { event in
      switch event.body {
      case .mark(let mark): "mark " + mark.text
      case .operation(let operation): operation.word
      }
    }
    // The kernel does not wait for the answer to a close, so it may come after the mark.
    #expect(words.filter { $0 != "close" } == ["create", "write", "mark done\n", "sync"])
    #expect(words.count == 5)
    try mount.client.shutdown()
  }
}
