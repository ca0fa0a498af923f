// RunDirectoryTests.swift: what a killed run left is swept; what a living one uses is not.

import CrashSim
import Foundation
import Testing

@Suite struct RunDirectoryTests {
  @Test("directories and processes of dead runs go, those of living runs stay")
  func sweep() throws {
    let root = NSTemporaryDirectory() + "faultline-sweep-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: root) }
    let dead = "999999999-12345"
    let own = try RunDirectory()
    defer { own.remove() }
    for name in [dead, own.name, "unrelated"] {
      try FileManager.default.createDirectory(
        atPath: "\(root)/\(name)/mount", withIntermediateDirectories: true)
    }
    var launch = ChildProcess.Launch(shell: "sleep 300")
    launch.environment = [RunDirectory.environmentName: dead]
    let orphan = try ChildProcess(launch)

    RunDirectory.sweep(root: root)

    #expect(orphan.wait(timeoutSeconds: 10) == .signalled(9))
    let left = try FileManager.default.contentsOfDirectory(atPath: root)
    #expect(left.sorted() == [own.name, "unrelated"].sorted())
    #expect(FileManager.default.fileExists(atPath: own.path))
  }
}
