// Mount.swift: `faultline mount`: the faulty filesystem for any program, until Ctrl-C.

import ArgumentParser
import CrashSim
import Foundation

struct Mount: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Mount the in-memory faulty filesystem on a directory until Ctrl-C.",
    discussion: """
      What programs do there is recorded; --trace keeps it as an SQLite file (docs/trace-format.md).

      Example:
        faultline mount /mnt/faulty --trace work.sqlite
      """)

  @Argument(help: "An existing empty directory.") var directory: String
  @Option(help: "Keep the recorded trace in this file.") var trace: String?

  func run() throws {
    let console = Console()
    let run = try RunDirectory()
    defer { run.remove() }
    let fileSystem = try FaultFSClient(mountPoint: directory)
    defer { try? fileSystem.shutdown() }
    try run.note(mount: fileSystem.mountPoint)
    try fileSystem.beginRecording()
    console.say("mounted on \(fileSystem.mountPoint); Ctrl-C unmounts")
    while !Interruption.isRequested { Thread.sleep(forTimeInterval: 0.05) }
    if let trace {
      let counts = try fileSystem.endRecording(savingTo: trace)
      console.say("\(counts.eventCount) events in \(trace)")
    }
    try fileSystem.shutdown()
  }
}
