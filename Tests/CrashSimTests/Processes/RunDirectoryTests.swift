// RunDirectoryTests.swift: [U] what a killed run left is swept; what a living one uses is not.

import Foundation
import Glibc
import Requirements
import Testing

@testable import LabCore

@Suite struct RunDirectoryTests {
  @Test("directories and processes of dead runs go, those of living runs stay")
  func sweep() throws {
    let root = NSTemporaryDirectory() + "faultline-sweep-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: root) }
    let dead = "999999999-12345-4026531836"
    let own = try RunDirectory()
    defer { own.remove() }
    // That of a run in another container: no process of ours, but somebody holds the lock.
    let distant = "999999999-12345-1"
    for name in [dead, distant, "unrelated"] {
      try FileManager.default.createDirectory(
        atPath: "\(root)/\(name)/mount", withIntermediateDirectories: true)
    }
    let lock = unsafe Glibc.open("\(root)/\(distant)", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { close(lock) }
    #expect(flock(lock, LOCK_EX | LOCK_NB) == 0)
    var launch = ChildProcess.Launch(shell: "sleep 300")
    launch.environment = [RunDirectory.environmentName: dead]
    let orphan = try ChildProcess(launch)

    RunDirectory.sweep(root: root)

    #expect(orphan.wait(timeoutSeconds: 10) == .signalled(9))
    let left = try FileManager.default.contentsOfDirectory(atPath: root)
    #expect(left.sorted() == [distant, "unrelated"])
    // Its own directory, where it really lies.
    RunDirectory.sweep()
    #expect(FileManager.default.fileExists(atPath: own.path))
  }

  @Test(
    "a run with a mount in another namespace is swept there, or when nobody is in it",
    .requires(.root))
  func otherNamespace() throws {
    let root = NSTemporaryDirectory() + "faultline-spaces-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: root) }
    let run = "\(root)/999999998-12345-4026531836"
    try FileManager.default.createDirectory(
      atPath: "\(run)/1", withIntermediateDirectories: true)
    let other = try ChildProcess(
      ChildProcess.Launch(shell: "exec unshare -m sh -c 'touch \(root)/there; exec sleep 300'"))
    for _ in 0..<200 where !FileManager.default.fileExists(atPath: "\(root)/there") {
      Thread.sleep(forTimeInterval: 0.02)
    }
    func space(_ kind: String) throws -> String {
      try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(other.pid)/ns/\(kind)")
        .filter(\.isWholeNumber)
    }
    let note = [
      "point": "/mnt", "source": "control", "space": try space("mnt"),
      "userSpace": try space("user"),
    ]
    try JSONEncoder().encode(note).write(to: URL(fileURLWithPath: "\(run)/1/mount-outside"))
    RunDirectory.sweep(root: root)
    #expect(FileManager.default.fileExists(atPath: run))
    _ = other.kill()
    RunDirectory.sweep(root: root)
    #expect(!FileManager.default.fileExists(atPath: run))
  }

  @Test("in somebody else's root nothing is swept, and no link out of one's own is followed")
  func plantedLinks() throws {
    let root = NSTemporaryDirectory() + "faultline-planted-\(UUID().uuidString)"
    let precious = root + "-precious"
    defer { for path in [root, precious] { try? FileManager.default.removeItem(atPath: path) } }
    for path in ["\(root)/2-2-2/mount", precious] {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }
    try Data().write(to: URL(fileURLWithPath: "\(precious)/file"))
    try FileManager.default.createSymbolicLink(
      atPath: "\(root)/1-1-1", withDestinationPath: precious)
    let isRoot = getuid() == 0
    if isRoot { #expect(unsafe chown(root, 65534, 65534) == 0) }
    RunDirectory.sweep(root: root)
    if isRoot { #expect(FileManager.default.fileExists(atPath: "\(root)/2-2-2/mount")) }
    if isRoot { #expect(unsafe chown(root, 0, 0) == 0) }
    RunDirectory.sweep(root: root)
    #expect(!FileManager.default.fileExists(atPath: "\(root)/2-2-2"))
    #expect(FileManager.default.fileExists(atPath: "\(precious)/file"))
  }

  @Test("runs of one process share no path, and the end of one leaves the other alone")
  func twoRuns() throws {
    let first = try RunDirectory()
    let second = try RunDirectory()
    defer { second.remove() }
    #expect(first.path != second.path && first.name == second.name)
    let file = try second.subdirectory("mount") + "/file"
    try Data().write(to: URL(fileURLWithPath: file))
    first.remove()
    #expect(!FileManager.default.fileExists(atPath: first.path))
    #expect(FileManager.default.fileExists(atPath: file))
  }

  @Test("a run ends its own programs, and no other's")
  func programs() throws {
    let first = try RunDirectory()
    let second = try RunDirectory()
    defer { for run in [first, second] { run.remove() } }
    let programs = try [first, second].map { run in
      var launch = ChildProcess.Launch(shell: "sleep 300")
      launch.environment = run.programEnvironment
      return try ChildProcess(launch)
    }
    first.killPrograms()
    #expect(programs[0].wait(timeoutSeconds: 10) == .signalled(SIGKILL))
    #expect(kill(programs[1].pid, 0) == 0)
    #expect(programs[1].kill() == .signalled(SIGKILL))
  }
}
