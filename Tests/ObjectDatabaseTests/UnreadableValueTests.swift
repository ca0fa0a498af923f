// UnreadableValueTests.swift: a file that a newer program wrote, in which enumerations have other
// cases and integers more bits. What it holds is an error that the program can catch.

import FoundationEssentials
import Testing

@testable import Engine
@testable import ObjectDatabase

private enum Color: Int, PersistableEnum {
  case red = 1
  case green = 2
}

private enum NewColor: Int, PersistableEnum {
  case red = 1
  case green = 2
  case blue = 3
}

private struct Paint: CustomPersistable {
  var color: Color
  init(persistedValue: Color) { color = persistedValue }
  var persistableValue: Color { color }
}

private enum New {
  class Thing: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var color = NewColor.blue
    @Persisted var maybe: NewColor? = .blue
    @Persisted var paint = NewColor.blue
    @Persisted var small = 300
    @Persisted var maybeSmall: Int? = 300
    @Persisted var list: List<NewColor>
    @Persisted var maybes: List<NewColor?>
    @Persisted var set: MutableSet<NewColor>
    @Persisted var map: Map<String, NewColor>
    override class func _realmObjectName() -> String? { "Thing" }
  }
}

private enum Old {
  class Thing: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var color = Color.green
    @Persisted var maybe: Color?
    @Persisted var paint = Paint(persistedValue: .red)
    @Persisted var small: Int8
    @Persisted var maybeSmall: Int8?
    @Persisted var list: List<Color>
    @Persisted var maybes: List<Color?>
    @Persisted var set: MutableSet<Color>
    @Persisted var map: Map<String, Color>
    override class func _realmObjectName() -> String? { "Thing" }
  }
}

@Suite("values of a newer program")
struct UnreadableValueTests {
  private typealias Read = (Old.Thing) -> Void

  private static var reads: [(what: String, read: Read)] {
    [
      ("color", { _ = $0.color }), ("paint", { _ = $0.paint }), ("small", { _ = $0.small }),
      ("maybeSmall", { _ = $0.maybeSmall }), ("list", { _ = $0.list[0] }),
      ("list", { for _ in $0.list {} }), ("set", { for _ in $0.set {} }),
      ("map", { _ = $0.map["a"] }), ("map", { for _ in $0.map {} }),
    ]
  }

  /// Reads of what is derived from collections and classes.
  private static var otherReads: [(property: String, read: Read)] {
    [
      ("list", { _ = $0.list.sorted()[0] }), ("list", { _ = $0.list.sorted().first }),
      ("list", { _ = Array($0.list.distinct()) }), ("set", { _ = $0.set[0] }),
      ("map", { _ = $0.map.values }), ("list", { _ = $0.list.freeze().first }),
      (
        "small",
        { thing in
          let least: Int8? = thing.realm?.objects(Old.Thing.self).min(ofProperty: "small")
          _ = least
        }
      ),
    ]
  }

  /// A file with one thing, written by the newer program.
  private static func prepared() throws -> Folder {
    let folder = try Folder()
    let realm = try folder.realm([New.Thing.self])
    try realm.write {
      let thing = realm.create(New.Thing.self, value: ["id": 1])
      thing.list.append(.blue)
      thing.maybes.append(.blue)
      thing.set.insert(.blue)
      thing.map["a"] = .blue
    }
    return folder
  }

  @Test("reading throws, with class, property and value, and the realm goes on")
  func reading() throws {
    let folder = try Self.prepared()
    let realm = try folder.realm([Old.Thing.self])
    let thing = try #require(realm.object(ofType: Old.Thing.self, forPrimaryKey: 1))
    for (what, read) in Self.reads {
      let error = #expect(throws: Realm.Error.self, "\(what)") { try realm.reading { read(thing) } }
      #expect(error?.code == .invalidValue)
      let value = what.hasSuffix("mall") ? " 300 " : " 3 "
      #expect(error?.message.contains(value) == true, "\(error?.message ?? "")")
    }
    for (property, read) in Self.reads + Self.otherReads {
      let named = #expect(throws: Realm.Error.self) { try realm.reading { read(thing) } }
      let prefix = "Thing.\(property) holds "
      #expect(named?.message.hasPrefix(prefix) == true, "\(named?.message ?? "")")
    }
    #expect(try realm.reading { thing.id } == 1)
    // Nobody sees later what was made of defaults.
    let sections = realm.objects(Old.Thing.self).sectioned(by: \.color)
    #expect(throws: Realm.Error.self) { try realm.reading { sections.count } }
    #expect(throws: Realm.Error.self) { try realm.reading { sections.count } }
    let frozen = thing.freeze()
    #expect(throws: Realm.Error.self) { try realm.reading { _ = frozen.color } }
  }

  @Test("an optional enumeration is nil there, in collections too; the raw value is told by name")
  func optionals() throws {
    let folder = try Self.prepared()
    let realm = try folder.realm([Old.Thing.self])
    let thing = try #require(realm.objects(Old.Thing.self).first)
    #expect(thing.maybe == nil && Array(thing.maybes) == [nil])
    #expect(thing["color"] as? Int == 3 && thing["maybe"] as? Int == 3)
    #expect(realm.objects(Old.Thing.self).filter("color == 3").count == 1)
  }

  @Test("a write that reads one fails, and leaves what was there")
  func writing() throws {
    let folder = try Self.prepared()
    let realm = try folder.realm([Old.Thing.self])
    let thing = try #require(realm.objects(Old.Thing.self).first)
    for (what, read) in Self.reads {
      let error = #expect(throws: Realm.Error.self, "\(what)") {
        try realm.write {
          thing.maybe = .green
          read(thing)
        }
      }
      #expect(error?.code == .invalidValue)
    }
    #expect(throws: Realm.Error.self) {
      try realm.reading { try realm.write { thing.small = Int8(thing.color.rawValue) } }
    }
    #expect(thing["maybe"] as? Int == 3 && thing["small"] as? Int == 300)
    // Inside of a transaction the error is the block's, which goes on.
    try realm.write {
      #expect(throws: Realm.Error.self) { try realm.reading { _ = thing.color } }
      thing.color = .red
    }
    #expect(thing.color == .red)
  }

  @Test("observed sections whose keys cannot be read are an error of the observer")
  func sections() throws {
    let folder = try Self.prepared()
    let realm = try folder.realm([Old.Thing.self])
    let sections = realm.objects(Old.Thing.self).sectioned(by: \.color)
    var told: [String] = []
    func note<Collection>(_ change: SectionedResultsChange<Collection>) {
      switch change {
      case .initial: told.append("initial")
      case .update: told.append("update")
      case .error(let error): told.append("\(error)")
      }
    }
    let first = sections.observe { note($0) }
    realm.refresh()
    #expect(told.count == 1 && told.first?.contains("Thing.color holds 3") == true, "\(told)")
    // A newer program changes what could be read.
    told = []
    try realm.write { realm.objects(Old.Thing.self).first?.color = .red }
    let second = sections.observe { note($0) }
    realm.refresh()
    #expect(told == ["initial"] && sections.count == 1)
    try realm.write {
      realm.objects(Old.Thing.self).first?["color"] = Color.green
      let thing = try #require(realm.objects(Old.Thing.self).first)
      try realm.core.write?.set(.int(3), in: "Thing", key: thing.rowKey, column: "color")
    }
    realm.refresh()
    #expect(told.count == 2 && told.last?.contains("Thing.color holds 3") == true, "\(told)")
    try realm.write { realm.objects(Old.Thing.self).first?.color = .red }
    realm.refresh()
    #expect(told.count == 2, "the error was the last call")
    first.invalidate()
    second.invalidate()
  }

  @Test("outside of both the process ends, with the remedy")
  func trap() async throws {
    let message = MisuseProbe.message {
      do {
        let folder = try Self.prepared()
        let realm = try folder.realm([Old.Thing.self])
        _ = realm.objects(Old.Thing.self).first?.color
      } catch { Issue.record(error) }
    }
    #expect(message?.contains("Thing.color holds 3") == true)
    #expect(message?.contains("realm.reading") == true)
  }
}
