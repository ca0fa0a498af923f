// FreezingTests.swift: frozen realms, objects and collections; references for other threads; who
// may use what, and what happens to who may not.

import Dispatch
import FoundationEssentials
import Testing

@testable import ObjectDatabase

@Suite("threads and freezing")
struct FreezingTests {
  private func prepared() throws -> (Folder, Realm, Person) {
    let folder = try Folder()
    let realm = try folder.realm([Person.self, Everything.self])
    let person = Person()
    person.name = "Ada"
    person.dogs.append(objectsIn: [Dog(name: "a"), Dog(name: "b")])
    try realm.write { realm.add(person) }
    return (folder, realm, person)
  }

  @Test("frozen views never change, whatever is written")
  func frozen() throws {
    let (_, realm, person) = try prepared()
    let all = Everything()
    all.words["k"] = "v"
    all.numbers.insert(1)
    try realm.write { realm.add(all) }
    let frozen = person.freeze()
    let dogs = realm.objects(Dog.self).sorted(byKeyPath: "name").freeze()
    let (list, set, map) = (person.dogs.freeze(), all.numbers.freeze(), all.words.freeze())
    try realm.write {
      person.name = "Eve"
      realm.delete(person.dogs[0])
      all.words["k"] = "changed"
      all.numbers.removeAll()
    }
    #expect(frozen.isFrozen && frozen.name == "Ada" && frozen.dogs.map(\.name) == ["a", "b"])
    #expect(dogs.isFrozen && dogs.map(\.name) == ["a", "b"] && list.count == 2 && list.isFrozen)
    #expect(set.isFrozen && Array(set) == [1] && map.isFrozen && map["k"] == "v")
    #expect(dogs.first?.owners.first?.name == "Ada" && frozen.realm?.isFrozen == true)
    #expect(person.name == "Eve" && person.dogs.map(\.name) == ["b"])
    #expect(frozen.freeze() === frozen && !frozen.isInvalidated)
    #expect(frozen.thaw()?.name == "Eve" && frozen.thaw() == person)
    #expect(dogs[0].thaw() == nil && dogs[1].thaw()?.name == "b")
    #expect(list.thaw()?.count == 1 && dogs.thaw()?.count == 1 && map.thaw()?["k"] == "changed")
  }

  @Test("frozen objects of one version are equal, and their realm writes nothing")
  func frozenRealm() throws {
    let (_, realm, person) = try prepared()
    let frozen = realm.freeze()
    #expect(person.freeze() == frozen.objects(Person.self).first)
    #expect(person.freeze().realm == frozen && frozen.thaw() == realm)
    let error = #expect(throws: Realm.Error.self) { try frozen.write {} }
    #expect(error?.code == .frozen && !frozen.refresh())
  }

  @Test("any thread reads what is frozen")
  func frozenElsewhere() throws {
    let (_, realm, person) = try prepared()
    let (frozenPerson, frozenDogs) = (Frozen(person), Frozen(realm.objects(Dog.self)))
    let names = try onThread {
      let (frozen, dogs) = (frozenPerson.value, frozenDogs.value)
      return [frozen.name] + dogs.map(\.name) + frozen.dogs.map(\.name)
        + dogs.filter("name == 'a'").map(\.name)
    }
    #expect(names == ["Ada", "a", "b", "a", "b", "a"])
  }

  @Test("a live realm used elsewhere is an error with both threads")
  func wrongThread() throws {
    let (_, realm, _) = try prepared()
    let foreign = Smuggled(realm)
    let error = try onThread { () -> Realm.Error? in
      do { try foreign.value.write {} } catch { return error as? Realm.Error }
      return nil
    }
    #expect(error?.code == .wrongThread)
    #expect(error?.message.components(separatedBy: "(0x").count == 3, "\(error?.message ?? "")")
  }

  @Test("references are resolved on another thread, once")
  func references() throws {
    let (folder, realm, person) = try prepared()
    let object = ThreadSafeReference(to: person)
    let list = ThreadSafeReference(to: person.dogs)
    let results = ThreadSafeReference(to: realm.objects(Dog.self).filter("name == 'b'"))
    let deleted = ThreadSafeReference(to: person.dogs[0])
    try realm.write { realm.delete(person.dogs[0]) }
    let configuration = folder.configuration([Person.self, Everything.self])
    let found = try onThread { () -> [String] in
      let realm = try Realm(configuration: configuration)
      guard let person = realm.resolve(object), let dogs = realm.resolve(list),
        let named = realm.resolve(results)
      else { return [] }
      try realm.write { person.name = "there" }
      return [person.name] + dogs.map(\.name) + named.map(\.name)
        + [realm.resolve(deleted) == nil ? "gone" : "still there"]
    }
    #expect(found == ["there", "b", "b", "gone"] && object.isInvalidated)
    #expect(realm.refresh() && person.name == "there")
  }

  @Test("a realm of a queue is used on the queue, whatever its threads")
  func queues() throws {
    let (folder, realm, _) = try prepared()
    let queue = DispatchQueue(label: "FreezingTests.queue")
    let configuration = folder.configuration([Person.self, Everything.self])
    #expect(throws: Realm.Error.self) {
      _ = try Realm(configuration: configuration, queue: queue)
    }
    let opened = try queue.sync {
      let realm = try Realm(configuration: configuration, queue: queue)
      try realm.write { realm.add(Dog(name: "of the queue")) }
      return Smuggled(realm)
    }
    let count = queue.sync { opened.value.objects(Dog.self).count }
    #expect(count == 3)
    #expect(realm.objects(Dog.self).count == 2 && realm.refresh())
    let error = #expect(throws: Realm.Error.self) { try opened.value.write {} }
    #expect(error?.message.contains("FreezingTests.queue") == true)
  }

  @Test("the main queue is known by whatever object, and no other queue is taken for it")
  func mainQueue() {
    // On Linux each `DispatchQueue.main` is another object, whose memory the next one may get.
    var queues: [DispatchQueue] = []
    for number in 0..<200 {
      guard case .main = RealmOwner.owner(DispatchQueue.main) else {
        Issue.record("the main queue is taken for another one")
        return
      }
      queues.append(DispatchQueue(label: "FreezingTests.\(number)"))
      if case .main = RealmOwner.owner(queues[number]) {
        Issue.record("queue \(number) is taken for the main one")
      }
    }
    #expect(Set(queues.map { RealmOwner.owner($0) }).count == queues.count)
  }

  @Test("threads that write at once all get through")
  func contention() throws {
    let (folder, realm, _) = try prepared()
    let configuration = folder.configuration([Person.self, Everything.self])
    let queues = (0..<4).map { DispatchQueue(label: "FreezingTests.\($0)") }
    let group = DispatchGroup()
    for queue in queues {
      queue.async(group: group) {
        do {
          let realm = try Realm(configuration: configuration, queue: queue)
          for _ in 0..<10 { try realm.write { realm.add(Dog(name: "many")) } }
        } catch { Issue.record("\(error)") }
      }
    }
    group.wait()
    realm.refresh()
    #expect(realm.objects(Dog.self).filter("name == 'many'").count == 40)
  }

  @Test("a frozen version is kept as long as it is referred to, and no longer")
  func pins() throws {
    let (_, realm, person) = try prepared()
    let database = realm.core.store.database
    var frozen: Person? = person.freeze()
    for index in 0..<5 { try realm.write { person.age = index } }
    _ = person.age
    #expect(try Set(database.activePins().map(\.version)).count == 2)
    #expect(frozen?.age == 0)
    frozen = nil
    #expect(try Set(database.activePins().map(\.version)).count == 1)
  }
}
