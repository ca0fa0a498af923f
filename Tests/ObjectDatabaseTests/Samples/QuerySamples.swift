// QuerySamples.swift: queries that the compiler checks, and the same in words.

import FoundationEssentials
import ObjectDatabase
import Testing

@Suite("samples: queries")
struct QuerySamples {
  private typealias Dog = Kennel.Dog
  private typealias Person = Kennel.Person

  @Test("typed and in words, comparison by comparison")
  func both() throws {
    let folder = try Folder()
    let realm = try Kennel.filled(folder)
    let dogs = realm.objects(Dog.self)
    let people = realm.objects(Person.self)
    // sample: typed
    let old = dogs.where { $0.age > 5 || $0.name.starts(with: "B") }
    let mutts = dogs.where { $0.breed == .mutt && $0.age.contains(1...3) }
    let named = dogs.where { $0.name.contains("O", options: .caseInsensitive) }
    let some = dogs.where { $0.name.in(["Rex", "Max"]) && $0.favouriteToy == nil }
    let keepers = people.where { ($0.dogs.age > 2 && $0.dogs.breed == .mutt).count == 1 }
    let adas = dogs.where { $0.owners.name == "Ada" }
    // end
    #expect(old.map(\.name) == ["Fido", "Bo"] && mutts.map(\.name) == ["Rex", "Bo"])
    #expect(named.map(\.name) == ["Fido", "Bo"] && some.map(\.name) == ["Rex"])
    #expect(keepers.count == 1 && adas.count == 3)
    // sample: words
    let oldToo = dogs.filter("age > 5 OR name BEGINSWITH %@", "B")
    let muttsToo = dogs.filter("breed == 'mutt' AND age BETWEEN {1, $0}", 3)
    let keepersToo = people.filter(
      "SUBQUERY(dogs, $dog, $dog.age > 2 AND $dog.breed == 'mutt').@count == 1")
    let averages = people.filter("dogs.@avg.age == 4 AND ANY dogs.name == 'Bo'")
    // end
    #expect(oldToo.map(\.name) == old.map(\.name) && muttsToo.map(\.name) == mutts.map(\.name))
    #expect(keepersToo.count == 1 && averages.count == 1)
  }

  @Test("sorting, distinct values, aggregates, sections, and texts from outside")
  func more() throws {
    let folder = try Folder()
    let realm = try Kennel.filled(folder)
    let dogs = realm.objects(Dog.self)
    // sample: aggregates
    let oldest: Int? = dogs.max(ofProperty: "age")
    let sum = dogs.sum(of: \.age)
    let breeds = dogs.distinct(by: ["breed"]).map(\.breed)
    let byBreed = dogs.sectioned(by: \.breed)
    let sizes = byBreed.map { "\($0.key.rawValue): \($0.count)" }
    // end
    #expect(oldest == 8 && sum == 12 && breeds == [.mutt, .poodle])
    #expect(sizes == ["mutt: 2", "poodle: 1"])
    // sample: outside
    func answer(_ text: String) -> String {
      do {
        return "\(try dogs.filtered(by: text).count) dogs"
      } catch {
        return "\(error)"
      }
    }
    // end
    #expect(answer("age > 2") == "2 dogs")
    #expect(answer("age >").contains("1:6") && answer("legs == 4").contains("legs"))
  }
}
