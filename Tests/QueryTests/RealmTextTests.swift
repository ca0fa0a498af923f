// RealmTextTests.swift: texts as Realm's own documentation and users write them, kind by kind, with
// the rows that each finds among five; and texts that are errors, with the words that say why.

import Engine
import Testing

@testable import Query
@testable import QueryReference

@Suite("Texts of the Realm Query Language")
struct RealmTextTests {
  private static let columns: [ColumnSchema] = [
    ColumnSchema(name: "name", type: .string, isOptional: true),
    ColumnSchema(name: "data", type: .binary, isOptional: true),
    ColumnSchema(name: "more", type: .binary, isOptional: true),
    ColumnSchema(name: "seen", type: .date, isOptional: true),
    ColumnSchema(name: "day", type: .date, isOptional: true),
    ColumnSchema(name: "n", type: .int, isIndexed: true),
    ColumnSchema(name: "dollar", type: .int),
    ColumnSchema(name: "tens", type: .int),
    ColumnSchema(name: "odd", type: .int),
    ColumnSchema(name: "o", type: .int),
    ColumnSchema(name: "price", type: .decimal128, isOptional: true),
    ColumnSchema(name: "at", type: .date),
    ColumnSchema(name: "tags", type: .string, isOptional: true, collection: .list),
    ColumnSchema(name: "blobs", type: .binary, collection: .list),
    ColumnSchema(name: "ids", type: .string, collection: .set),
    ColumnSchema(name: "thing", type: .mixed),
    ColumnSchema(name: "anys", type: .mixed, collection: .list),
    ColumnSchema(name: "map", type: .mixed, collection: .dictionary),
    ColumnSchema(name: "link", type: .link, target: "Item"),
    ColumnSchema(name: "links", type: .link, collection: .list, target: "Item"),
  ]

  private static let schema = QuerySchema([
    QueryTable(
      TableSchema(name: "Item", columns: columns),
      aliases: [
        "tab\tdata": "more", "T399": "seen", "T2017-12-04": "day", "a$b": "dollar", "$c": "tens",
        "$": "odd", "O5": "o", "a-b": "tens",
      ])
  ])

  private static func text(_ text: String?) -> Value { text.map { .string($0) } ?? .null }

  private static func bytes(_ text: String?) -> Value {
    text.map { .binary(Array($0.utf8)) } ?? .null
  }

  private static func entry(_ key: String, _ value: Value) -> DictionaryEntry {
    DictionaryEntry(key: key, value: value)
  }

  /// The values of a row but for its links.
  private static func values(_ n: Int) -> [Value] {
    let names: [String?] = ["milk", "Oranges", nil, "", "bread"]
    let data: [String?] = ["knife", "plate", "fork", nil, ""]
    let more: [String?] = ["knife", nil, "fork", nil, nil]
    let seen: [Value] = [
      .null, .date(seconds: 5, nanoseconds: 0), .date(seconds: 399, nanoseconds: 0), .null, .null,
    ]
    let day: Value = n == 0 ? .date(seconds: 1_512_345_600, nanoseconds: 0) : .null
    let prices: [String?] = ["0.5", "1", "1.5", "2", nil]
    let at: [(Int64, Int64)] = [(0, 0), (0, 0), (-1, 999_999_999), (86_399, 0), (-1, 1)]
    let tags: [[String?]] = [["a", "bb"], [], ["ccc", nil], [""], ["bb", "bb"]]
    let blobs: [[String]] = [["knife"], [], ["fork", "ab"], [], [""]]
    let ids: [[String]] = [["x"], [], ["yy", "zzz"], [], []]
    let any: [Value] = [
      .string("hello"), bytes("foo"), .int(3), .typedLink(table: 1, key: 1), .null,
    ]
    let anys: [[Value]] = [
      [.int(3), .string("hello"), .int(300)], [.float(3.5), .double(7.6)], [],
      [.int(-1), .double(.nan), .float(4.4), .double(7.6), .int(0), .null],
      [.string("world"), .bool(true)],
    ]
    let map: [[DictionaryEntry]] = [
      [entry("a", .int(1)), entry("key", .int(4))], [entry("a", .string("text"))], [],
      [entry("key", .typedLink(table: 1, key: 1))], [entry("a", .null)],
    ]
    let link: [Int64?] = [1, 1, nil, 2, 4]
    let links: [[Int64]] = [[0, 1, 1], [2], [], [3, 4], [0]]
    let number = Int64(n)
    return [
      text(names[n]), bytes(data[n]), bytes(more[n]), seen[n], day, .int(number),
      .int(number + 1), .int(10 * number + 10), .int(number % 2), .int(n == 4 ? 8 : 7),
      prices[n].map { .decimal128(Decimal128($0)!) } ?? .null,
      .date(seconds: at[n].0, nanoseconds: at[n].1), .list(tags[n].map(text)),
      .list(blobs[n].map { bytes($0) }), .set(ids[n].map { .string($0) }), any[n], .list(anys[n]),
      .dictionary(map[n]), link[n].map { .link($0) } ?? .null, .list(links[n].map { .link($0) }),
    ]
  }

  private static func database(_ name: String) throws -> Database {
    let database = try Database.open(inMemory: name)
    let write = try database.beginWrite()
    try write.createTable(TableSchema(name: "Item", columns: columns))
    for n in 0..<5 {
      let plain = zip(columns, values(n)).map { column, value -> Value in
        guard column.type == .link || column.type == .mixed else { return value }
        switch column.collection {
        case .list: return .list([])
        case .set: return .set([])
        case .dictionary: return .dictionary([])
        case .none: return .null
        }
      }
      try write.upsert(into: "Item", key: Int64(n), plain)
    }
    for n in 0..<5 { try write.update(in: "Item", key: Int64(n), values(n)) }
    try write.commit()
    return database
  }

  static let texts: [(text: String, keys: [Int64])] = [
    // The length of texts and binaries.
    ("tags.length == 2", [0, 4]), ("tags.length == 0", [3]), ("tags.length == null", [2]),
    ("ALL tags.length == 2", [1, 4]), ("NONE tags.length > 2", [0, 1, 3, 4]),
    ("blobs.length == 4", [2]), ("ids.length > 0", [0, 2]), ("name.length == 4", [0]),
    ("data.length == 0", [4]), ("link.name.length == 7", [0, 1]),
    ("links.name.length == 4", [0, 4]), ("links.tags.length == 3", [1]),
    ("link.tags.length == 3", [3]), ("thing.length == 5", [0]), ("anys.length == 5", [0, 4]),
    ("map.a.length == 4", [1]), ("map.length == 4", [1]), ("tags[0].length == 1", [0]),
    ("tags[FIRST].length == 0", [3]), ("2 IN tags.length", [0, 4]),
    // Sizes of values and links.
    ("thing.@size == 3", [1]), ("thing.@count == 5", [0]), ("link.@count == 0", [2]),
    ("link.@count == 1", [0, 1, 3, 4]), ("link[SIZE] == 1", [0, 1, 3, 4]),
    ("link.link.@count == 0", [2, 3]), ("links.link.@count == 3", [0]),
    ("links.link.@count == 0", [1, 2]), ("name[SIZE] == 0", [3]), ("data[SIZE] == 5", [0, 1]),
    ("links.@links.@count == 10", [0]), ("links.@links.@count == 3", [3]),
    ("link.@links.@count == 0", [2]), ("@links.Item.link.@links.@count == 0", [0, 3]),
    ("@links.@count == link.@links.@count", [1, 4]),
    // All elements, keys as properties, keys and values by NSPredicate's names.
    ("tags[*] == 'a'", [0]), ("ALL anys[*] > 3", [1, 2]), ("map[*] == 4", [0]),
    ("map.@values == 'text'", [1]), ("map[*].name == 'Oranges'", [3]), ("links[*].n == 2", [1]),
    ("map.a == 1", [0]), ("map.key == 4", [0]), ("map.key.name == 'Oranges'", [3]),
    ("map.none == null", [0, 1, 2, 3, 4]), ("map.a == null", [2, 3, 4]),
    ("link.map.a == 'text'", [0, 1]), ("map.@allKeys == 'key'", [0, 3]),
    ("ANY map.@allValues == 4", [0]), ("map.@keys ==[c] 'KEY'", [0, 3]),
    // Bytes.
    ("data == bin('knife')", [0]), ("data == binary(\"fork\")", [2]),
    ("data IN {bin('fork'), bin(B64'a25pZmU=')}", [0, 2]), ("thing == bin('foo')", [1]),
    ("thing == 'foo'", []), ("thing BEGINSWITH 'fo'", [1]), ("thing BEGINSWITH B64\"Zm8=\"", [1]),
    ("thing CONTAINS bin('ell')", [0]), ("name == B64'bWlsaw=='", [0]), ("data LIKE 'k*'", [0]),
    ("data LIKE[c] 'K*E'", [0]), ("data LIKE '?????'", [0, 1]), ("data CONTAINS[c] 'LA'", [1]),
    ("data BEGINSWITH[c] 'F'", [2]), ("data ENDSWITH[c] 'FE'", [0]), ("data ==[c] 'KNIFE'", [0]),
    ("data LIKE null", [3]), ("name LIKE null", [2]), ("null LIKE name", [2]),
    ("blobs LIKE 'f*'", [2]), ("ALL blobs LIKE[c] 'KN*'", [0, 1, 3]), ("name CONTAINS null", []),
    ("name CONTAINS ''", [0, 1, 3, 4]),
    // Names.
    ("tab\\tdata == null", [1, 3, 4]), ("tab\\tdata LIKE 'f*'", [2]),
    ("link.tab\\tdata != null", [3]), ("T399 == null", [0, 3, 4]), ("T399 == T399:0", [2]),
    ("T2017-12-04 == 2017-12-04@0:0:0", [0]), ("T2017-12-04 != NIL", [0]),
    ("link.T2017-12-04 == null", [0, 1, 2, 3, 4]), ("a$b == 3", [2]), ("$c >= 40", [3, 4]),
    ("link.$c == 20", [0, 1]), ("$ = $", [0, 1, 2, 3, 4]), ("$ = 1", [1, 3]), ("\\O5 == 8", [4]),
    ("link.O5 == 8", [4]), ("a\\-b == 40", [3]),
    ("SUBQUERY(links, $any_-01, $any_-01.n == 1).@count == 2", [0]),
    // Keys of rows.
    ("link == O1", [0, 1]), ("link != O1", [2, 3, 4]), ("link IN {O1, O2}", [0, 1, 3]),
    ("links == O0", [0, 4]), ("ALL links == O0", [2, 4]), ("link == O9", []),
    ("link == L1:1", [0, 1]), ("thing == L1:1", [3]), ("thing == L7:1", []),
    // Words beside numbers, dates with short parts, numbers in quotes, lists of many types.
    ("n=1AND a$b=2", [1]), ("n=1OR n=2SORT(n DESC)", [2, 1]), ("at == 1970-1-1T0:0:0:0", [0, 1]),
    ("at == 1970-1-1@0:0:0", [0, 1]), ("at > 1905-12-31@23:59:59", [0, 1, 2, 3, 4]),
    ("at == 1970-01-01@23:59:59", [3]), ("at == 1969-12-31@23:59:59:1", [4]),
    ("n == '3'", [3]), ("'3' == n", [3]), ("n IN {'1', '2'}", [1, 2]), ("price == '1.5'", [2]),
    ("price == '1.50'", [2]), ("price < 'Inf'", [0, 1, 2, 3]),
    ("price > '-infinity'", [0, 1, 2, 3]),
    ("n BETWEEN {'1', '3'}", [1, 2, 3]), ("name.@count == '4'", [0]),
    ("n < '1e300'", [0, 1, 2, 3, 4]),
    ("name IN {0, null, -1, 'milk', 3.14, oid(000000000000000000000000)}", [0, 2]),
    ("n IN {1, true, null}", [1]),
    // Types.
    ("thing.@type == 'objectlink'", [3]), ("thing.@type == 'array'", []),
    ("thing.@type IN {'string', 'bindata'}", [0, 1]),
    ("NONE anys.@type == 'collection'", [0, 1, 2, 3, 4]),
    // Aggregates of values of any type.
    ("anys.@max == 'hello'", [0]), ("anys.@min == 3", [0]), ("anys.@min == true", [4]),
    ("anys.@max == 7.6", [1, 3]), ("anys.@min == -1", [3]), ("anys.@sum == 11", [3]),
    ("anys.@sum == 303", [0]), ("anys.@sum == 11.1", [1]), ("anys.@avg == 151.5", [0]),
    ("anys.@avg == 2.75", [3]), ("anys.@sum == 0", [2, 4]), ("anys.@avg == null", [2, 4]),
    ("anys.@max == null", [2]), ("map.@max == 'text'", [1]),
    // ANY of a single value; order without case; an element that is in a list.
    ("ANY name == 'milk'", [0]), ("SOME link.n == 1", [0, 1]), ("name <[c] 'N'", [0, 3, 4]),
    ("name >=[c] 'ORANGES'", [1]), ("tags IN {'a', 'ccc'}", [0, 2]),
  ]

  @Test("each finds its rows, in a snapshot and in a transaction, and so does its own spelling")
  func finds() throws {
    let database = try Self.database("texts of realm")
    let snapshot = try database.snapshot()
    let write = try database.beginWrite()
    for (text, keys) in Self.texts {
      let place: Comment = "\(text)"
      do {
        let query = try ParsedQuery(parsing: text)
        let again = try ParsedQuery(parsing: query.description)
        #expect(again == query, place)
        let bound = try again.bound(to: Self.schema, table: "Item")
        #expect(try bound.keys(in: snapshot) == keys, place)
        #expect(try bound.count(in: snapshot) == keys.count, place)
        #expect(try bound.keys(in: write) == keys, place)
        for key in 0..<5 where query.clauses.isEmpty {
          let isFound = keys.contains(Int64(key))
          #expect(try bound.matches(key: Int64(key), in: snapshot) == isFound, place)
        }
      } catch { Issue.record("\(text): \(error)") }
    }
    write.cancel()
    snapshot.release()
    try database.close()
  }

  static let paths: [(text: String, names: [String], keys: [Int64])] = [
    ("$K0 == 1", ["n"], [1]), ("link.$K0 == 'Oranges'", ["name"], [0, 1]),
    ("$K0 == 1", ["link.n"], [0, 1]), ("$K0.@count == 0", ["links"], [2]),
    ("TRUEPREDICATE SORT($K0 DESC) LIMIT(2)", ["link.n"], [4, 3]),
    ("TRUEPREDICATE DISTINCT($K0)", ["odd"], [0, 1]),
    ("SUBQUERY($K0, $x, $x.$K1 > 3).@count > 0", ["links", "n"], [3]),
    ("$K0 > $K1", ["a$b", "n"], [0, 1, 2, 3, 4]), ("ANY $K0 == 'bb'", ["tags"], [0, 4]),
    ("$K0.length == 3 AND $K1 == 3", ["tags", "a$b"], [2]), ("$K0[0] == 'a'", ["tags"], [0]),
  ]

  @Test("$K0 stands for the path that its argument names")
  func pathArguments() throws {
    let database = try Self.database("paths of realm")
    let snapshot = try database.snapshot()
    for (text, names, keys) in Self.paths {
      let query = try ParsedQuery(parsing: text)
      #expect(try ParsedQuery(parsing: query.description) == query, "\(text)")
      let bound = try query.bound(
        to: Self.schema, table: "Item", arguments: names.map { Value.string($0) })
      #expect(try bound.keys(in: snapshot) == keys, "\(text) \(names)")
    }
    snapshot.release()
    try database.close()
  }

  static let errors: [(text: String, arguments: [Value], code: QueryError.Code, part: String)] = [
    ("n == 'x'", [], .type, "int and string"), ("n IN {1, 'x'}", [], .type, "string and int"),
    ("n == $0", [.string("1")], .type, "int and string"),
    ("thing[0] == 1", [], .type, "a value of type mixed holds no collection"),
    ("thing[*] == 1", [], .type, "a value of type mixed holds no collection"),
    ("anys[0][1] == 1", [], .type, "a value of type mixed holds no collection"),
    ("anys[*][0] == 1", [], .type, "a value of type mixed holds no collection"),
    ("map.a['b'] == 1", [], .type, "a value of type mixed holds no collection"),
    ("map.a.b == 1", [], .unknownName, "no class has a property \"b\""),
    ("name[*] == 'a'", [], .type, "[*] comes after a collection"),
    ("$K0 == 1", [], .argument, "$0 is not there"),
    ("$K0 == 1", [.int(1)], .argument, "needs the path of a property as argument 0"),
    ("$K0 == 1", [.string("n == 1")], .argument, "needs the path"),
    ("$K0 == 1", [.string("$K0")], .argument, "needs the path"),
    ("$K0 == 1", [.string("legs")], .unknownName, "no property \"legs\""),
    ("$x == 1", [], .unknownName, "no variable $x here, and no property of that name"),
    ("tags.@max.length == 1", [], .type, "one aggregate in a path"),
    ("tags.length.n == 1", [], .type, "nothing may come after .length"),
    ("n.length == 1", [], .type, "only links have properties"),
    ("ALL name == 'a'", [], .type, "ALL is for collections"),
    ("ANY 5 == n", [], .type, "ANY is for collections"),
    ("thing == O1", [], .argument, "says no table"), ("n.@count == 1", [], .type, "@count is for"),
    ("data ==[d] 'a'", [], .type, "[d] is for strings"),
    ("at == 10000-1-1@0:0:0", [], .syntax, "years up to 9999"),
    ("at == 1970-1-32@0:0:0", [], .syntax, "a date that there is"),
    ("data == bin(5)", [], .syntax, "a text in quotes"),
    ("thing == L99999999999:1", [], .syntax, "L<table>:<key>"),
    ("n=1ANDNOT n=2", [], .syntax, "a space after it"),
    ("name IN {1, 2}", [], .type, "string and int"),
  ]

  @Test("what cannot be meant is an error that says so", arguments: errors)
  func fails(text: String, arguments: [Value], code: QueryError.Code, part: String) {
    let error = #expect(throws: QueryError.self) {
      try ParsedQuery(parsing: text).bound(to: Self.schema, table: "Item", arguments: arguments)
    }
    #expect(error?.code == code, "\(error?.description ?? "")")
    #expect(error?.message.contains(part) == true, "\(error?.description ?? "")")
  }

  @Test("an empty text finds nothing where the caller wants it as NSPredicate has it")
  func emptyTexts() throws {
    let database = try Self.database("empty texts")
    let snapshot = try database.snapshot()
    for (text, arguments, keys) in [
      ("name CONTAINS ''", [], []), ("name BEGINSWITH[c] $0", [.string("")], []),
      ("NOT name ENDSWITH ''", [], [0, 1, 2, 3, 4]), ("data CONTAINS ''", [], []),
      ("ANY tags BEGINSWITH ''", [], []), ("name LIKE ''", [], [3]), ("name == ''", [], [3]),
      ("SUBQUERY(links, $x, $x.name CONTAINS '').@count > 0", [], []),
      ("name CONTAINS 'r' OR name CONTAINS ''", [], [1, 4]), ("'' CONTAINS name", [], [3]),
    ] as [(String, [Value], [Int64])] {
      let bound = try ParsedQuery(parsing: text).bound(
        to: Self.schema, table: "Item", arguments: arguments.map { .value($0) },
        emptyFindsNothing: true)
      #expect(try bound.keys(in: snapshot) == keys, "\(text)")
    }
    snapshot.release()
    try database.close()
  }

  @Test(
    "polygons that enclose nothing, or meet themselves, are errors that name the corners",
    arguments: [
      ("{[0, 0], [1, 1], [1, 0], [0, 1]}", "cross: [0.0, 0.0] to [1.0, 1.0]"),
      ("{[0, 0], [2, 0], [2, 2], [0, 2], [2, 0]}", "is twice at [2.0, 0.0]"),
      ("{[0, 0], [2, 0], [2, 2]}, {[5, 5], [6, 5], [6, 6]}", "hole 1 of a geoPolygon is outside"),
      ("{[0, 0], [4, 0], [4, 4], [0, 4]}, {[1, 1], [5, 1], [1, 2]}", "of the hole 1 and"),
      ("{[0, 0], [4, 0], [4, 4], [0, 4]}, {[0, 0], [4, 0], [2, 2]}", "are the same"),
      ("{[0, 0], [1, 1], [0, 0]}", "three different points"),
      ("{[0, 0], [1, 0], [0, 0, 5]}", "three"),
    ])
  func polygons(rings: String, part: String) throws {
    let query = try ParsedQuery(parsing: "home GEOWITHIN geoPolygon(\(rings))")
    let error = #expect(throws: QueryError.self) {
      try query.bound(to: Kennel.schema, table: "Person")
    }
    #expect(error?.code == .argument)
    #expect(error?.message.contains(part) == true, "\(error?.description ?? "")")
  }

  @Test("polygons with closed rings, holes, altitudes and many corners are taken")
  func validPolygons() throws {
    for rings in [
      "{[0, 0], [2, 0], [2, 2], [0, 0]}", "{[0, 0, 1.5], [2, 0, 9], [2, 2, 0.0]}",
      "{[0, 0], [4, 0], [4, 4], [0, 4]}, {[1, 1], [2, 1], [1, 2]}, {[3, 3], [3, 2], [2, 3]}",
      "{[0, 0], [4, 0], [4, 4], [0, 4]}, {[0, 0], [2, 1], [1, 2]}",
    ] {
      let query = try ParsedQuery(parsing: "home GEOWITHIN geoPolygon(\(rings))")
      #expect(throws: Never.self) { try query.bound(to: Kennel.schema, table: "Person") }
    }
    // Teeth: each edge spans little, so that few pairs are side by side.
    let teeth =
      (0..<10_000).map { "[\(Double($0) / 100), \($0 % 2)]" } + ["[99.99, -1]", "[0, -1]"]
    let many = try ParsedQuery(
      parsing: "home GEOWITHIN geoPolygon({\(teeth.joined(separator: ", "))})")
    #expect(throws: Never.self) { try many.bound(to: Kennel.schema, table: "Person") }
    // Long ones, all side by side, are more than is checked.
    let comb =
      (0..<6_000).map { "[\($0 % 2 * 90), \(Double($0) / 100)]" } + ["[-1, 60]", "[-1, 0]"]
    let long = try ParsedQuery(
      parsing: "home GEOWITHIN geoPolygon({\(comb.joined(separator: ", "))})")
    let error = #expect(throws: QueryError.self) {
      try long.bound(to: Kennel.schema, table: "Person")
    }
    #expect(error?.code == .limit)
  }
}
