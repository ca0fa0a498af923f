// LiveObjectTests.swift: what a program that looks at a file sees of what comes from the server:
// its objects stay valid and have the new values, frozen realms stay as they were, and observers
// are told of what changed, and of nothing else.

import FoundationEssentials
import ObjectDatabase
import Requirements
import SyncClient
import SyncCore
import Testing

@Suite("Objects while their file synchronizes")
struct LiveObjectTests {
  private func network(_ name: String) throws -> TestNetwork {
    let network = TestNetwork()
    for number in 0..<2 { try network.addClient(try TestFile("live \(name) \(number)")) }
    return network
  }

  @Test("stay, with embedded ones, and have what others wrote")
  func objectsStay() throws {
    let network = try network("stay")
    let (here, there) = (network.clients[0], network.clients[1])
    try here.realm.write {
      here.realm.create(
        Thing.self,
        value: [
          "id": 1, "parts": [["size": 1], ["size": 2]], "part": ["size": 3], "numbers": [1, 2],
        ])
      here.realm.create(Tag.self, value: ["name": "t"])
    }
    try network.settle()
    there.realm.refresh()
    let thing = try #require(here.realm.objects(Thing.self).first)
    let (second, single) = (thing.parts[1], try #require(thing.part))
    let frozen = here.realm.freeze()
    let theirs = try #require(there.realm.objects(Thing.self).first)
    try network.disconnect(here)
    try there.realm.write {
      theirs.number = 9
      theirs.parts[1].size = 20
      theirs.part?.size = 30
      theirs.numbers.move(from: 0, to: 1)
      theirs.tag = there.realm.objects(Tag.self).first
    }
    try network.settle(there)
    // Something of its own is pending when that comes.
    try here.realm.write { thing.text = "mine" }
    try network.settle()
    here.realm.refresh()
    #expect(!thing.isInvalidated && thing.number == 9 && thing.text == "mine")
    #expect(!second.isInvalidated && second.size == 20)
    #expect(!single.isInvalidated && single.size == 30)
    #expect(Array(thing.numbers) == [2, 1] && thing.tag?.name == "t")
    let before = try #require(frozen.objects(Thing.self).first)
    #expect(before.number == 7 && before.parts[1].size == 2 && before.tag == nil)
    there.realm.refresh()
    #expect(theirs.text == "mine")
    try there.realm.write { there.realm.delete(theirs) }
    try network.settle()
    here.realm.refresh()
    #expect(thing.isInvalidated && second.isInvalidated && here.realm.objects(Part.self).isEmpty)
  }

  @Test("tell observers of what others wrote, and of nothing that was there")
  func observersHear() throws {
    let network = try network("hear")
    let (here, there) = (network.clients[0], network.clients[1])
    try here.realm.write {
      for id in 0..<3 { here.realm.create(Thing.self, value: ["id": id]) }
    }
    try network.settle()
    there.realm.refresh()
    here.realm.refresh()
    var changes: [[[Int]]] = []
    let results = here.realm.objects(Thing.self).sorted(byKeyPath: "id")
    let token = results.observe { change in
      guard case .update(_, let deletions, let insertions, let modifications) = change else {
        return
      }
      changes.append([deletions, insertions, modifications])
    }
    here.realm.refresh()
    // One's own, and its way to the server and back, which changes nothing here.
    try here.realm.write { results[0].number = 5 }
    try network.settle()
    here.realm.refresh()
    #expect(changes == [[[], [], [0]]])
    try there.realm.write {
      there.realm.object(ofType: Thing.self, forPrimaryKey: 1).map { there.realm.delete($0) }
      there.realm.create(Thing.self, value: ["id": 7])
      there.realm.object(ofType: Thing.self, forPrimaryKey: 2)?.text = "x"
    }
    try network.settle()
    here.realm.refresh()
    #expect(changes.dropFirst() == [[[1], [2], [1]]])
    token.invalidate()
  }

  @Test("have one agent for their file, and the next one when it has gone")
  func oneAgent() throws {
    let folder = try TestFolder.make()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let configuration = SyncedFile.configuration(
      Realm.Configuration(
        fileURL: URL(filePath: folder + "/a.realm"), objectTypes: TestFile.types),
      now: { 1 })
    try SyncedFile.mark(configuration, realm: "r")
    var agent: SyncAgent? = try SyncAgent(configuration, now: { 1 })
    #expect(throws: (any Error).self) { _ = try SyncAgent(configuration, now: { 1 }) }
    #expect(agent != nil)
    agent = nil
    _ = try SyncAgent(configuration, now: { 1 })
  }

  @Test("are whole in a copy of their file, which is another client")
  func copiesSynchronize() throws {
    let folder = try TestFolder.make()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let network = TestNetwork()
    try network.addClient(try TestFile("copied"))
    let first = network.clients[0]
    try first.realm.write { first.realm.create(Tag.self, value: ["name": "a"]) }
    try network.settle()
    first.realm.refresh()
    let copy = folder + "/copy.realm"
    try first.realm.writeCopy(toFile: URL(filePath: copy))
    try network.addClient(try TestFile(copying: copy))
    let second = network.clients[1]
    try second.realm.write { second.realm.create(Tag.self, value: ["name": "b"]) }
    try first.realm.write { first.realm.create(Tag.self, value: ["name": "c"]) }
    try network.settle()
    #expect(try network.state.objects.count == 3)
    #expect(try first.file.state() == (try network.state))
    #expect(try second.file.state() == (try network.state))
    #expect(network.server.file.clients.count == 2)
  }
}
