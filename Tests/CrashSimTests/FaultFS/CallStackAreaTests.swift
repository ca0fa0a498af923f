// CallStackAreaTests.swift: programs on a mount with the library that leaves their call stacks:
// they do what they do without it, and each operation has a stack of the program that asked for it.

import Foundation
import TestSupport
import Testing

@testable import FaultFS
@testable import Recording

@Suite(
  "programs that leave call stacks",
  .requires(.fuse))
struct CallStackAreaTests {
  private let outside: TemporaryDirectory
  private let client: FaultFSClient

  init() throws {
    outside = try TemporaryDirectory()
    for name in ["mnt", "stacks"] {
      try FileManager.default.createDirectory(
        atPath: outside.file(name), withIntermediateDirectories: false)
    }
    client = try FaultFSClient(
      mountPoint: outside.file("mnt"),
      callStacks: try CallStackDirectory(path: outside.file("stacks")))
  }

  private func run(_ arguments: [String]) throws {
    let variables = client.programEnvironment.sorted { $0.key < $1.key }
    let result = try RunningProgram(
      ["/usr/bin/env"] + variables.map { "\($0.key)=\($0.value)" } + arguments,
      in: client.mountPoint
    ).wait()
    #expect(result.status == 0, "\(result.output)")
  }

  private func record(_ command: String) throws -> Trace {
    try client.beginRecording()
    try run(["/bin/sh", "-c", command])
    try client.endRecording(savingTo: outside.file("trace"))
    return try TraceFile.load(outside.file("trace"))
  }

  @Test("the POSIX cases hold with the library, too")
  func posix() throws {
    try run([posixCasesProgram, client.mountPoint])
    try client.shutdown()
  }

  @Test("each operation of a script has a stack of the program that asked for it")
  func script() throws {
    let trace = try record("echo a > x; (echo b > y); mkdir z; mv x z/x; sync z")
    try client.shutdown()
    var programs: [String] = []
    for event in trace.withoutCloses.events {
      let stack = try #require(event.stack, "\(event)")
      let frame = try #require(trace.callStacks.stacks[stack].first)
      let path = trace.callStacks.modules[frame.module]
      programs.append("\(event.word) \(URL(fileURLWithPath: path).lastPathComponent)")
    }
    #expect(programs.contains("mkdir mkdir") || programs.contains("create mkdir"), "\(programs)")
    #expect(programs.contains("rename mv"), "\(programs)")
    #expect(programs.last == "syncDirectory sync", "\(programs)")
    #expect(programs.first?.hasPrefix("create ") == true)
  }

  @Test("two recordings of a program have the same call stacks")
  func twice() throws {
    let command = "echo a > x; mv x y; mkdir z; rmdir z; rm y"
    let first = try record(command)
    let second = try record(command)
    try client.shutdown()
    #expect(!first.callStacks.stacks.isEmpty)
    #expect(first.callStacks == second.callStacks)
    #expect(first.withoutCloses.events.map(\.stack) == second.withoutCloses.events.map(\.stack))
  }

  @Test("whatever a program writes where its call stacks are, recording goes on")
  func nonsense() throws {
    let area = outside.file("stacks") + "/threads"
    let fill = "dd if=/dev/zero bs=64k count=30 status=none | tr '\\0' '\\377'"
    let trace = try record(
      "echo a > x; \(fill) | dd of='\(area)' conv=notrunc status=none; echo b > y; mkdir z")
    #expect(trace.withoutCloses.events.count == 5)
    #expect(trace.withoutCloses.events.first?.stack != nil)
    #expect(trace.withoutCloses.events.last?.stack == nil)
    // Cut off, it has no slots; a program that has it mapped would get a signal, this one has not.
    try client.beginRecording()
    #expect(try runShell("truncate -s 100 '\(area)'", in: outside.path).status == 0)
    #expect(try runShell("echo c > x", in: client.mountPoint).status == 0)
    try client.endRecording(savingTo: outside.file("trace"))
    try client.shutdown()
    #expect(try TraceFile.load(outside.file("trace")).callStacks == CallStacks())
  }
}
