// LinkOracle.swift: no link dangles: deleting an object also removes the links to it.

import Findings

package enum LinkOracle {
  package static func judge(_ rows: ObjectRows) -> Violation? {
    for (key, person) in rows.people.sorted(by: { $0.key < $1.key }) {
      for link in person.links("dogs") where rows.dogs[link] == nil {
        return broken("Person in row \(key) has the dog in row \(link) in its list")
      }
      if let home = person.link("home"), rows.addresses[home] == nil {
        return broken("Person in row \(key) has the home in row \(home)")
      }
    }
    for (key, room) in rows.rooms.sorted(by: { $0.key < $1.key }) {
      if let chest = room.link("chest"), rows.crates[chest] == nil {
        return broken("Room in row \(key) has the chest in row \(chest)")
      }
    }
    for (key, dog) in rows.dogs.sorted(by: { $0.key < $1.key }) {
      if let owner = dog.link("owner"), rows.people[owner] == nil {
        return broken("Dog in row \(key) has the owner in row \(owner)")
      }
    }
    return nil
  }

  private static func broken(_ what: String) -> Violation {
    Violation(.objects, promised: "no link dangles", got: "\(what), which is not there")
  }
}
