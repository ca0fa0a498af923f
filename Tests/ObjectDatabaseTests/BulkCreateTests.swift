// BulkCreateTests.swift: objects made by a block are what adding them one by one leaves, whatever
// the block does with the object that it gets.

import FoundationEssentials
import Synchronization
import Testing

@testable import ObjectDatabase

/// Every type that an object of one row can have.
private class Flat: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var bool: Bool
  @Persisted var int8: Int8
  @Persisted var int64: Int64
  @Persisted var float: Float
  @Persisted var double: Double
  @Persisted var string: String
  @Persisted var data: Data
  @Persisted var date: Date
  @Persisted var objectId: ObjectId
  @Persisted var uuid: UUID
  @Persisted var decimal: Decimal128
  @Persisted var mood: Mood
  @Persisted var heat: Kelvin
  @Persisted var optionalInt: Int?
  @Persisted var optionalString: String?
  @Persisted var optionalDate: Date?
  @Persisted var optionalMood: Mood?
}

/// Defaults that differ from object to object.
private class Stamped: Object {
  static let made = Mutex(0)
  static func next() -> Int {
    made.withLock { number in
      number += 1
      return number
    }
  }

  @Persisted var stamp = Stamped.next()
  @Persisted var word = "word \(Stamped.next())"
  @Persisted var mood = Mood.wild
  @Persisted var ratio = 0.5
  @Persisted var isNew = true
  @Persisted var maybe: Int? = 3
  @Persisted var plain: Int
  @Persisted(primaryKey: true) var id = UUID().uuidString
}

/// What counts its objects.
private class Counted: Object {
  static let made = Mutex(0)
  @Persisted var number: Int
  @Persisted var text: String

  required init() {
    super.init()
    Self.made.withLock { $0 += 1 }
  }
}

/// An object that is more than its row.
private class Noted: Object {
  @Persisted var number: Int
  var note = "new"
}

private struct Stop: Error {}

@Suite("objects made by a block")
struct BulkCreateTests {
  private static func text(_ object: ObjectBase) -> String {
    object.classInfo.properties.map { "\(String(describing: object[$0.name]))" }
      .joined(separator: " ")
  }

  // MARK: values

  @Test("objects are what adding them leaves", arguments: [0, 1, 2, 3, 100, 30_000])
  func many(count: Int) throws {
    let (folder, other) = (try Folder(), try Folder())
    let (realm, added) = (try folder.realm([Plain.self]), try other.realm([Plain.self]))
    func give(_ row: Plain, _ index: Int) {
      if index % 3 > 0 { row.number = index }
      if index % 5 > 0 { row.real = Double(index) / 4 }
      if index % 2 > 0 { row.text = "text \(index % 11) that is not a small one" }
      if index % 7 > 0 { row.flag = index % 2 == 0 }
      if index % 4 > 0 { row.small = Int8(index % 100) }
      if index % 6 > 0 { row.maybe = index }
      if index % 8 > 0 { row.maybeReal = nil }
    }
    try realm.write { realm.create(Plain.self, count: count) { give($0, $1) } }
    try added.write {
      for index in 0..<count {
        let row = Plain()
        give(row, index)
        added.add(row)
      }
    }
    let rows = realm.objects(Plain.self)
    #expect(rows.count == count)
    #expect(rows.map(Self.text) == added.objects(Plain.self).map(Self.text))
    try realm.write { realm.create(Plain.self, from: [1, 2, 3]) { $0.number = $1 } }
    #expect(rows.map(\.number).suffix(3) == [1, 2, 3] && rows.count == count + 3)
  }

  @Test("every type of a row, read back in the block and from the file")
  func types() throws {
    let folder = try Folder()
    let realm = try folder.realm([Flat.self])
    let (id, uuid) = (ObjectId.generate(), UUID())
    let date = Date(timeIntervalSince1970: 1_234.5)
    try realm.write {
      try realm.create(Flat.self, count: 40) { row, index in
        row.id = index
        guard index % 2 == 1 else {
          #expect(row.mood == .calm && row.string == "" && row.optionalInt == nil)
          return
        }
        (row.bool, row.int8, row.int64, row.float) = (true, -5, .min, 1.5)
        (row.double, row.string, row.data) = (-0.25, "text", Data([1, 2]))
        (row.date, row.objectId, row.uuid) = (date, id, uuid)
        row.decimal = try Decimal128(string: "1.50")
        (row.mood, row.heat) = (.wild, Kelvin(persistedValue: 21))
        (row.optionalInt, row.optionalString) = (index, "there")
        (row.optionalDate, row.optionalMood) = (date, .wild)
        #expect(row.id == index && row.bool && row.int8 == -5 && row.int64 == .min)
        #expect(row.float == 1.5 && row.double == -0.25 && row.string == "text")
        #expect(row.data == Data([1, 2]) && row.date == date && row.objectId == id)
        #expect(row.uuid == uuid && "\(row.decimal)" == "1.50" && row.mood == .wild)
        #expect(row.heat.degrees == 21 && row.optionalInt == index && row.optionalDate == date)
        #expect(row.optionalString == "there" && row.optionalMood == .wild)
      }
    }
    for row in realm.objects(Flat.self) {
      let isSet = row.id % 2 == 1
      #expect(row.bool == isSet && row.int8 == (isSet ? -5 : 0) && row.uuid == uuid || !isSet)
      #expect(row.string == (isSet ? "text" : "") && row.mood == (isSet ? .wild : .calm))
      #expect(row.optionalInt == (isSet ? row.id : nil) && (row.date == date) == isSet)
      #expect(row.optionalMood == (isSet ? .wild : nil) && row.data.count == (isSet ? 2 : 0))
      #expect(row.decimal == (isSet ? try Decimal128(string: "1.50") : .zero))
    }
    #expect(Set(realm.objects(Flat.self).map(\.objectId)).count == 21, "each has one of its own")
  }

  // MARK: defaults

  @Test("what is not set has the value of a new object, another one in each row")
  func defaults() throws {
    let folder = try Folder()
    let realm = try folder.realm([Stamped.self])
    try realm.write {
      realm.create(Stamped.self, count: 90) { row, index in
        switch index % 6 {
        case 0: break
        case 1: row.stamp = -index
        case 2: #expect(row.word.hasPrefix("word ") && row.mood == .wild && row.maybe == 3)
        case 3: #expect(row["ratio"] as? Double == 0.5 && row["isNew"] as? Bool == true)
        case 4: #expect(row.description.contains("mood = wild") && row.plain == 0)
        default:
          (row.stamp, row.word, row.mood, row.ratio) = (-index, "own", .calm, 2)
          (row.isNew, row.maybe, row.plain, row.id) = (false, nil, index, "id \(index)")
        }
      }
    }
    let rows = realm.objects(Stamped.self)
    #expect(rows.count == 90)
    for (index, row) in rows.enumerated() {
      let isOwn = index % 6 == 5
      #expect((row.stamp == -index) == (isOwn || index % 6 == 1) && (row.word == "own") == isOwn)
      #expect(row.mood == (isOwn ? .calm : .wild) && row.ratio == (isOwn ? 2 : 0.5))
      #expect(row.isNew == !isOwn && row.maybe == (isOwn ? nil : 3))
      #expect(row.plain == (isOwn ? index : 0) && (row.id == "id \(index)") == isOwn)
    }
    #expect(Set(rows.map(\.stamp)).count == 90 && Set(rows.map(\.id)).count == 90)
    #expect(Set(rows.map(\.word)).count == 76)
  }

  @Test("one object stands for all rows that nobody keeps")
  func reuse() throws {
    let folder = try Folder()
    let realm = try folder.realm([Counted.self])
    _ = Counted()
    Counted.made.withLock { $0 = 0 }
    try realm.write {
      realm.create(Counted.self, count: 1_000) { row, index in row.number = index }
    }
    #expect(Counted.made.withLock { $0 } == 1)
    #expect(realm.objects(Counted.self).map(\.number) == Array(0..<1_000))
  }

  // MARK: references

  @Test("an object that is kept is managed, and no other row's", arguments: [1, 2, 5])
  func kept(every step: Int) throws {
    let folder = try Folder()
    let realm = try folder.realm([Plain.self, Noted.self])
    var kept: [(object: Plain, index: Int)] = []
    weak var weakly: Plain?
    try realm.write {
      realm.create(Plain.self, count: 50) { row, index in
        #expect(row.realm == nil && row.number == 7 && row.text == "")
        (row.number, row.text) = (index, "row \(index)")
        if index % step == 0 { kept.append((row, index)) }
        if index == 30 { weakly = row }
      }
      #expect(weakly == nil || weakly?.number == 30, "never another row")
      for (object, index) in kept {
        #expect(object.realm == realm && object.number == index && object.text == "row \(index)")
        object.text += " changed"
      }
    }
    for (object, index) in kept { #expect(object.text == "row \(index) changed") }
    #expect(realm.objects(Plain.self).map(\.number) == Array(0..<50))
    try realm.write {
      realm.create(Noted.self, count: 20) { row, index in
        #expect(row.note == "new")
        (row.number, row.note) = (index, "note")
      }
    }
    #expect(realm.objects(Noted.self).map(\.number) == Array(0..<20))
  }

  @Test("a block that throws leaves the rows before its own, and the object as it set it")
  func throwing() throws {
    let folder = try Folder()
    let realm = try folder.realm([Stamped.self])
    var kept: Stamped?
    func make(_ last: Int) throws {
      try realm.create(Stamped.self, count: 20) { row, index in
        row.plain = index
        if index == last {
          kept = row
          throw Stop()
        }
      }
    }
    #expect(throws: Stop.self) { try realm.write { try make(9) } }
    #expect(realm.isEmpty && kept?.plain == 9 && kept?.realm == nil && kept?.maybe == 3)
    try realm.write { #expect(throws: Stop.self) { try make(9) } }
    #expect(realm.objects(Stamped.self).map(\.plain) == Array(0..<9))
    // It was given back when it was not complete.
    try realm.write { if let kept { realm.add(kept) } }
    #expect(realm.objects(Stamped.self).last?.mood == .wild && kept?.ratio == 0.5)
    try realm.write { #expect(throws: Stop.self) { try make(0) } }
    try realm.write {
      realm.add(Stamped())
      #expect(throws: Stop.self) { try make(5) }
      // Into the open batch.
      if let kept { realm.add(kept) }
    }
    let last = realm.objects(Stamped.self).last
    #expect(last?.plain == 5 && last?.mood == .wild && last?.isNew == true && last?.maybe == 3)
    #expect(realm.objects(Stamped.self).count == 17 && kept?.realm == realm)
  }

  // MARK: the realm in the block

  @Test("the block reads and changes the realm")
  func nested() throws {
    let folder = try Folder()
    let realm = try folder.realm([Plain.self, Keyed.self, Dog.self, Person.self])
    try realm.write {
      realm.create(Plain.self, count: 40) { row, index in
        row.number = index
        switch index % 8 {
        case 1: #expect(realm.objects(Plain.self).filter("number >= 0").count >= index)
        case 2: realm.add(Keyed(index, "between"))
        case 3: realm.create(Keyed.self, from: [100, 101]) { $0.id = index * 1_000 + $1 }
        case 4: realm.create(Plain.self, count: 2) { inner, _ in inner.number = -1 }
        case 5:
          realm.add(row)
          row.text = "added by the block"
        case 6: realm.objects(Plain.self).first?.text = "the first \(index)"
        default: break
        }
        #expect(row.number == index)
      }
    }
    let plain = realm.objects(Plain.self)
    #expect(plain.filter("number >= 0").map(\.number) == Array(0..<40))
    #expect(plain.filter("number == -1").count == 10 && plain.first?.text == "the first 38")
    #expect(plain.filter("text BEGINSWITH 'added'").map(\.number) == [5, 13, 21, 29, 37])
    #expect(realm.objects(Keyed.self).count == 15)
  }

  @Test("links, lists and embedded objects go with their objects")
  func links() throws {
    let folder = try Folder()
    let realm = try folder.realm([Company.self, Everything.self, Dog.self])
    try realm.write {
      let owner = realm.create(Person.self, value: ["name": "Ada"])
      realm.create(Dog.self, count: 10) { dog, index in
        dog.name = "dog \(index)"
        dog.owner = index % 2 == 0 ? owner : nil
        if index == 3 { dog.owner = Person() }
      }
      realm.create(Company.self, from: ["a", "b"]) { company, name in
        company.name = name
        company.seat = Address()
        company.seat?.street = "street \(name)"
        company.branches.append(Address())
      }
      realm.create(Everything.self, count: 4) { row, index in
        (row.id, row.any, row.ints) = (index, .int(index), List([index, 2]))
        row.words["key"] = "\(index)"
      }
    }
    let dogs = realm.objects(Dog.self)
    #expect(dogs.filter("owner.name == 'Ada'").count == 5 && dogs.filter("owner != nil").count == 6)
    #expect(realm.objects(Company.self).map { $0.seat?.street } == ["street a", "street b"])
    #expect(realm.objects(Address.self).count == 4)
    #expect(realm.objects(Everything.self).map { Array($0.ints) } == (0..<4).map { [$0, 2] })
    #expect(realm.objects(Everything.self).last?.words["key"] == "3")
  }

  // MARK: errors

  @Test("a primary key that comes twice fails the transaction, as one that is added")
  func duplicates() throws {
    let folder = try Folder()
    let realm = try folder.realm([Keyed.self])
    for ids in [[1, 2, 3, 2], [5, 4, 3, 2, 2], [1, 1]] {
      let error = #expect(throws: Realm.Error.self) {
        try realm.write { realm.create(Keyed.self, from: ids) { $0.id = $1 } }
      }
      let twice = ids.last ?? 0
      let message = error.map { "\($0)" } ?? ""
      #expect(message.contains("the primary key id = \(twice) already exists"))
      #expect(realm.isEmpty)
    }
    for policy in [Realm.UpdatePolicy.modified, .all] {
      try realm.write {
        realm.create(Keyed.self, from: 1...9, update: policy) { ($0.id, $0.text) = ($1, "old") }
        realm.create(Keyed.self, from: 5...12, update: policy) { ($0.id, $0.text) = ($1, "new") }
      }
      let texts = realm.objects(Keyed.self).sorted(byKeyPath: "id").map(\.text)
      #expect(texts == Array(repeating: "old", count: 4) + Array(repeating: "new", count: 8))
    }
    #expect(throws: Realm.Error.self) {
      try realm.write {
        realm.create(Keyed.self, from: 100...140) { row, id in
          row.id = id
          if id == 130 { row.text = String(repeating: "x", count: 1 << 24 + 1) }
        }
      }
    }
    #expect(realm.objects(Keyed.self).count == 12)
  }

  @Test("wrong callers", arguments: [0, 1, 2, 3])
  func misuse(kind: Int) async {
    await #expect(processExitsWith: kind == 0 ? .success : .failure) { [kind] in
      let realm = try Realm(configuration: Realm.Configuration(inMemoryIdentifier: "misuse"))
      func make() throws {
        try realm.create(Plain.self, count: 5) { row, index in
          row.number = index
          if kind == 1, index == 3 { try realm.commitWrite() }
          if kind == 2, index == 3 { realm.cancelWrite() }
        }
      }
      if kind == 3 { try make() } else { try realm.write { try make() } }
    }
  }
}
