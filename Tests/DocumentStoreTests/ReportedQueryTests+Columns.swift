// ReportedQueryTests+Columns.swift: reports of names of columns, joins, and queries within queries.

import DocumentStore
import Testing

extension ReportedQueryTests {
  private static let named = [#"{"v":2,"x":1,"a":1,"b":2}"#, #"{"v":1,"x":2,"a":3,"b":1}"#]

  static let ofColumns: [Report] = [
    Report(
      "c 149: a column that is called like a property of META",
      named, "SELECT META().id AS id WHERE META().id = 'b'", [#"["b"]"#]),
    Report(
      "core 1452: the name of a column in WHERE is the column",
      named, "SELECT v AS x, META(d).id FROM _ AS d WHERE x = 1", [#"[1,"b"]"#]),
    Report(
      "core 1455: a property behind the name of its source is the property",
      named, "SELECT v AS x, META(d).id FROM _ AS d WHERE d.x = 1", [#"[2,"a"]"#]),
    Report(
      "net 1207: columns with the names of other properties",
      named, "SELECT a AS b, b AS a ORDER BY META().id", ["[1,2]", "[3,1]"]),
    Report(
      "core 921: a literal text as a column with a name",
      named, #"{"WHAT":[["AS","v","x"],"v",["AS",[".v"],"y"]],"WHERE":["=",["._id"],"a"]}"#,
      [#"["v",2,2]"#]),
    Report(
      "core 1452: a column of a condition, as a condition",
      named, "SELECT v > 1 AS large, META().id AS id WHERE large AND NOT id = 'b'",
      [#"[true,"a"]"#]),
    Report(
      "core 1452: the path into a column, and a column that is null or missing",
      [#"{"o":{"k":1}}"#, #"{"o":{"k":null}}"#, #"{"o":{}}"#, "{}"],
      "SELECT o AS p, META().id AS i WHERE p.k IS NULL OR p.k = 1 ORDER BY i",
      [#"[{"k":1},"a"]"#, #"[{"k":null},"b"]"#]),
    Report(
      "core 725: SELECT as an operation means the same as its operands",
      named, #"["SELECT",{"WHAT":[[".","v"]],"WHERE":["=",[".","a"],3]}]"#, ["[1]"]),
    Report(
      "core 632: OR of two properties, each with an index",
      [#"{"v":2,"k":4}"#, #"{"v":3,"k":9}"#, #"{"v":5,"k":4}"#],
      "SELECT META().id, v, k WHERE v = 2 OR k = 9", [#"["a",2,4]"#, #"["b",3,9]"#]),
    Report(
      "core 204, ios 1671: IN an array that a property has",
      [#"{"n":"x","tags":["w","x"]}"#, #"{"n":"y","tags":["x"]}"#, #"{"n":"y"}"#],
      "SELECT META().id WHERE n IN tags", [#"["a"]"#]),
  ]

  private static let machines = [
    #"{"Type":"machine","Label":"m","ModelId":"x"}"#, #"{"Type":"model","Id":"x","Label":"M"}"#,
    #"{"Type":"machine","Label":"l","ModelId":"none"}"#,
  ]

  static let ofJoins: [Report] = [
    Report(
      "core 1444, net 1344: a column with the name of another source's property",
      machines,
      """
      SELECT machines.Label AS Label, models.Label AS ModelLabel FROM _ AS machines \
      LEFT OUTER JOIN _ AS models ON models.Id = machines.ModelId AND models.Type = 'model' \
      WHERE machines.Type = 'machine' ORDER BY machines.Label
      """,
      [#"["l",-]"#, #"["m","M"]"#]),
    Report(
      "core 2023: a column's name orders a join",
      machines,
      """
      SELECT a.Label AS Name, b.Label AS Other FROM _ AS a JOIN _ AS b ON a.Label < b.Label \
      ORDER BY Other DESC, Name
      """,
      [#"["M","m"]"#, #"["l","m"]"#, #"["M","l"]"#]),
    Report(
      "core 346: a left join without a partner",
      machines,
      """
      SELECT META(a).id, META(b).id, b.Label FROM _ AS a LEFT JOIN _ AS b ON a.ModelId = b.Id \
      WHERE a.ModelId IS VALUED ORDER BY META(a).id
      """,
      [#"["a","b","M"]"#, #"["c",-,-]"#]),
  ]

  @Test("net 1552, android 1610: a query runs in itself, and in its own rows' handler")
  func withinItself() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    for id in ["a", "b", "c"] { try QueryTests.put(#"{"n":1}"#, id, file) }
    let query = StoreQuery("SELECT META().id WHERE n = $n ORDER BY META().id", language: .text)
    var seen: [String] = []
    try file.read { snapshot in
      for _ in 0..<2 {
        try snapshot.enumerate(query, ["n": .integer(1)]) { row in
          let inner = try snapshot.run(query, ["n": .integer(1)]).rows
          #expect(inner.count == 3)
          try snapshot.enumerate(query, ["n": .integer(2)]) { _ in
            Issue.record("no document has 2")
            return true
          }
          seen.append(row[0].ownText ?? "-")
          return true
        }
      }
    }
    #expect(seen == ["a", "b", "c", "a", "b", "c"])
    try file.close()
  }

  @Test("android 1767: full text with more columns than a word has bits, some of them missing")
  func manyColumns() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    let pairs = (0..<140).filter { $0 % 3 != 0 }.map { "\"p\($0)\":\($0)" }
    try QueryTests.put("{\"t\":\"word\",\(pairs.joined(separator: ","))}", "a", file)
    try file.write {
      try $0.collection().createIndex(
        IndexSpecification("w", .fullText(FullTextOptions()), json: #"[[".t"]]"#))
    }
    let names = (0..<140).map { "p\($0)" }
    let query = StoreQuery(
      "SELECT \(names.joined(separator: ", ")) WHERE MATCH(w, 'word')", language: .text)
    let result = try file.read { try $0.run(query) }
    #expect(result.columnTitles == names)
    let row: [QueryValue] = (0..<140).map { $0 % 3 == 0 ? .missing : .integer(Int64($0)) }
    #expect(result.rows == [row])
    try file.close()
  }

  @Test("ios 1587: the first query of a file that was just opened knows all shared keys")
  func firstQuery() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try QueryTests.put(#"{"first":{"second":7},"third":[{"fourth":8}]}"#, "a", file)
    try file.close()
    let again = try DataFile(path: folder.bundle)
    let query = StoreQuery(
      "SELECT first.second, u.fourth FROM _ AS d UNNEST d.third AS u", language: .text)
    let text = "SELECT d.first.second, u.fourth FROM _ AS d UNNEST d.third AS u"
    #expect(code { _ = try again.read { try $0.run(query) } } == .invalidQuery)
    let found = try again.read { try $0.run(StoreQuery(text, language: .text)).rows }
    #expect(found == [[.integer(7), .integer(8)]])
    try again.close()
  }

  @Test("core 249: a query with a collation uses the index with the same one, and no other")
  func collatedIndex() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    for (index, name) in ["Abc", "ABC", "abd"].enumerated() {
      try QueryTests.put("{\"s\":\"\(name)\"}", "d\(index)", file)
    }
    try file.write {
      try $0.collection().createIndex(
        IndexSpecification("c", .value, json: #"[["COLLATE",{"CASE":false},[".s"]]]"#))
    }
    for (options, isUsed, count) in [(#""CASE":false"#, true, 2), (#""UNICODE":true"#, false, 0)] {
      let query = StoreQuery(
        "{\"WHAT\":[[\"._id\"]],\"WHERE\":[\"COLLATE\",{\(options)},[\"=\",[\".s\"],\"abc\"]]}")
      let (plan, rows) = try file.read { (try $0.explain(query), try $0.run(query).rows) }
      #expect(plan.steps.joined().contains("USING INDEX c") == isUsed, "\(plan.steps)")
      #expect(rows.count == count)
    }
    try file.close()
  }
}
