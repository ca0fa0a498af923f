// FaultFSOnly.swift: mounts the faulty file system, has the second sync of a program fail, and says
// what the program saw.

import FaultFS
import Foundation
import LabCore

@main
struct FaultFSOnly {
  static func main() throws {
    let directory = FileManager.default.temporaryDirectory
      .appending(path: "fault-fs-only-\(ProcessInfo.processInfo.processIdentifier)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let mount = try FaultFSClient(mountPoint: directory.path)
    var lines: [String] = []
    do {
      try mount.addRules([FaultRule(when: FaultRule.Match([.sync], nth: 2), what: .error(EIO))])
      for number in 1...3 {
        // A process of its own uses the mount; the daemon serves it.
        let program = Process()
        program.executableURL = URL(filePath: "/bin/sh")
        program.arguments = ["-c", "echo \(number) > f && sync f"]
        program.currentDirectoryURL = directory
        program.standardError = FileHandle.nullDevice
        try program.run()
        program.waitUntilExit()
        lines.append("sync \(number): \(program.terminationStatus == 0 ? "worked" : "failed")")
      }
    } catch {
      try? mount.shutdown()
      throw error
    }
    try mount.shutdown()
    for line in lines { print(line) }
    precondition(lines == ["sync 1: worked", "sync 2: failed", "sync 3: worked"])
  }
}
