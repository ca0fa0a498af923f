// SampleModels.swift: the classes of the samples, in the shape of RealmSwift's documentation. No
// sample uses `@testable`. What stands between `// sample: NAME` and `// end` is also in the
// documentation, where SampleDocumentTests looks for it.

import FoundationEssentials
import ObjectDatabase

enum Kennel {
  // sample: models
  class Dog: Object {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted var name = ""
    @Persisted(indexed: true) var age = 0
    @Persisted var breed: Breed
    @Persisted var favouriteToy: String?
    @Persisted var currentCity: String?
    @Persisted(originProperty: "dogs") var owners: LinkingObjects<Person>
  }

  enum Breed: String, PersistableEnum {
    case mutt, poodle, terrier
  }

  class Person: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name = ""
    @Persisted var address: Address?
    @Persisted var dogs: List<Dog>
    @Persisted var citiesVisited: MutableSet<String>
    @Persisted var phoneNumbers: Map<String, String>
    @Persisted var note: AnyRealmValue
  }

  class Address: EmbeddedObject {
    @Persisted var street = ""
    @Persisted var city = ""
  }
  // end
}

extension Kennel {
  static func configuration(_ folder: Folder) -> Realm.Configuration {
    let url = URL(filePath: folder.path).appending(path: "kennel.realm")
    // sample: configuration
    var config = Realm.Configuration.defaultConfiguration
    config.fileURL = url
    config.objectTypes = [Dog.self, Person.self, Address.self]
    // end
    return config
  }

  /// Three dogs of one owner.
  static func filled(_ folder: Folder) throws -> Realm {
    let realm = try Realm(configuration: configuration(folder))
    try realm.write {
      let ada = Person(value: ["id": 1, "name": "Ada"])
      for (name, age, breed) in [("Rex", 1, Breed.mutt), ("Fido", 8, .poodle), ("Bo", 3, .mutt)] {
        let dog = Dog()
        dog.name = name
        dog.age = age
        dog.breed = breed
        ada.dogs.append(dog)
      }
      realm.add(ada)
    }
    return realm
  }
}
