// ObjectActor.swift [U]: one actor's access to the object database: its realm over one version of
// Faultline's classes. Invariant: everything except `misuses` runs on the actor's own thread.

import Engine
import Foundation
import ObjectDatabase
import Oracles
import Workload

/// An actor with its realm open.
protocol ObjectActor: AnyObject, Sendable {
  var name: String { get }
  var declaration: ObjectDeclaration { get }
  var realm: Realm { get }
  func sight(of realm: Realm) -> ObjectSight
  /// Applies the statements; the write transaction is open.
  func apply(_ mutations: [Mutation]) throws
  /// The results of queries over the index of `Dog.age`, for at most this many ages.
  func queries(atMost count: Int, _ sight: ObjectSight) -> [QueryOracle.Found]
  /// The primary keys of the objects that a query finds.
  func find(_ query: ObjectQuery) throws -> [Int]
  /// Observes the result of a query from now on.
  func observe(_ query: ObjectQuery) throws -> any ObjectObserver
  /// Uses that must fail on any other thread, each with its name.
  func misuses() -> [(name: String, use: @Sendable () -> Void)]
}

extension ObjectDeclaration {
  /// Opens a realm on the calling thread.
  /// - Throws: `Realm.Error`.
  func open(_ configuration: Realm.Configuration, for actor: String) throws -> any ObjectActor {
    schemaVersion == 1
      ? try KennelActor<Kennel1>(actor, self, configuration)
      : try KennelActor<Kennel2>(actor, self, configuration)
  }
}

/// An actor with a version of the classes.
// @unchecked: the realm is used on the actor's thread only, except for the uses that must fail.
private final class KennelActor<Classes: Kennel>: ObjectActor, @unchecked Sendable {
  let name: String
  let declaration: ObjectDeclaration
  let realm: Realm

  init(
    _ name: String, _ declaration: ObjectDeclaration, _ base: Realm.Configuration
  ) throws {
    self.name = name
    self.declaration = declaration
    var configuration = base
    configuration.objectTypes = Classes.types
    configuration.schemaVersion = declaration.schemaVersion
    configuration.migrationBlock = declaration.migration.block
    configuration.deleteRealmIfMigrationNeeded =
      declaration.deletesIfNeeded && !configuration.readOnly
    realm = try Realm(configuration: configuration)
  }

  func sight(of realm: Realm) -> ObjectSight { ObjectSight(realm, Classes.self) }

  func apply(_ mutations: [Mutation]) throws {
    let writer = ObjectWriter<Classes>(realm: realm)
    for mutation in mutations { try writer.apply(mutation) }
  }

  func queries(atMost count: Int, _ sight: ObjectSight) -> [QueryOracle.Found] {
    let ages = Set(sight.dogs.values.map(\.age)).sorted()
    return (ages.prefix(count) + [Int.min]).map { age in
      let found = realm.objects(Classes.Dog.self).filter("age == $0", age)
      return QueryOracle.Found(age: age, dogs: found.map(\._id))
    }
  }

  func find(_ query: ObjectQuery) throws -> [Int] {
    switch query.table {
    case ObjectClasses.person:
      try realm.objects(Classes.Person.self).filtered(by: query.text).map(\._id)
    case ObjectClasses.crate: try realm.objects(Crate.self).filtered(by: query.text).map(\._id)
    default: try realm.objects(Classes.Dog.self).filtered(by: query.text).map(\._id)
    }
  }

  func observe(_ query: ObjectQuery) throws -> any ObjectObserver {
    if query.table == ObjectClasses.crate {
      let crates = try realm.objects(Crate.self).filtered(by: query.text)
      // Observers are not told that a link in a content leads nowhere any more.
      return ResultsObserver(crates) { "\($0._id) \(PlannedValue($0.content).withoutLinks.text)" }
    }
    guard query.table == ObjectClasses.person else {
      let dogs = try realm.objects(Classes.Dog.self).filtered(by: query.text)
      return ResultsObserver(dogs) { dog in
        let kind = ObjectSight.kind(weight: dog.weightIfAny, breed: dog.breedIfAny)
        return "\(dog._id) \(dog.name) \(dog.age) \(Classes.owner(of: dog) ?? -1) \(kind)"
      }
    }
    let people = try realm.objects(Classes.Person.self).filtered(by: query.text)
    return ResultsObserver(people) { person in
      let dogs = Classes.dogs(of: person).map(\._id)
      return "\(person._id) \(person.label) \(person.age) \(person.home?.city ?? "none") \(dogs) "
        + "\(Array(person.nicknames)) \(person.scores.map { "\($0.key)=\($0.value)" })"
    }
  }

  func misuses() -> [(name: String, use: @Sendable () -> Void)] {
    [
      ("a read of all objects", { [self] in _ = realm.objects(Classes.Person.self).count }),
      (
        "a look for a primary key",
        { [self] in _ = realm.object(ofType: Classes.Dog.self, forPrimaryKey: 1) }
      ),
      ("a refresh", { [self] in _ = realm.refresh() }),
      ("an invalidation", { [self] in realm.invalidate() }),
      ("a write transaction", { [self] in realm.beginWrite() }),
      ("an added object", { [self] in realm.add(Classes.person(-1)) }),
    ]
  }
}
