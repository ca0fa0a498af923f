// ReadOnlyFileSystemTests.swift: a database on a file system that is mounted for reading only opens
// for reading, with and without its lock file. The story: opening made the lock file, or opened it
// for writing, and failed with EROFS.

import Foundation
import ObjectDatabase
import TestSupport
import Testing

@testable import Engine

private class Note: Object {
  @Persisted var text = ""
}

@Suite(.requires(.fuse)) struct ReadOnlyFileSystemTests {
  private static func run(_ command: String, _ arguments: String...) throws {
    let process = Process()
    process.executableURL = URL(filePath: command)
    process.arguments = arguments
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "\(command) \(arguments)")
  }

  private static func configuration(_ path: String, readOnly: Bool) -> Realm.Configuration {
    Realm.Configuration(
      fileURL: URL(filePath: path), readOnly: readOnly, objectTypes: [Note.self])
  }

  @Test("a realm opens for reading, with and without a lock file", arguments: [true, false])
  func reading(hasLockFile: Bool) throws {
    let folder = "/tmp/read-only-\(UUID())"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let (disk, view) = (folder + "/disk", folder + "/view")
    for place in [disk, view] {
      try FileManager.default.createDirectory(
        atPath: place, withIntermediateDirectories: true)
    }
    try Self.run("/bin/mount", "-t", "tmpfs", "none", disk)
    defer { try? Self.run("/bin/umount", disk) }
    do {
      let realm = try Realm(configuration: Self.configuration(disk + "/a.realm", readOnly: false))
      try realm.write { realm.create(Note.self, value: ["text": "kept"]) }
    }
    if !hasLockFile { try FileManager.default.removeItem(atPath: disk + "/a.realm.lock") }
    try Self.run("/bin/mount", "--bind", "-o", "ro", disk, view)
    defer { try? Self.run("/bin/umount", view) }
    var options = Database.Options()
    options.readOnly = true
    options.coordination.registry = CoordinationRegistry()
    do {
      let realm = try Realm(configuration: Self.configuration(view + "/a.realm", readOnly: true))
      #expect(realm.objects(Note.self).map(\.text) == ["kept"])
      #expect(realm.freeze().objects(Note.self).count == 1)
      // Another process reads beside it.
      let other = try Database.open(path: view + "/a.realm", options: options)
      #expect(try other.snapshot().value(in: "Note", key: 0, column: "text") == .string("kept"))
      try other.close()
      let error = #expect(throws: Realm.Error.self) {
        _ = try Realm(configuration: Self.configuration(view + "/b.realm", readOnly: false))
      }
      #expect(error != nil, "who writes needs a file system that can be written")
      // Who writes through the other mount could not see the pins.
      var writing = Database.Options()
      writing.coordination.registry = CoordinationRegistry()
      let locked = #expect(throws: EngineError.self) {
        try Database.open(path: disk + "/a.realm", options: writing)
      }
      #expect(locked?.code == .locked)
    }
    let writer = try Database.open(path: disk + "/a.realm")
    let error = #expect(throws: EngineError.self) {
      try Database.open(path: view + "/a.realm", options: options)
    }
    #expect(error?.code == .locked)
    try writer.close()
    let later = try Database.open(path: view + "/a.realm", options: options)
    try later.close()
  }
}
