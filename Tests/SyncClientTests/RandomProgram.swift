// RandomProgram.swift: draws changes of a realm: every way to change a row that the object database
// has, on few objects, so that they meet.

import FoundationEssentials
import ObjectDatabase

extension Realm {
  /// Commits; a transaction that makes two objects with one primary key leaves nothing.
  func commitUnlessRefused() throws {
    do { try commitWrite() } catch let error as Realm.Error where error.code == .invalidValue {}
  }
}

/// Draws changes from a seed.
struct RandomProgram {
  private var random: TestRandom
  private let seed: UInt64
  private var lastStamp = 0
  let realm: Realm

  init(_ seed: UInt64, _ realm: Realm) {
    random = TestRandom(seed: seed)
    self.seed = seed
    self.realm = realm
  }

  mutating func chance(_ percent: Int) -> Bool { random.below(100) < percent }

  mutating func below(_ end: Int) -> Int { random.below(end) }

  /// One change inside of a write transaction.
  mutating func change() {
    switch random.below(100) {
    case 0..<12: create()
    case 12..<16: bulk()
    case 16..<23: delete()
    case 23: if chance(10) { realm.deleteAll() }
    default: if let thing = thing() { change(thing) } else { create() }
    }
  }

  private mutating func thing() -> Thing? {
    let all = realm.objects(Thing.self)
    return all.isEmpty ? nil : all[random.below(all.count)]
  }

  private mutating func tag() -> Tag {
    let name = ["a", "b", "c", "é"][random.below(4)]
    if let known = realm.object(ofType: Tag.self, forPrimaryKey: name) { return known }
    let tag = Tag()
    tag.name = name
    if chance(30) { tag.owner = thing() }
    if chance(50) { realm.add(tag) }
    return tag
  }

  private mutating func bit() -> Bit {
    let bit = Bit()
    bit.value = random.below(9)
    if chance(40) { bit.thing = thing() }
    return bit
  }

  private mutating func part() -> Part {
    let part = Part()
    if chance(70) { part.size = random.below(9) }
    if chance(30) { part.maker = tag() }
    for _ in 0..<random.below(3) { part.names.append(text()) }
    for _ in 0..<random.below(3) { part.bits.append(bit()) }
    if chance(40) { part.main = bit() }
    return part
  }

  private mutating func text() -> String { ["", "x", "longer text", "ü", "y"][random.below(5)] }

  private mutating func any() -> AnyRealmValue {
    switch random.below(7) {
    case 0: .none
    case 1: .int(random.below(4))
    case 2: .double(Double(random.below(4)))
    case 3: .string(text())
    case 4: .bool(chance(50))
    case 5: .date(Date(timeIntervalSince1970: Double(random.below(4))))
    default: .decimal128(Decimal128(random.below(4)))
    }
  }

  private mutating func freshThing() -> Thing {
    let thing = Thing()
    thing.id = random.below(7)
    if chance(30) { thing.number = random.below(9) }
    if chance(30) { thing.next = self.thing() }
    if chance(30) { thing.tag = tag() }
    if chance(30) { thing.part = part() }
    for _ in 0..<random.below(3) { thing.numbers.append(random.below(5)) }
    for _ in 0..<random.below(3) { thing.parts.append(part()) }
    if chance(20) { thing.tags.insert(tag()) }
    if chance(20) { thing.counts[text()] = random.below(5) }
    if chance(20) { thing.rooms[text()] = part() }
    return thing
  }

  private mutating func create() {
    let policy: Realm.UpdatePolicy = chance(50) ? .modified : .all
    switch random.below(4) {
    case 0:
      var values: [String: Any] = ["id": random.below(7)]
      if chance(50) { values["number"] = random.below(5) }
      if chance(50) { values["numbers"] = [1, random.below(3)] }
      if chance(50) { values["members"] = [1, random.below(3)] }
      if chance(50) { values["counts"] = ["k": random.below(3), text(): 1] }
      if chance(40) {
        values["part"] = ["size": 3, "names": ["n"], "bits": [["value": 1]], "main": ["value": 2]]
      }
      if chance(40) { values["parts"] = [["size": 1], ["bits": [["value": random.below(9)]]]] }
      if chance(30) { values["tag"] = ["name": "t"] }
      if chance(30) { values["rooms"] = ["r": ["size": 1]] }
      realm.create(Thing.self, value: values, update: policy)
    case 1:
      realm.dynamicCreate("Thing", value: ["id": random.below(7), "text": text()], update: policy)
    default: realm.add(freshThing(), update: policy)
    }
  }

  private mutating func bulk() {
    let (first, text, some) = (lastStamp, text(), random.below(3))
    lastStamp += 4
    if chance(50) {
      realm.create(Stamp.self, count: 4) { stamp, index in
        stamp.name = "\(seed) \(first + index)"
        if index > some { stamp.count = index }
        if index < some { stamp.text = text }
      }
    } else {
      for index in 0..<4 {
        let stamp = Stamp()
        stamp.name = "\(seed) \(first + index)"
        stamp.weight = Double(index) / 3
        if index == some { stamp.note = text }
        realm.add(stamp)
      }
    }
    // What comes next is about the same object, or field.
    if let stamp = realm.objects(Stamp.self).last {
      if chance(50) { stamp.day = Date(timeIntervalSince1970: 5) }
      if chance(30) { realm.delete(stamp) }
    }
    if chance(20) { realm.delete(realm.objects(Stamp.self)) }
  }

  private mutating func delete() {
    switch random.below(4) {
    case 0: if let tag = realm.objects(Tag.self).last { realm.delete(tag) }
    case 1: if let part = thing()?.part { realm.delete(part) }
    case 2: if let parts = thing()?.parts, let part = parts.first { realm.delete(part) }
    default: if let thing = thing() { realm.delete(thing) }
    }
    if chance(10) { realm.delete(realm.objects(Tag.self)) }
  }

  private mutating func change(_ thing: Thing) {
    switch random.below(9) {
    case 0: plain(thing)
    case 1: thing.next = chance(70) ? self.thing() : nil
    case 2: thing.tag = chance(70) ? tag() : nil
    case 3: thing.part = chance(70) ? part() : nil
    case 4: list(thing)
    case 5: parts(thing)
    case 6: sets(thing)
    case 7: maps(thing)
    default: assign(thing)
    }
  }

  private mutating func plain(_ thing: Thing) {
    switch random.below(15) {
    case 0: if chance(50) { thing.number += 1 } else { thing.increment(\.number, by: 3) }
    case 1: thing.maybe = chance(50) ? nil : random.below(9)
    case 2: thing.flag.toggle()
    case 3: thing.ratio = chance(20) ? .nan : Double(random.below(9)) / 3
    case 4: thing.half = chance(20) ? -0 : Float(random.below(9)) / 3
    case 5: thing.text = text()
    case 6: thing.note = chance(50) ? nil : text()
    case 7: thing.bytes = Data([UInt8(random.below(256))])
    case 8:
      thing.date = Date(timeIntervalSinceReferenceDate: Double(random.below(1000)) / 7_919_000)
    case 9: thing.token = ObjectId(timestampSeconds: 1, random: 2, counter: 3)
    case 10: thing.uuid = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7))
    case 11: thing.price = Decimal128(random.below(99))
    case 12: thing.any = any()
    case 13: thing.colour = Colour.allCases[random.below(3)]
    default: thing["text"] = text()
    }
  }

  private mutating func list(_ thing: Thing) {
    let numbers = thing.numbers
    let count = numbers.count
    switch random.below(11) {
    case 0: numbers.append(random.below(5))
    case 1: numbers.insert(random.below(5), at: random.below(count + 1))
    case 2: if count > 0 { numbers.remove(at: random.below(count)) }
    case 3: if count > 0 { numbers[random.below(count)] = random.below(5) }
    case 4: if count > 0 { numbers.move(from: random.below(count), to: random.below(count)) }
    case 5: if count > 0 { numbers.swapAt(random.below(count), random.below(count)) }
    case 6: numbers.removeAll()
    case 7: numbers.replaceSubrange(0..<min(1, count), with: [8, 9])
    case 8: thing.words.append(chance(50) ? nil : text())
    case 9: if let other = self.thing() { thing.things.append(other) }
    default: if !thing.things.isEmpty { thing.things.removeLast() }
    }
  }

  private mutating func parts(_ thing: Thing) {
    let parts = thing.parts
    let count = parts.count
    switch random.below(7) {
    case 0: parts.append(part())
    case 1: parts.insert(part(), at: random.below(count + 1))
    case 2: if count > 0 { parts.remove(at: random.below(count)) }
    case 3: if count > 0 { parts[random.below(count)] = part() }
    case 4: if count > 1 { parts.swapAt(random.below(count), random.below(count)) }
    case 5: if chance(30) { parts.removeAll() }
    default:
      let inner: Part?? = chance(50) ? thing.part : parts.first ?? thing.rooms.values.first ?? nil
      if let part = inner ?? nil { change(part) }
    }
  }

  private mutating func change(_ part: Part) {
    switch random.below(8) {
    case 0: part.size += 1
    case 1: part.maker = chance(60) ? tag() : nil
    case 2: part.names.append(text())
    case 3: part.bits.append(bit())
    case 4: if !part.bits.isEmpty { part.bits.remove(at: 0) }
    case 5: part.main = chance(60) ? bit() : nil
    case 6: part.main?.value = random.below(9)
    default: if let bit = part.bits.last { bit.thing = thing() }
    }
  }

  private mutating func sets(_ thing: Thing) {
    switch random.below(8) {
    case 0, 1: thing.members.insert(random.below(6))
    case 2: thing.members.remove(random.below(6))
    case 3: thing.members.removeAll()
    case 4: thing.tags.insert(tag())
    case 5: if let tag = thing.tags.first { thing.tags.remove(tag) }
    case 6: thing.anies.insert(any())
    default: thing.anies.remove(any())
    }
  }

  private mutating func maps(_ thing: Thing) {
    switch random.below(8) {
    case 0, 1: thing.counts[text()] = random.below(5)
    case 2: thing.counts[text()] = nil
    case 3: thing.counts.removeAll()
    case 4: thing.friends[text()] = .some(chance(70) ? self.thing() : nil)
    case 5: thing.rooms[text()] = .some(chance(80) ? part() : nil)
    case 6: thing.rooms[text()] = nil
    default: if chance(40) { thing.rooms.removeAll() }
    }
  }

  private mutating func assign(_ thing: Thing) {
    switch random.below(7) {
    case 0:
      let numbers = List<Int>()
      for _ in 0..<random.below(4) { numbers.append(random.below(5)) }
      thing.numbers = numbers
    case 1:
      let parts = List<Part>()
      for _ in 0..<random.below(3) { parts.append(part()) }
      thing.parts = parts
    case 2: thing["members"] = [random.below(5), 2]
    case 3: thing["counts"] = ["k": random.below(5)]
    case 4: thing["parts"] = [["size": 2, "main": ["value": 3]]]
    case 5: if let other = self.thing() { thing.things = other.things }
    default: thing["numbers"] = [random.below(5)]
    }
  }
}
