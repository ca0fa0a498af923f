// FileSamples.swift: compaction, copies, realms in memory, encryption, and files as such.

import FoundationEssentials
import ObjectDatabase
import Synchronization
import Testing

@Suite("samples: files")
struct FileSamples {
  private typealias Dog = Kennel.Dog

  @Test("a file is compacted when it is opened, if the block says so")
  func compaction() throws {
    let folder = try Folder()
    var config = Kennel.configuration(folder)
    do {
      let realm = try Realm(configuration: config)
      try realm.write {
        for index in 0..<3_000 {
          realm.create(Dog.self, value: ["name": "dog \(index) of many, with a long name"])
        }
      }
      try realm.write { realm.delete(realm.objects(Dog.self)) }
    }
    let asked = Asked()
    // sample: compaction
    config.shouldCompactOnLaunch = { totalBytes, usedBytes in
      asked.note(totalBytes, usedBytes)
      // Compact when more than half of the file is free.
      return Double(usedBytes) / Double(totalBytes) < 0.5
    }
    let realm = try Realm(configuration: config)
    // end
    #expect(realm.objects(Dog.self).isEmpty)
    let (total, used) = asked.sizes
    #expect(total > used && used > 0)
    let path = try #require(config.fileURL?.path)
    let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
    #expect((size ?? total) < total)
  }

  /// What the block was asked about; it may run anywhere.
  private final class Asked: Sendable {
    private let kept = Mutex((total: 0, used: 0))
    var sizes: (total: Int, used: Int) { kept.withLock { $0 } }
    func note(_ total: Int, _ used: Int) { kept.withLock { $0 = (total, used) } }
  }

  @Test("a copy, a realm in memory, a read-only one, and deleting files")
  func copies() throws {
    let folder = try Folder()
    let realm = try Kennel.filled(folder)
    let url = URL(filePath: folder.path).appending(path: "copy.realm")
    // sample: copy
    try realm.writeCopy(toFile: url)
    let copy = Realm.Configuration(
      fileURL: url, readOnly: true, objectTypes: realm.configuration.objectTypes)
    let dogs = try Realm(configuration: copy).objects(Dog.self)
    // end
    #expect(dogs.count == 3)
    #expect(throws: Realm.Error.self) { try Realm(configuration: copy).write {} }
    let memory = try Realm(
      configuration: Realm.Configuration(inMemoryIdentifier: "samples \(folder.path)"))
    try memory.write { memory.create(Dog.self) }
    #expect(memory.objects(Dog.self).count == 1)
    #expect(Realm.fileExists(for: realm.configuration))
  }

  @Test("an encrypted file opens with its key only")
  func encryption() throws {
    let folder = try Folder()
    var config = Kennel.configuration(folder)
    // sample: encryption
    config.encryptionKey = Data((0..<64).map { UInt8($0) })
    do {
      let realm = try Realm(configuration: config)
      try realm.write { realm.create(Dog.self, value: ["name": "Rex"]) }
    }
    // end
    #expect(try Realm(configuration: config).objects(Dog.self).first?.name == "Rex")
    config.encryptionKey = Data(repeating: 7, count: 64)
    #expect(throws: Realm.Error.self) { try Realm(configuration: config) }
  }
}
