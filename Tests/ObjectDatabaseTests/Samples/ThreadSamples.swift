// ThreadSamples.swift: other threads and queues, frozen objects, versions.

import Dispatch
import FoundationEssentials
import ObjectDatabase
import Testing

@Suite("samples: threads and freezing")
struct ThreadSamples {
  private typealias Dog = Kennel.Dog
  private typealias Person = Kennel.Person

  @Test("a realm for each thread, and references between them")
  func references() throws {
    let folder = try Folder()
    let config = Kennel.configuration(folder)
    let realm = try Kennel.filled(folder)
    let ada = try #require(realm.objects(Person.self).first)
    // sample: references
    let reference = ThreadSafeReference(to: ada)
    let queue = DispatchQueue(label: "writer")
    queue.sync {
      do {
        let realm = try Realm(configuration: config, queue: queue)
        guard let ada = realm.resolve(reference) else { return }
        try realm.write { ada.name = "Ada L." }
      } catch {
        Issue.record("\(error)")
      }
    }
    realm.refresh()
    // end
    #expect(ada.name == "Ada L.")
  }

  @Test("a version stays until it is given up")
  func versions() throws {
    let folder = try Folder()
    let config = Kennel.configuration(folder)
    let realm = try Kennel.filled(folder)
    let dogs = realm.objects(Dog.self)
    #expect(dogs.count == 3)
    try ThreadRun.run {
      let other = try Realm(configuration: config)
      try other.write { other.deleteAll() }
    }
    #expect(dogs.count == 3, "this realm is where it was")
    #expect(realm.refresh() && dogs.isEmpty && !realm.refresh())
    realm.invalidate()
    #expect(dogs.isInvalidated && realm.objects(Dog.self).isEmpty)
  }

  @Test("frozen objects and results go to any thread and never change")
  func frozen() throws {
    let folder = try Folder()
    let realm = try Kennel.filled(folder)
    let dogs = realm.objects(Dog.self)
    // sample: freeze
    let frozen = Frozen(dogs.where { $0.age > 2 })
    try realm.write { dogs[2].age = 0 }
    let names = try ThreadRun.run { frozen.value.map(\.name) }
    let live = frozen.value.thaw()
    // end
    #expect(names == ["Fido", "Bo"] && frozen.value.isFrozen)
    #expect(live.map { $0.map(\.name) } == ["Fido"])
    let rex = dogs[0].freeze()
    try realm.write { realm.delete(dogs[0]) }
    #expect(rex.name == "Rex" && rex.thaw() == nil)
  }
}
