// ObjectDeclaration.swift: how an actor opens a realm over Faultline's own classes: the version of
// the classes in its program, and what it does when the file has another.

import LabCore

/// How an actor opens a realm.
package struct ObjectDeclaration: Sendable, Hashable, Codable {
  /// The version of its classes, 1 or 2 (docs/reference/scenarios.md, "Objects").
  package var schemaVersion: UInt64 = 1
  /// The migration block for an older file.
  package var migration = DeclaredMigration.none
  /// Whether all data is deleted if a migration would be needed.
  package var deletesIfNeeded = false
  /// The name of the copy that is used when there is no file.
  package var seed: String?
  /// Whether the open itself creates the realm; otherwise the following transaction does.
  package var joins = true

  /// Version 1, without a block.
  package init() {}

  /// Versions of Faultline's classes.
  package static let versions: ClosedRange<Int64> = 1...2
}

/// A predefined migration block.
package enum DeclaredMigration: String, Sendable, Hashable, Codable, CaseIterable {
  /// No block, so no data may be lost.
  case none
  /// An empty block, so properties that version 2 does not have are lost.
  case empty
  /// Renames `Person.name`, fills `Dog.breed` from removed data, and adds a dog for each person.
  case full
}

/// A column type of Faultline's classes that tables of a scenario cannot have.
package enum ObjectColumn: String, Sendable, Hashable, Codable, CaseIterable {
  /// `Person.home`: an embedded object with a list of others, which link to crates, or null.
  case home
  /// `Person.dogs`: a list of links.
  case dogs
  /// `Person.nicknames`: a set of texts.
  case nicknames
  /// `Person.scores`: a map from texts to numbers.
  case scores
  /// `Crate.content`: any value, also links, and lists and dictionaries of them, nested.
  case content
}

/// Faultline's classes, as statements see them: one row for each object, by its primary key.
package enum ObjectClasses {
  /// The word in a scenario's `schema` that selects them.
  package static let word = "objects"

  package static let person = "Person"
  package static let dog = "Dog"
  package static let address = "Address"
  package static let room = "Room"
  package static let crate = "Crate"
  /// The key of a mapping that is a link to a dog, and no dictionary, in a content.
  ///
  /// RealmSwift refuses keys of dictionaries that begin with a dollar sign, and so do scenarios.
  package static let linkKey = "$dog"
  /// The table with the lists and dictionaries in mixed values.
  package static let collectionTable = "__mixed"

  /// The classes that statements write to.
  package static let tables: [TableDeclaration] = [
    TableDeclaration(
      name: person, key: "_id",
      columns: [column("name", .string), column("age", .int)]
        + [.home, .dogs, .nicknames, .scores].map { column($0) }),
    TableDeclaration(
      name: dog, key: "_id",
      columns: [column("name", .string), column("age", .int), owner, weight]),
    TableDeclaration(name: crate, key: "_id", columns: [column(.content)]),
  ]

  /// The table for Faultline's own commits: it is the same in every version.
  static let sentinelTable = TableDeclaration(
    name: "__realm", key: "key", columns: [column("schemaVersion", .int)])

  private static var owner: ColumnDeclaration {
    var owner = column("owner", .link)
    owner.isOptional = true
    owner.target = person
    return owner
  }

  private static var weight: ColumnDeclaration {
    var weight = column("weight", .int)
    weight.isOptional = true
    return weight
  }

  private static func column(_ kind: ObjectColumn) -> ColumnDeclaration {
    var column = column(kind.rawValue, .mixed)
    column.objects = kind
    column.isOptional = kind.empty == .null
    return column
  }

  private static func column(_ name: String, _ type: DeclaredType) -> ColumnDeclaration {
    ColumnDeclaration(name: name, type: type)
  }
}

extension ObjectColumn {
  /// A value of the column.
  ///
  /// Links refer to existing objects, with keys in `targets`. Without a `range`, the number of
  /// elements is drawn as well, and every fourth home is null.
  func draw(
    _ range: ClosedRange<Int>?, targets: [Int64], _ generator: inout PRNG
  ) -> PlannedValue {
    let count = range.map { Int.random(in: $0, using: &generator) } ?? Int(generator.below(4))
    switch self {
    case .home:
      if range == nil, generator.below(4) == 0 { return .null }
      let city = PlannedValue.string(Self.word(&generator))
      let rooms = (0..<count).map { _ in
        let (name, size) = (Self.word(&generator), Int64(generator.below(90)))
        let hasChest = !targets.isEmpty && generator.below(3) > 0
        let chest = hasChest ? .link(targets[generator.below(targets.count)]) : PlannedValue.null
        return PlannedValue.list([.string(name), .int(size), chest])
      }
      return .list([city, .list(rooms)])
    case .dogs:
      guard !targets.isEmpty else { return .list([]) }
      return .list(
        (0..<count).map { _ in .int(targets[generator.below(targets.count)]) })
    case .nicknames:
      return .list(Self.words(count, &generator).map { .string($0) })
    case .scores:
      return .list(
        Self.words(count, &generator).map {
          .list([.string($0), .int(Int64(generator.below(1000)))])
        })
    case .content: return .drawContent(dogs: targets, &generator)
    }
  }

  private static func word(_ generator: inout PRNG) -> String {
    String(decoding: (0..<6).map { _ in UInt8(97 + generator.below(26)) }, as: UTF8.self)
  }

  /// Distinct words, ascending.
  private static func words(_ count: Int, _ generator: inout PRNG) -> [String] {
    Set((0..<count).map { _ in word(&generator) }).sorted()
  }

  /// The class whose objects a drawn value may link to.
  var target: String? {
    switch self {
    case .home: ObjectClasses.crate
    case .dogs, .content: ObjectClasses.dog
    case .nicknames, .scores: nil
    }
  }

  /// The column's value when no statement has filled it.
  var empty: PlannedValue { self == .home || self == .content ? .null : .list([]) }
}
