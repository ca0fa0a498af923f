// AsyncMainTests.swift: the main thread's realm in a program whose `main` is asynchronous.

import Foundation
import Testing

@Suite("an asynchronous main")
struct AsyncMainTests {
  @Test("keeps its realm when it goes on on another thread")
  func goesOn() throws {
    let folder = try Folder()
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
      .deletingLastPathComponent().appendingPathComponent("async-main")
    process.arguments = [folder.path + "/lines.realm"]
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let text = String(
      decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "\(text)")
    let wanted = """
      told of ["waited"]
      one realm true
      told of ["elsewhere"]
      lines ["before", "waited", "elsewhere"]

      """
    #expect(text == wanted)
  }
}
