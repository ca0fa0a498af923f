// StopPointTests.swift: at a stop point the registered processes die; with the power, nothing that
// comes later is kept.

import Glibc
import LabCore
import Recording
import TestSupport
import Testing

@Suite(
  "FaultFS: stop points",
  .requires(.fuse))
struct StopPointTests {
  @Test("what comes after a power cut is acknowledged and not in the trace", arguments: [1, 3, 4])
  func freeze(events: Int) throws {
    let mount = try MountedFaultFS()
    try mount.client.beginRecording()
    try mount.client.stop(StopPoint(after: events, isPowerCut: true))
    // Nobody is registered, so the script lives on.
    let result = try mount.shell("mkdir a; echo one >&3; mkdir b; mkdir c; mkdir d; echo two >&3")
    #expect(result.status == 0, "\(result.output)")
    #expect(try mount.client.statistics().stoppedAtEvents == events)
    #expect(try mount.client.statistics().isRecording == false)
    let trace = try mount.endRecording()
    #expect(trace.events.count == events)
    #expect(trace.markCount == (events > 1 ? 1 : 0))
  }

  @Test("a kill keeps what was written before, and records on")
  func kill() throws {
    let mount = try MountedFaultFS()
    try mount.client.beginRecording()
    let victim = try RunningProgram(
      ["/bin/sh", "-c", "mkdir a; mkdir b; while :; do mkdir c; rmdir c; done"], in: mount.path)
    try mount.client.registerGroup(victim.process)
    try mount.client.stop(StopPoint(after: nil, isPowerCut: false))
    #expect(victim.wait().status == 128 + SIGKILL)
    let before = try mount.client.statistics()
    #expect(before.isRecording)
    #expect(before.stoppedAtEvents != nil)
    #expect(try mount.shell("mkdir later").status == 0)
    #expect(try mount.endRecording().events.count > before.eventCount)
  }

  @Test("no group that is not a child.s can be registered")
  func refusals() throws {
    let mount = try MountedFaultFS()
    #expect(throws: LabError.self) { try mount.client.registerGroup(1) }
    #expect(throws: LabError.self) { try mount.client.registerGroup(-5) }
  }
}
