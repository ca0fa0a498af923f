// PublishedQueryTests.swift: cases of queries that the real library's makers publish: names of
// columns, sources with scopes, deleted documents, expirations, bounds.

import DocumentStore
import Testing

@Suite("Published cases of queries")
struct PublishedQueryTests {
  private static let two = [
    #"{"dict":{"key1":1,"key2":2},"arr":[1,2]}"#, #"{"dict":{"key1":2,"key2":1},"arr":[2,1]}"#,
  ]

  /// A query in JSON without its braces, and the IDs that it finds.
  static let aliases: [(String, String)] = [
    (#""WHAT":["._id",["AS",1.375,"answer"]],"WHERE":["=",[".dict.key1"],1]"#, "a"),
    (
      #""WHAT":["._id",["AS",[".dict.key2"],"dict"]],"FROM":[{"AS":"db","COLLECTION":"_"}],"#
        + #""WHERE":["=",[".db.dict"],1]"#, ""
    ),
    (#""WHAT":["._id",["AS",[".dict.key2"],"answer"]],"ORDER_BY":[[".answer"]]"#, "ba"),
    (
      #""WHAT":["._id",["AS",[".dict"],"name.with [special]"]],"#
        + #""ORDER_BY":[["DESC",[".name\\.with \\[special\\].key1"]]]"#, "ba"
    ),
    (#""WHAT":["._id",["AS",[".arr"],"answer"]],"ORDER_BY":[[".answer[1]"]]"#, "ba"),
  ]

  @Test("a column's name is a property in the order", arguments: aliases)
  func named(query: String, ids: String) throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    for (id, body) in zip(["a", "b"], Self.two) { try QueryTests.put(body, id, file) }
    let rows = try file.read { try $0.run(StoreQuery("{\(query)}")).rows }
    #expect(rows.compactMap { $0[0].ownText }.joined() == ids, "\(query)")
    try file.close()
  }

  @Test("a collection is named with its scope, in FROM and in META", arguments: [0, 1])
  func collections(number: Int) throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    let name = try [CollectionName("Secondary"), CollectionName("sub", scope: "scopey")][number]
    try file.write { transaction in
      let store = try transaction.collection(name)
      for (id, who) in [("1", "Jack"), ("2", "Jean"), ("3", "Scott")] {
        try store.save(id, body: try transaction.encode(json: "{\"who\":\"\(who)\"}"))
      }
    }
    let source = name.description
    func titlesAndRows(_ text: String) throws -> [String] {
      let result = try file.read { try $0.run(StoreQuery(text, language: .text)) }
      return result.columnTitles + result.rows.map { $0[0].json ?? "-" }
    }
    #expect(
      try titlesAndRows("SELECT who AS `$1` FROM \(source) ORDER BY `$1` LIMIT 2")
        == ["$1", "\"Jack\"", "\"Jean\""])
    #expect(
      try titlesAndRows("SELECT who AS `s.c` FROM \(source) ORDER BY `s.c` LIMIT 2")
        == ["s.c", "\"Jack\"", "\"Jean\""])
    for meta in ["META(\(source))", "META(`\(source)`)", "META()"] {
      #expect(
        try titlesAndRows("SELECT \(meta).id FROM \(source) WHERE who = 'Scott'")
          == ["id", "\"3\""])
    }
    #expect(
      try titlesAndRows("SELECT \(source).who FROM \(source) WHERE \(source).who = 'Jean'")
        == ["who", "\"Jean\""])
    #expect(
      try titlesAndRows("SELECT * FROM \(source) WHERE META(\(source)).id = '1'")
        == [name.name, #"{"who":"Jack"}"#])
    try file.close()
  }

  @Test(
    "deleted documents are asked for in several ways",
    arguments: [
      (#"["<=",[".num"],15]"#, 10), (#"["AND",["<=",[".num"],15],["._deleted"]]"#, 5),
      (#"["OR",["<=",[".num"],5],["._deleted"]]"#, 15), (#"["=",["._deleted"],true]"#, 10),
      (#"["._deleted"]"#, 10), (#"[".","_deleted"]"#, 10),
      (#"["_.",["meta()"],"deleted"]"#, 10), (#"["_.",["META()"],".deleted"]"#, 10),
    ])
  func deleted(condition: String, count: Int) throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try file.write { transaction in
      let store = try transaction.collection()
      for number in 1...20 {
        var record = Record(
          key: "d\(number)", body: try transaction.encode(json: "{\"num\":\(number)}"))
        record.flags = number > 10 ? .deleted : []
        try store.set(&record)
      }
    }
    let query = StoreQuery("{\"WHAT\":[\"._id\"],\"WHERE\":\(condition)}")
    #expect(try file.read { try $0.run(query).rows.count } == count)
    try file.close()
  }

  @Test("an expiration is a number of milliseconds, or missing")
  func expirations() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    for id in ["a", "b", "c"] { try QueryTests.put("{}", id, file) }
    try file.write { transaction in
      let store = try transaction.collection()
      for (id, time) in [("a", 990_000 as Int64), ("c", 1_010_000)] {
        #expect(try store.setExpiration(time, of: id))
      }
    }
    let all = StoreQuery(#"{"WHAT":["._expiration"],"ORDER_BY":[["._id"]]}"#)
    let found = try file.read { try $0.run(all).rows.map { $0[0] } }
    #expect(found == [.integer(990_000), .missing, .integer(1_010_000)])
    let due = StoreQuery(
      #"{"WHAT":["._id"],"WHERE":["<=",["._expiration"],["$NOW"]],"ORDER_BY":[["._expiration"]]}"#)
    let ids = try file.read { try $0.run(due, ["NOW": .integer(1_000_000)]).rows.map { $0[0] } }
    #expect(ids == [.text("a")])
    try file.close()
  }

  @Test(
    "bounds below 0, and one without the other",
    arguments: [
      (#""LIMIT":-1"#, 0), (#""LIMIT":100,"OFFSET":-1"#, 2), (#""LIMIT":["$low"]"#, 0),
      (#""LIMIT":["$high"],"OFFSET":["$low"]"#, 2), (#""OFFSET":["$zero"]"#, 2),
      (#""OFFSET":1"#, 1),
    ])
  func bounds(clauses: String, count: Int) throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    for id in ["a", "b"] { try QueryTests.put(#"{"n":1}"#, id, file) }
    let query = StoreQuery("{\"WHAT\":[\".n\"],\(clauses)}")
    let values: [String: QueryValue] = [
      "low": .integer(-1), "high": .integer(100), "zero": .integer(0),
    ]
    let named = values.filter { clauses.contains("$" + $0.key) }
    #expect(try file.read { try $0.run(query, named).rows.count } == count)
    try file.close()
  }

  @Test("expressions without a value are null or missing")
  func exceptional() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try QueryTests.put(#"{"unitPrice":8,"orderlines":[1,2]}"#, "doc1", file)
    for (expression, expected) in [
      ("acos(3)", "null"), (#"acos("abc")"#, "null"), ("2/0", "-"), ("lower([1,2])", "null"),
      ("length(missingValue)", "-"), ("is_array(null)", "null"), ("atan(asin(1.1))", "null"),
      ("round(12.5)", "13.0"), ("8/10", "0"), ("unitPrice/10", "0"), ("orderlines[0]", "1"),
      ("div(8, 10)", "0.8"), ("idiv(8, 10)", "0"), ("5.5/16.5", "\(5.5 / 16.5)"),
    ] {
      let query = StoreQuery("SELECT \(expression) FROM _", language: .text)
      let found = try file.read { try $0.run(query).rows[0][0].json ?? "-" }
      #expect(found == expected, "\(expression)")
    }
    try file.close()
  }
}

extension QueryValue {
  /// Its text; nil for a value of another kind.
  var ownText: String? {
    if case .text(let text) = self { return text }
    return nil
  }
}
