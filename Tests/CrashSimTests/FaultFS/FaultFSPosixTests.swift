// FaultFSPosixTests.swift: the POSIX cases of Tests/PosixCases on a mount, each under its own name.
// The same cases run on the machine's own file system: a case that fails there is a wrong case.

import FaultFS
import Foundation
import TestSupport
import Testing

private let program = posixCasesProgram

private let caseNames: [String] =
  ((try? runShell("'\(program)' --list", in: "/").output) ?? "").split(separator: "\n")
  .map(String.init)

@Suite(
  "FaultFS POSIX cases",
  .requires(.fuse), .serialized)
struct FaultFSPosixTests {
  @Test("on a FaultFS mount", arguments: caseNames)
  func holds(_ name: String) throws {
    let mount = try MountedFaultFS()
    let result = try RunningProgram([program, mount.path, name], in: "/").wait()
    #expect(result.status == 0, "\(result.output)")
    try mount.client.shutdown()
  }

  @Test("all in one page-granular mount")
  func holdsPageGranular() throws {
    let mount = try MountedFaultFS(FaultFSOptions(isPageGranular: true))
    let result = try RunningProgram([program, mount.path], in: "/").wait()
    #expect(result.status == 0, "\(result.output)")
    try mount.client.shutdown()
  }

  @Test("all in one mount whose rules fit none of their files, so that libfuse handles them")
  func holdsByLibfuse() throws {
    let mount = try FaultMount()
    try mount.add("{on: write, file: never, error: EIO}")
    let result = try RunningProgram([program, mount.mount.path], in: "/").wait()
    #expect(result.status == 0, "\(result.output)")
    #expect(try mount.client.rules()[0].hits.hitCount == 0)
    try mount.client.shutdown()
  }

  @Test("the cases hold on tmpfs, so they ask for nothing that Linux does not do")
  func casesAreRight() throws {
    #expect(caseNames.count > 50)
    let directory = "/dev/shm/faultline-\(UUID().uuidString)"
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let result = try RunningProgram([program, directory], in: "/").wait()
    #expect(result.status == 0, "\(result.output)")
  }
}
