// LanguageTests.swift: what docs/reference/query-language.md says, example by example, over a few
// people with dogs: what passes, and which errors name which property and type.

import Engine
import Testing

@testable import Query
@testable import QueryReference

@Suite("The query language")
struct LanguageTests {
  /// Three people, two dogs, two places.
  private static func people() -> ReferenceTables {
    var data = ReferenceTables(tables: Kennel.tables)
    func person(_ number: Int, _ values: [String: Value]) {
      data.rows["Person", default: [:]][Int64(number)] = Kennel.person.columns.map { column in
        if let value = values[column.name] { return value }
        if column.name == "oid" { return .objectId(Kennel.objectId(number)) }
        switch column.collection {
        case .list: return .list([])
        case .set: return .set([])
        case .dictionary: return .dictionary([])
        case .none: break
        }
        if column.isOptional { return .null }
        return column.type == .float ? .float(0.1) : .int(Int64(number))
      }
    }
    person(
      1,
      [
        "name": .string("Ann Müller-Straße"), "score": .double(1.5), "pet": .link(1),
        "tags": .list([.string("Swift"), .null]), "numbers": .list([.int(1), .int(2), .int(3)]),
        "price": .decimal128(Decimal128("1.1")!), "home": .link(1),
        "thing": .string("x"), "blob": .binary([97, 98]),
        "born": .date(seconds: 86_400, nanoseconds: 5),
        "map": .dictionary([DictionaryEntry(key: "k", value: .int(7))]),
        "things": .list([.int(1), .string("a"), .typedLink(table: 3, key: 1)]),
      ])
    person(
      2,
      [
        "name": .string("Bob"), "boss": .link(1), "friends": .list([.link(1), .link(1), .link(3)]),
        "numbers": .list([.int(12)]), "thing": .double(2), "home": .link(2),
        "uid": .uuid(Kennel.uuid(2)),
      ])
    person(3, ["boss": .link(1), "isActive": .bool(true), "thing": .typedLink(table: 3, key: 1)])
    data.rows["Dog"] = [
      1: [.string("Rex"), .int(3), .double(.nan), .link(1), .list([])],
      2: [
        .null, .null, .double(2), .link(1),
        .list([.decimal128(Decimal128("1.1")!), .decimal128(Decimal128("2")!)]),
      ],
    ]
    data.rows["Place"] = [
      1: [.string("Point"), .list([.double(13.4), .double(52.5)])],
      2: [.string("Point"), .list([.double(-0.1), .double(51.5)])],
    ]
    return data
  }

  private static func keys(
    _ text: String, _ arguments: [Value] = [], table: String = "Person"
  ) throws -> [Int64] {
    let database = try Kennel.database(people(), "language \(text) \(table)")
    let snapshot = try database.snapshot()
    let query = try ParsedQuery(parsing: text).bound(
      to: Kennel.schema, table: table, arguments: arguments)
    let keys = try query.keys(in: snapshot)
    let write = try database.beginWrite()
    #expect(try query.keys(in: write) == keys, "in a write transaction")
    #expect(try query.count(in: write) == keys.count)
    write.cancel()
    snapshot.release()
    try database.close()
    return keys
  }

  static let examples: [(text: String, keys: [Int64])] = [
    // Comparison, nulls, numbers of several types.
    ("age > 1", [2, 3]), ("age == 1.0", [1]), ("age < 2.5", [1, 2]), ("age != 2", [1, 3]),
    ("name == null", [3]), ("name != 'Bob'", [1, 3]), ("name < 'B'", [1]),
    ("score >= null", [2, 3]),
    ("score > null", []), ("score < 2", [1]), ("NOT score < 2", [2, 3]),
    ("ratio == 0.1", [1, 2, 3]), ("ratio == 0.1f", [1, 2, 3]), ("price == 1.1", [1]),
    ("price == 1.10000000000000000000001", []), ("price == 1. OR price == .5", []),
    ("age BETWEEN {2, 3}", [2, 3]), ("age BETWEEN {3, 2}", []), ("age IN {1, 3, 'x'.@count}", []),
    ("age IN {1, 3}", [1, 3]), ("age == NONE {1, 3}", [2]), ("{1, 2} == age", [1, 2]),
    ("born == 1970-01-02@00:00:00:5", [1]), ("born > T86400:4", [1]), ("blob == 'ab'", [1]),
    ("uid == uuid(00000000-0000-0000-0000-000000000002)", [2]),
    // Strings.
    ("name BEGINSWITH 'Ann'", [1]), ("name ENDSWITH[c] 'STRASSE'", [1]), ("name CONTAINS 'ü'", [1]),
    ("name CONTAINS[c] 'MÜLLER'", [1]), ("name LIKE '?ob'", [2]), ("name LIKE[c] 'a*SS*'", [1]),
    ("name ==[c] 'BOB'", [2]), ("name !=[c] 'BOB'", [1, 3]), ("name CONTAINS ''", [1, 2]),
    ("name.@count == 3", [2]), ("blob BEGINSWITH 'a'", [1]), ("name TEXT 'müller'", [1]),
    ("name TEXT 'ann -bob'", [1]), ("name TEXT 'ann bob'", []), ("name TEXT 'strass*'", [1]),
    ("name TEXT '-ann'", [2]),
    // Arithmetic.
    ("age * 2 + 1 == 5", [2]), ("(age + 1) * 2 == 6", [2]), ("age / 2 == 1", [2, 3]),
    ("age / 0 == null", [1, 2, 3]), ("age + 9223372036854775807 == null", [1, 2, 3]),
    ("price + 1 == 2.1", [1]), ("numbers * 2 == 24", [2]), ("score + null == null", [1, 2, 3]),
    // Collections.
    ("numbers == 2", [1]), ("ALL numbers > 1", [2, 3]), ("NONE numbers > 1", [3]),
    ("ANY numbers > ALL {1, 2}", [1, 2]), ("ALL numbers IN {1, 2, 3}", [1, 3]),
    ("numbers == {1, 2, 3}", [1]), ("numbers == {3, 2, 1}", []), ("numbers == {}", [3]),
    ("numbers != {1, 2, 3}", [2, 3]), ("numbers != {1, 2, 4}", [1, 2, 3]), ("map == {7}", [1]),
    ("numbers < {2, 3, 4}", [1]), ("numbers <= {12}", [2]),
    ("friends.age == {1, 1, 3}", [2]), ("tags ==[c] {'swift', null}", [1]),
    ("ANY numbers == {3, 12}", [1, 2]), ("numbers == ANY {3, 12}", [1, 2]),
    ("numbers IN {3, 12}", [1, 2]), ("numbers == numbers", [1, 2, 3]),
    ("numbers.@count == 3", [1]), ("numbers.@sum == 6", [1]), ("numbers.@sum == 0", [3]),
    ("numbers.@avg == 2", [1]), ("numbers.@min == null", [3]), ("numbers.@max > 3", [2]),
    ("numbers[0] == 1", [1]), ("numbers[LAST] == 3", [1]), ("numbers[SIZE] == 1", [2]),
    ("numbers[9] == null", [1, 2, 3]), ("tags == null", [1]), ("friends.@count == 3", [2]),
    ("friends.@sum.age == 5", [2]), ("friends.age == 3", [2]),
    ("friends[0].name CONTAINS 'Ann'", [2]),
    ("map['k'] == 7", [1]), ("map.@keys == 'k'", [1]), ("map.@values == 7 AND map == 7", [1]),
    ("map['z'] == null", [1, 2, 3]), ("thing.@type == 'string'", [1]),
    ("thing.@type == 'numeric'", [2]), ("thing.@type IN {'object', 'double'}", [2, 3]),
    ("things.@type != 'int'", [1]), ("thing == 2", [2]), ("thing == obj('Dog', 1)", [3]),
    ("things == obj('Dog', O1)", [1]),
    // Links and backlinks.
    ("boss.name CONTAINS 'Ann'", [2, 3]),
    ("boss == obj('Person', oid(000000000000000000000001))", [2, 3]),
    ("boss == null", [1]), ("boss.name == null", [1]), ("boss == obj('Person', O9)", []),
    ("staff.@count == 2", [1]), ("@links.Person.boss.age == 3", [1]), ("@links.@count == 6", [1]),
    ("@links.Person.friends.@count == 2", [1]), ("ownedDogs.name == 'Rex'", [1]),
    ("SUBQUERY(staff, $x, $x.age > age AND $x.isActive == null).@count == 1", [1]),
    (
      "SUBQUERY(ownedDogs, $d, SUBQUERY($d.owner.staff, $p, $p.age > $d.age - 1).@count == 1)"
        + ".@count == 1",
      [1]
    ),
    ("isOn == true", [3]),
    // Behind mixed values, which lead to rows of any class.
    ("thing.name == 'Rex'", [3]), ("thing.age == 3", [3]), ("thing.owner.age == 1", [3]),
    ("thing.weight == null", [1, 2]), ("things.name == 'Rex'", [1]),
    ("thing.friends.@count == 0", [1, 2, 3]),
    ("NONE things.age == 3", [2, 3]), ("map['k'].name == null", [1, 2, 3]),
    // Marks.
    ("name CONTAINS[d] 'Muller'", [1]), ("name CONTAINS[d] 'muller'", []),
    ("name CONTAINS[cd] 'MULLER'", [1]), ("name BEGINSWITH[dc] 'ÄNN'", [1]),
    ("name ==[d] 'Böb'", [2]),
    // Places.
    ("home GEOWITHIN geoBox([0, 50], [20, 55])", [1]),
    ("home GEOWITHIN geoCircle([0, 51.5], 0.01)", [2]),
    ("home GEOWITHIN geoPolygon({[-1, 51], [-1, 52], [1, 52], [1, 51]})", [2]),
    (
      "home GEOWITHIN geoPolygon({[-20, 40], [-20, 60], [20, 60], [20, 40]}, "
        + "{[-1, 51], [-1, 52], [1, 52], [1, 51]})", [1]
    ),
    // What is done with the rows found.
    ("TRUEPREDICATE SORT(age DESC)", [3, 2, 1]), ("TRUEPREDICATE SORT(score ASC)", [2, 3, 1]),
    ("TRUEPREDICATE SORT(boss.age DESC, age DESC)", [3, 2, 1]),
    ("TRUEPREDICATE DISTINCT(boss) SORT(age DESC) LIMIT(1)", [2]),
    ("TRUEPREDICATE LIMIT(1) SORT(age DESC)", [1]), ("TRUEPREDICATE LIMIT(0)", []),
    ("TRUEPREDICATE SORT(friends.@count DESC) LIMIT(1)", [2]),
  ]

  @Test("means what its document says", arguments: examples)
  func means(text: String, keys: [Int64]) throws {
    if text.contains("'x'.@count") {
      #expect(throws: QueryError.self) { try Self.keys(text) }
      return
    }
    #expect(try Self.keys(text) == keys)
  }

  @Test("marks come off every scalar as Foundation takes them off")
  func marks() {
    var different: [String] = []
    // Alphabets, kana, Hangul in part, compatibility forms and music; of those that both tables
    // know, which need not be of one version of Unicode.
    let ranges: [ClosedRange<UInt32>] = [
      0x80...0x33FF, 0xAC00...0xAD00, 0xF900...0xFB50, 0x1D100...0x1D1FF,
    ]
    for number in ranges.joined() {
      guard let scalar = Unicode.Scalar(number), let age = scalar.properties.age, age.major < 15
      else { continue }
      // Between letters, so that nothing stands at an end.
      let text = "a\(scalar)b"
      if Text.withoutMarks(text) != ReferenceText.withoutMarks(text) {
        different.append("U+" + String(number, radix: 16))
      }
    }
    #expect(different.isEmpty)
  }

  @Test("asks the rows of a collection, in its order")
  func among() throws {
    let database = try Kennel.database(Self.people(), "among")
    let snapshot = try database.snapshot()
    let write = try database.beginWrite()
    let list: [Int64] = [3, 1, 9, 2, 3]
    for (text, keys) in [
      ("age > 1", [3, 2, 3]), ("TRUEPREDICATE", [3, 1, 2, 3]),
      ("age > 1 SORT(age ASC)", [2, 3, 3]),
      ("age > 1 DISTINCT(age)", [3, 2]), ("age > 1 LIMIT(1)", [3]),
    ] as [(String, [Int64])] {
      let query = try ParsedQuery(parsing: text).bound(to: Kennel.schema, table: "Person")
      #expect(try query.keys(among: list, in: snapshot) == keys, "\(text)")
      #expect(try query.keys(among: list, in: write) == keys, "\(text)")
    }
    write.cancel()
    snapshot.release()
    try database.close()
  }

  @Test("takes arguments of every kind")
  func arguments() throws {
    #expect(try Self.keys("age IN $0", [.list([.int(1), .int(3)])]) == [1, 3])
    #expect(try Self.keys("boss == $0", [.link(1)]) == [2, 3])
    #expect(try Self.keys("boss == $0", [.typedLink(table: 2, key: 1)]) == [2, 3])
    #expect(try Self.keys("thing == $0", [.typedLink(table: 3, key: 1)]) == [3])
    #expect(try Self.keys("boss IN $0", [.list([.link(1)])]) == [2, 3])
    #expect(try Self.keys("numbers[$0] == 12", [.int(0)]) == [2])
    #expect(try Self.keys("map[$0] == $1", [.string("k"), .int(7)]) == [1])
    #expect(try Self.keys("name TEXT $0", [.string("BOB")]) == [2])
    #expect(try Self.keys("ratio == $0", [.double(0.1)]) == [])
    #expect(try Self.keys("age BETWEEN $0", [.list([.int(2), .int(9)])]) == [2, 3])
    #expect(try Self.keys("ALL $0 > age", [.set([.int(2), .int(3)])]) == [1])
  }

  @Test("takes parts of the Earth as arguments")
  func shapes() throws {
    let database = try Kennel.database(Self.people(), "shapes")
    let snapshot = try database.snapshot()
    func place(_ longitude: Double, _ latitude: Double) -> QueryPlace {
      QueryPlace(longitude: longitude, latitude: latitude)
    }
    func keys(_ text: String, _ argument: QueryArgument) throws -> [Int64] {
      try ParsedQuery(parsing: text).bound(
        to: Kennel.schema, table: "Person", arguments: [argument]
      ).keys(in: snapshot)
    }
    let within = "home GEOWITHIN $0"
    #expect(try keys(within, .geoBox(place(20, 55), place(0, 50))) == [1])
    #expect(try keys(within, .geoCircle(place(0, 51.5), radius: 0.01)) == [2])
    let ring = [place(-1, 51), place(-1, 52), place(1, 52), place(1, 51)]
    #expect(try keys(within, .geoPolygon([ring])) == [2])
    for (text, argument) in [
      (within, .geoBox(place(181, 0), place(0, 0))), (within, .geoBox(place(0, .nan), place(0, 0))),
      (within, .geoCircle(place(0, 0), radius: -1)), (within, .geoPolygon([])),
      (within, .geoPolygon([[place(0, 0), place(0, 1)]])),
      ("home GEOWITHIN geoCircle([0, 0], $0)", .geoBox(place(0, 0), place(0, 0))),
    ] as [(String, QueryArgument)] {
      let error = #expect(throws: QueryError.self) { try keys(text, argument) }
      #expect(error?.code == .argument, "\(text) \(argument)")
    }
    let wrong = #expect(throws: QueryError.self) { try keys("age == $0", .geoPolygon([ring])) }
    #expect(wrong?.code == .type)
    snapshot.release()
    try database.close()
  }

  @Test(
    "names the property and its type where types do not fit",
    arguments: [
      ("age == 'x'", QueryError.Code.type, "int and string"),
      ("nam == 'x'", .unknownName, "Person has no property \"nam\"; it has name, age"),
      ("boss.nam == 'x'", .unknownName, "Person has no property \"nam\""),
      ("age.x == 1", .type, "Person.age is int; only links"), ("age BEGINSWITH 'x'", .type, "int"),
      ("ALL age == 1", .type, "ALL is for collections"), ("age IN 5", .type, "comes after IN"),
      ("isActive > false", .type, "bool and bool"), ("name + 1 == 2", .type, "name is string"),
      ("friends.@sum == 1", .type, "aggregate is for numbers"),
      ("age.@sum == 1", .type, "collection"),
      ("age.@count == 1", .type, "@count is for collections"), ("name LIKE 5", .type, "int"),
      ("name[0] == 'a'", .type, "Person.name is string"), ("map[0] == 1", .type, "dictionary of"),
      ("tags.@keys == 'a'", .type, "@keys comes after a dictionary"),
      ("map['a'].@keys == 'a'", .type, "@keys comes after a dictionary"),
      ("map['a'].@values == 'a'", .type, "@values comes after a dictionary"),
      ("numbers[0][SIZE] == 1", .type, "@count is for collections"),
      ("age == $0", .argument, "$0 is not there: the query got 0 arguments"),
      ("boss == obj('Cat', 1)", .unknownName, "no class \"Cat\"; there are Person, Dog, Place"),
      ("boss == obj('Dog', 1)", .type, "object Person and object Dog"),
      ("boss == obj('Person', 1)", .type, "the key is objectId, not int"),
      ("@links.Dog.name.@count == 1", .type, "Dog.name is string, which does not link to Person"),
      ("@links == 1", .type, "@links needs .@count"),
      ("@links.@links.@count == 1", .type, "@count comes after @links"),
      ("@links[SIZE] == 1", .type, "@count comes after @links"),
      ("friends.@links.@sum == 1", .type, "@count comes after @links"),
      ("@links.@count.@count == 1", .type, "nothing can follow"),
      ("$x.age == 1", .unknownName, "no variable $x"),
      ("SUBQUERY(numbers, $x, $x == 1).@count > 0", .type, "not a collection of objects"),
      (
        "SUBQUERY(friends, $x, SUBQUERY(friends, $x, $x.age == 1).@count > 0).@count > 0", .syntax,
        "$x is a variable"
      ),
      ("thing.@type == 'foo'", .type, "one of null, int"),
      ("thing.@type > 'int'", .type, "==, != and IN"),
      ("age IN {1, 'x'}", .type, "string and int"), ("age ==[c] 5", .type, "[c] is for strings"),
      ("TRUEPREDICATE SORT(friends.age ASC)", .type, "several values"),
      ("numbers + numbers == 1", .type, "one operand with several values"),
      ("thing.legs == 1", .unknownName, "no class has a property \"legs\""),
      ("thing.age.x == 1", .type, "no class has links under age"),
      ("thing.@links.Dog.owner.@count == 1", .type, "not after a mixed property"),
      ("age ==[d] 5", .type, "[d] is for strings"),
      ("age GEOWITHIN geoBox([0, 0], [1, 1])", .type, "GEOWITHIN"),
      ("home GEOWITHIN geoCircle([0, 91], 1)", .argument, "91: a latitude in degrees"),
      ("home GEOWITHIN geoPolygon({[0, 0], [1, 1], [0, 0]})", .argument, "three different points"),
      ("age BETWEEN {1, numbers}", .type, "several values"),
    ])
  func errors(text: String, code: QueryError.Code, part: String) throws {
    let query = try ParsedQuery(parsing: text)
    let error = #expect(throws: QueryError.self) {
      try query.bound(to: Kennel.schema, table: "Person")
    }
    #expect(error?.code == code)
    #expect(error?.message.contains(part) == true, "\(error?.description ?? "")")
  }

  @Test("stops a run at the bound that its caller sets, and says so")
  func stops() throws {
    let database = try Kennel.database(Self.people(), "stops")
    let snapshot = try database.snapshot()
    var query = try ParsedQuery(
      parsing: "SUBQUERY(staff, $x, SUBQUERY(staff, $y, $y.age > 0).@count > 0).@count > 0"
    ).bound(to: Kennel.schema, table: "Person")
    #expect(try query.count(in: snapshot) == 1)
    #expect(query.limits.stepsMax == QueryLimits.stepsDefault, "bounded unless somebody says so")
    query.limits.stepsMax = 10
    let error = #expect(throws: QueryError.self) { try query.count(in: snapshot) }
    #expect(error?.code == .limit)
    snapshot.release()
    let closed = #expect(throws: QueryError.self) {
      try ParsedQuery(parsing: "age > 0").bound(to: Kennel.schema, table: "Person")
        .count(in: snapshot)
    }
    #expect(closed?.code == .engine)
    #expect(closed?.engineError?.code == .closed)
    try database.close()
  }
}
