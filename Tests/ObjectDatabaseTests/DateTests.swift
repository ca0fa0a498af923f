// DateTests.swift: a date that is kept is the date that comes back, wherever it is kept and however
// it is looked for. The story: 989 of 2,000 calls of Date() came back 0.12 µs off, so that a list
// did not contain what was appended, and `==` in Swift and in a query said different things.

import Foundation
import Testing

@testable import Engine
@testable import ObjectDatabase

private class Event: Object {
  @Persisted(primaryKey: true) var id = 0
  @Persisted var at = Date(timeIntervalSince1970: 0)
  @Persisted(indexed: true) var indexed: Date?
  @Persisted var mixed: AnyRealmValue
  @Persisted var list: List<Date>
  @Persisted var anys: List<AnyRealmValue>
  @Persisted var set: MutableSet<Date>
  @Persisted var map: Map<String, Date>
}

@Suite("dates")
struct DateTests {
  private static let dates: [Date] = {
    var dates: [Date] = [
      .distantPast, .distantFuture, Date(timeIntervalSince1970: -1.5),
      Date(timeIntervalSinceReferenceDate: 800_000_000.001),
      Date(timeIntervalSinceReferenceDate: .infinity), Date(timeIntervalSinceReferenceDate: -1e300),
      Date(timeIntervalSinceReferenceDate: .leastNonzeroMagnitude),
    ]
    for number in 0..<40 {
      let step = Double(number)
      dates.append(Date(timeIntervalSinceReferenceDate: 800_000_000 + step / 1_000))
      dates.append(Date(timeIntervalSinceReferenceDate: 800_000_000.5 + step * 0x1p-23))
      dates.append(Date(timeIntervalSince1970: 1_790_000_000 + step / 1_000))
      dates.append(Date(timeIntervalSinceReferenceDate: (step - 20) / 997))
      dates.append(Date(timeIntervalSinceReferenceDate: 8_388_608 + step * 0x1p-30))
    }
    return dates.sorted()
  }()

  private static func prepared() throws -> (Folder, Realm) {
    let folder = try Folder()
    let realm = try folder.realm([Event.self])
    try realm.write {
      for (id, date) in dates.enumerated() {
        let event = Event()
        event.id = id
        event.at = date
        event.indexed = date
        event.mixed = .date(date)
        event.list.append(objectsIn: [dates[0], date])
        event.anys.append(objectsIn: [.int(1), .date(date)])
        event.set.insert(objectsIn: [date, dates[0], date])
        event.map["a"] = date
        realm.add(event)
      }
    }
    return (folder, realm)
  }

  @Test("a date comes back from every kind of property, and is found where it was put")
  func roundTrip() throws {
    let (_, realm) = try Self.prepared()
    for event in realm.objects(Event.self) {
      let date = Self.dates[event.id]
      #expect(event.at == date && event.indexed == date && event.mixed == .date(date))
      #expect(event.list[1] == date && event.map["a"] == date && event.anys[1] == .date(date))
      #expect(event.list.contains(date) && event.set.contains(date))
      #expect(event.list.index(of: date) == (date == Self.dates[0] ? 0 : 1))
      #expect(event.anys.index(of: .date(date)) == 1)
      #expect(event.set.count == (date == Self.dates[0] ? 1 : 2))
      #expect(event.set.min() == Self.dates[0] && event.set.max() == date)
    }
  }

  @Test("queries, sorts and indexes order dates as Swift does")
  func order() throws {
    let (_, realm) = try Self.prepared()
    let events = realm.objects(Event.self)
    for id in stride(from: 0, to: Self.dates.count, by: 5) {
      let date = Self.dates[id]
      let same = Self.dates.indices.filter { Self.dates[$0] == date }
      let below = Self.dates.indices.filter { Self.dates[$0] < date }
      let above = Self.dates.indices.filter { Self.dates[$0] > date }
      for name in ["at", "indexed", "mixed"] {
        #expect(events.filter("\(name) == %@", date).map(\.id) == same, "\(name)")
        #expect(Set(events.filter("\(name) < %@", date).map(\.id)) == Set(below), "\(name)")
        #expect(Set(events.filter("\(name) > %@", date).map(\.id)) == Set(above), "\(name)")
        #expect(
          events.filter("\(name) >= %@", date).count == same.count + above.count, "\(name)")
      }
      #expect(events.where { $0.at == date }.map(\.id) == same)
      #expect(events.where { $0.indexed <= date }.count == below.count + same.count)
      #expect(events.filter("ANY list == %@", date).contains { $0.id == id })
    }
    for name in ["at", "indexed", "mixed"] {
      #expect(events.sorted(byKeyPath: name).map { Self.dates[$0.id] } == Self.dates)
      #expect(events.filter("TRUEPREDICATE SORT(\(name) DESC)").map(\.at) == Self.dates.reversed())
    }
    #expect(events.min(ofProperty: "at") == Self.dates.first)
    #expect(events.max(ofProperty: "at") == Self.dates.last)
  }

  @Test("a date in words is the date: T@ with seconds since 2001")
  func words() throws {
    let (_, realm) = try Self.prepared()
    let events = realm.objects(Event.self)
    for id in stride(from: 0, to: Self.dates.count, by: 9) {
      let interval = Self.dates[id].timeIntervalSinceReferenceDate
      #expect(try events.filtered(by: "at == T@\(interval)").contains { $0.id == id })
    }
    for text in ["at == T@", "at == T@abc", "at == T@1.5.5"] {
      #expect(throws: (any Error).self, "\(text)") { _ = try events.filtered(by: text).count }
    }
  }

  @Test("the date that is not a time is kept, before all others")
  func noTime() throws {
    let (_, realm) = try Self.prepared()
    try realm.write {
      realm.create(
        Event.self, value: ["id": -1, "at": Date(timeIntervalSinceReferenceDate: .nan)])
    }
    let first = try #require(realm.objects(Event.self).sorted(byKeyPath: "at").first)
    #expect(first.id == -1 && first.at.timeIntervalSinceReferenceDate.isNaN)
  }
}
