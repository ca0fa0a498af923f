// FormatTests.swift: texts with `%@`, `%K` and the spellings of NSPredicate. The story: `%K` was
// pasted into the text, so that an argument became a condition, a property called "nan" the number,
// and a keyword a syntax error at a place in a text that nobody had written.

import Foundation
import Testing

@testable import ObjectDatabase

private class Row: Object {
  @Persisted(primaryKey: true) var id = 0
  @Persisted var nan = 7
  @Persisted var null = 7
  @Persisted var any = 7
  @Persisted var between = 7
  @Persisted var no = 7
  @Persisted var first = 7
  @Persisted var sort = 7
  @Persisted var size = 7
  @Persisted var flag = false
  @Persisted var maybe: Bool?
  @Persisted var name = ""
  @Persisted var owner: Row?
  @Persisted var rows: List<Row>
  @Persisted var flags: List<Bool>
  @Persisted var map: Map<String, Int>
}

@Suite("formats of queries")
struct FormatTests {
  private static func prepared() throws -> (Folder, Realm) {
    let folder = try Folder()
    let realm = try folder.realm([Row.self])
    try realm.write {
      for id in 0..<6 {
        let row = Row()
        row.id = id
        row.flag = id % 2 == 0
        row.maybe = id < 3 ? id == 1 : nil
        row.name = "row \(id)"
        row.flags.append(objectsIn: [id == 0, id < 2])
        row.map["a"] = id
        realm.add(row)
        row.owner = realm.object(ofType: Row.self, forPrimaryKey: 0)
        row.rows.append(row)
      }
    }
    return (folder, realm)
  }

  @Test("%K is the path that its argument names, whatever else the name means")
  func keyPaths() throws {
    let (_, realm) = try Self.prepared()
    let rows = realm.objects(Row.self)
    for name in ["nan", "null", "any", "between", "no", "first", "sort", "size", "owner.nan"] {
      #expect(try rows.filtered(by: "%K == 7", arguments: [name]).count == 6, "\(name)")
      #expect(try rows.filtered(by: "7 == %K", arguments: [name]).count == 6, "\(name)")
      #expect(try rows.filtered(by: "owner.%K == %d", arguments: [name, 7]).count == 6, "\(name)")
      #expect(
        rows.filter("SUBQUERY(rows, $x, $x.%K == %@).@count == 1", name, 7).count == 6, "\(name)")
    }
    #expect(rows.filter("TRUEPREDICATE SORT(%K DESC)", "id").map(\.id) == [5, 4, 3, 2, 1, 0])
    #expect(rows.filter("SUBQUERY(%K, $x, $x.id > %d).@count > 0", "rows", 3).count == 2)
    #expect(rows.filter("%K == 1 AND %K == %d", "rows.@count", "map['a']", 4).map(\.id) == [4])
    #expect(rows.filter("ANY %K == YES", "flags").map(\.id) == [0, 1])
    #expect(rows.filter("%K.%K == %@", "owner", "name", "row 0").count == 6)
    #expect(rows.filter("name == %@", "nan").isEmpty && rows.filter("name == '%K'").isEmpty)
  }

  @Test("what is not a path is refused, with its place in the text as given")
  func refused() throws {
    let (_, realm) = try Self.prepared()
    let rows = realm.objects(Row.self)
    for name in [
      "id == 0 OR id", "id == 0 OR TRUEPREDICATE OR id", "", ".", "id.", ".id", "1", "'id'", "$0",
      "$x.id", "id id", "(id)", "id)", "rows[$0]", "TRUEPREDICATE SORT(id)", "id\0", "@", "%K",
      "-id",
    ] {
      let error = #expect(throws: Realm.Error.self, "\(name)") {
        _ = try rows.filtered(by: "id >= 0 AND\n %K == 99", arguments: [name])
      }
      #expect(error?.message.contains("2:2: syntax: found") == true, "\(error?.message ?? "")")
    }
    for (text, arguments, place) in [
      ("id > 0 OR %K == 99", [5], "1:11: argument"),
      ("%K > 0 AND %K == 1", ["id"], "1:12: argument"),
      ("%@ == 1 AND id == %@", [1], "1:19: argument"), ("id == %y", [1], "1:7: syntax"),
      ("id == %l@", [1], "1:7: syntax"), ("id == %", [1], "1:7: syntax"),
    ] as [(String, [Any], String)] {
      let error = #expect(throws: Realm.Error.self, "\(text)") {
        _ = try rows.filtered(by: text, arguments: arguments)
      }
      #expect(error?.message.contains(place) == true, "\(text): \(error?.message ?? "")")
    }
    let error = #expect(throws: Realm.Error.self) {
      _ = try rows.filtered(by: "%K == 1", arguments: ["legs"])
    }
    #expect(error?.message.contains("has no property \"legs\"") == true)
  }

  @Test("spellings of NSPredicate: YES, NO, =>, =<, SELF, 1 for a bool, numbers of C")
  func spellings() throws {
    let (_, realm) = try Self.prepared()
    let rows = realm.objects(Row.self)
    for (text, ids) in [
      ("flag == YES", [0, 2, 4]), ("flag = NO", [1, 3, 5]), ("flag == 1", [0, 2, 4]),
      ("0 == flag", [1, 3, 5]), ("flag != 1", [1, 3, 5]), ("maybe == 1", [1]),
      ("maybe == NO", [0, 2]), ("maybe IN {1, 0}", [0, 1, 2]), ("flag IN {YES}", [0, 2, 4]),
      ("ANY flags == 1", [0, 1]), ("id => 4", [4, 5]), ("id =< 1", [0, 1]), ("SELF.id == 2", [2]),
      ("self.owner.id == 0 AND id == 3", [3]), ("SELF == SELF.owner", [0]),
      ("no == 7 AND id == 1", [1]),
    ] as [(String, [Int])] {
      #expect(try rows.filtered(by: text).map(\.id) == ids, "\(text)")
    }
    #expect(rows.filter("SELF == %@", rows[2]).map(\.id) == [2])
    #expect(rows.filter("SELF IN %@", [rows[2], rows[4]]).map(\.id) == [2, 4])
    for format in [
      "%d", "%i", "%u", "%ld", "%lu", "%lld", "%llu", "%f", "%lf", "%g", "%zd", "%hhd",
    ] {
      #expect(rows.filter("id == \(format)", 3).map(\.id) == [3], "\(format)")
    }
    #expect(rows.filter("flag == %d", 1).count == 3 && rows.filter("flag == %@", true).count == 3)
    #expect(rows.filter("name == '50%' OR id == $0", 1).map(\.id) == [1], "no place, all arguments")
    #expect(throws: Realm.Error.self) { _ = try rows.filtered(by: "flag == 2") }
    #expect(throws: Realm.Error.self) { _ = try rows.filtered(by: "flag > 0") }
  }
}
