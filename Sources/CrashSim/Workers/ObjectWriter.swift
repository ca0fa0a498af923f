// ObjectWriter.swift: performs the statements of a transaction through the object database, so that
// every kind of call is used: objects are added, created and changed; lists are updated by inserts,
// moves and removals.

import ObjectDatabase
import Workload

/// Writes to a realm whose write transaction is open.
struct ObjectWriter<Classes: Kennel> {
  let realm: Realm

  /// Performs a statement.
  /// - Throws: `ObjectMisfit` when the object does not exist.
  func apply(_ mutation: Mutation) throws {
    let id = Int(mutation.key)
    let present = object(id, of: mutation.table)
    switch mutation.kind {
    case .delete:
      guard let present else { throw missing(mutation) }
      realm.delete(present)
      return
    case .update where present == nil: throw missing(mutation)
    case .insert, .update, .upsert: break
    }
    let isNew = present == nil || mutation.kind == .insert
    switch mutation.table {
    case ObjectClasses.person: writePerson(id, mutation.values, isNew: isNew)
    case ObjectClasses.crate:
      if let edit = mutation.edit {
        try self.edit(id, edit)
      } else {
        writeCrate(id, mutation.values.first ?? .null, isNew: isNew)
      }
    default: writeDog(id, mutation.values, mayBeThere: mutation.kind != .insert)
    }
  }

  private func missing(_ mutation: Mutation) -> ObjectMisfit {
    ObjectMisfit(
      code: "keyNotFound", message: "there is no \(mutation.table) with key \(mutation.key)")
  }

  private func object(_ id: Int, of table: String) -> Object? {
    switch table {
    case ObjectClasses.person: person(id)
    case ObjectClasses.crate: crate(id)
    default: dog(id)
    }
  }

  private func person(_ id: Int) -> Classes.Person? {
    realm.object(ofType: Classes.Person.self, forPrimaryKey: id)
  }

  func dog(_ id: Int) -> Classes.Dog? {
    realm.object(ofType: Classes.Dog.self, forPrimaryKey: id)
  }

  // MARK: dogs

  private func writeDog(_ id: Int, _ values: [PlannedValue], mayBeThere: Bool) {
    guard values.count == 4, case .string(let name) = values[0], let age = values[1].number
    else { return }
    let dog = realm.create(
      Classes.Dog.self, value: ["_id": id, "name": name, "age": Int(age)],
      update: mayBeThere ? .modified : .error)
    // The transaction failed: the object does not belong to the realm.
    guard dog.realm != nil else { return }
    Classes.setOwner(of: dog, to: values[2].number.flatMap { person(Int($0)) })
    dog.weightIfAny = values[3].number.map { Int($0) }
  }

  // MARK: people

  private func writePerson(_ id: Int, _ values: [PlannedValue], isNew: Bool) {
    guard values.count == 6, case .string(let name) = values[0], let age = values[1].number
    else { return }
    let person = isNew ? Classes.person(id) : self.person(id)
    guard let person else { return }
    person.label = name
    person.age = Int(age)
    if home(person) != values[2] { person.home = address(values[2]) }
    fill(person.nicknames, with: values[4].elements.compactMap(\.text))
    fill(person.scores, with: values[5].elements)
    let dogs = values[3].elements.compactMap { $0.number.flatMap { dog(Int($0)) } }
    if isNew {
      Classes.dogs(of: person).append(objectsIn: dogs)
      realm.add(person)
    } else {
      fill(Classes.dogs(of: person), with: dogs)
    }
  }

  private func home(_ person: Classes.Person) -> PlannedValue {
    guard let home = person.home else { return .null }
    let rooms = home.rooms.map { room in
      let chest = room.chest.map { PlannedValue.link(Int64($0._id)) } ?? .null
      return PlannedValue.list([.string(room.name), .int(Int64(room.size)), chest])
    }
    return .list([.string(home.city), .list(Array(rooms))])
  }

  private func address(_ value: PlannedValue) -> Address? {
    guard value.elements.count == 2, let city = value.elements[0].text else { return nil }
    let address = Address()
    address.city = city
    for element in value.elements[1].elements {
      guard element.elements.count == 3, let name = element.elements[0].text,
        let size = element.elements[1].number
      else { continue }
      let room = Room()
      room.name = name
      room.size = Int(size)
      room.chest = element.elements[2].number.flatMap { crate(Int($0)) }
      address.rooms.append(room)
    }
    return address
  }

  private func fill(_ set: MutableSet<String>, with wanted: [String]) {
    for name in Array(set) where !wanted.contains(name) { set.remove(name) }
    for name in wanted where !set.contains(name) { set.insert(name) }
  }

  private func fill(_ map: Map<String, Int>, with wanted: [PlannedValue]) {
    var left = map.keys
    for entry in wanted {
      guard entry.elements.count == 2, let key = entry.elements[0].text,
        let number = entry.elements[1].number
      else { continue }
      left.removeAll { $0 == key }
      if map[key] != Int(number) { map[key] = Int(number) }
    }
    for key in left { map.removeObject(for: key) }
  }

  private func fill(_ list: List<Classes.Dog>, with wanted: [Classes.Dog]) {
    for (place, dog) in wanted.enumerated() {
      if place < list.count, list[place]._id == dog._id { continue }
      let later = (place..<max(place, list.count)).first { list[$0]._id == dog._id }
      if let later {
        list.move(from: later, to: place)
      } else {
        list.insert(dog, at: place)
      }
    }
    while list.count > wanted.count { list.removeLast() }
  }
}

extension PlannedValue {
  /// The string of a text value.
  fileprivate var text: String? { if case .string(let text) = self { text } else { nil } }
}
