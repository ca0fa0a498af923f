// FullDiskTests.swift: a database on a disk without a free block: who only reads can, and nobody
// writes beside a reader whom they cannot see.

import FoundationEssentials
import ObjectDatabase
import TestSupport
import Testing

@testable import Engine
@testable import Scenarios

private class Note: Object {
  @Persisted var text = ""
}

@Suite(.requires(.fuse)) struct FullDiskTests {
  private let mount: MountedFaultFS

  init() throws {
    mount = try MountedFaultFS()
    let realm = try Realm(configuration: configuration(readOnly: false))
    try realm.write { realm.create(Note.self, value: ["text": "kept"]) }
  }

  private func configuration(readOnly: Bool) -> Realm.Configuration {
    Realm.Configuration(
      fileURL: URL(filePath: mount.file("test.realm")), readOnly: readOnly,
      objectTypes: [Note.self])
  }

  private func fill() throws {
    let rules = "[{on: [write, allocate], noSpaceAfter: 0}]"
    try mount.client.addRules(try FaultFile.parse(rules, file: "test"))
  }

  @Test("a realm opens for reading, with and without a lock file", arguments: [true, false])
  func reading(hasLockFile: Bool) throws {
    if !hasLockFile { try FileManager.default.removeItem(atPath: mount.file("test.realm.lock")) }
    try fill()
    do {
      let realm = try Realm(configuration: configuration(readOnly: true))
      #expect(realm.objects(Note.self).map(\.text) == ["kept"])
      #expect(realm.freeze().objects(Note.self).count == 1)
    }
    let error = #expect(throws: Realm.Error.self) {
      _ = try Realm(configuration: configuration(readOnly: false))
    }
    #expect(error?.code == .outOfDiskSpace, "who writes needs others to see it")
    try mount.client.clearRules()
    let realm = try Realm(configuration: configuration(readOnly: false))
    try realm.write { realm.create(Note.self, value: ["text": "new"]) }
    #expect(realm.objects(Note.self).map(\.text) == ["kept", "new"])
  }

  @Test("nobody else comes in while such a reader is there, and everybody afterwards")
  func alone() throws {
    try fill()
    var options = Database.Options()
    options.readOnly = true
    let reader = try Database.open(path: mount.file("test.realm"), options: options)
    try mount.client.clearRules()
    // A registry of its own stands for another process.
    for readOnly in [true, false] {
      var other = Database.Options()
      other.readOnly = readOnly
      other.coordination.registry = CoordinationRegistry()
      let error = #expect(throws: EngineError.self) {
        try Database.open(path: mount.file("test.realm"), options: other)
      }
      #expect(error?.code == .locked)
    }
    // In this process all handles share the pins, so one that writes takes nothing away.
    let writer = try Database.open(path: mount.file("test.realm"))
    let snapshot = try reader.snapshot()
    let before = try snapshot.contentHash()
    for number in 0..<20 {
      let write = try writer.beginWrite()
      try write.set(.string("\(number)"), in: "Note", key: 0, column: "text")
      try write.commit()
    }
    #expect(try snapshot.contentHash() == before)
    snapshot.release()
    try writer.close()
    try reader.close()
    var other = Database.Options()
    other.coordination.registry = CoordinationRegistry()
    let later = try Database.open(path: mount.file("test.realm"), options: other)
    let text = try later.snapshot().value(in: "Note", key: 0, column: "text")
    #expect(text == .string("19"))
    try later.close()
  }
}
