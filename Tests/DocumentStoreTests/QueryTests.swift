// QueryTests.swift: queries over a store: what its callers rely on, and functions where the real
// library's answers at hand say nothing.

import DocumentStore
import Testing

@Suite("Queries")
struct QueryTests {
  /// The value of an expression, as JSON; nil for a missing one.
  private static func value(_ expression: String) throws -> String? {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try put(#"{"n":1}"#, "d", file)
    let result = try file.read { try $0.run(StoreQuery(#"{"WHAT":[\#(expression)]}"#)) }
    try file.close()
    return result.rows[0][0].json
  }

  static func put(_ json: String, _ key: String, _ file: DataFile) throws {
    try file.write { transaction in
      let store = try transaction.collection()
      var record = try store.record(key) ?? Record(key: key)
      record.body = try transaction.encode(json: json)
      try store.set(&record)
    }
  }

  @Test(
    "functions have these values",
    arguments: [
      (#"["regexp_replace()","a1b22","[0-9]+","<$&>"]"#, #""a<1>b<22>""#),
      (#"["regexp_replace()","ab","(a)(b)?","$2$1",1]"#, #""ba""#),
      (#"["regexp_replace()","abc","x*","-"]"#, #""-a-b-c-""#),
      (#"["regexp_contains()","foobar","^(?:foo|bar)+$"]"#, "true"),
      (#"["regexp_contains()","aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac","(a*)*b"]"#, "false"),
      (#"["regexp_position()","xxay","a|ay"]"#, "2"),
      (#"["regexp_contains()","a.c","a\\.c"]"#, "true"),
      (#"["regexp_contains()","Zoë","\\w{2}[^a-z]$"]"#, "true"),
      (#"["regexp_contains()","a","("]"#, "null"),
      (#"["regexp_contains()","a","(?=a)"]"#, "null"),
      (#"["trim()","xxaxx","x"]"#, #""a""#), (#"["rtrim()","ab  "]"#, #""ab""#),
      (#"["ltrim()","xya","yx"]"#, #""a""#), (#"["length()","🚀é"]"#, "2"),
      (#"["idiv()",1,0]"#, "null"), (#"["div()",1,0]"#, "null"), (#"["round()",-2.5]"#, "-3.0"),
      (#"["round()",1234.5678,-2]"#, "1200.0"), (#"["trunc()",1.29,1]"#, "1.2"),
      (#"["array_max()",["[]",-5,-3]]"#, "-3.0"), (#"["array_avg()",["[]",1,"x"]]"#, "0.5"),
      (#"["array_count()",["[]",null,"a",null]]"#, "1"),
      (#"["array_contains()",["[]",["[]",1]],["[]",1]]"#, "true"),
      (#"["toarray()",1582979696789]"#, "[1582979696789]"), (#"["toarray()",true]"#, "[true]"),
      (#"["date_add_str()","2023-01-31","1","month"]"#, nil),
      (#"["date_add_str()","2023-01-31",-9223372036854775808,"month"]"#, nil),
      (#"["date_add_millis()",0,-9223372036854775808,"year"]"#, nil),
      (#"["millis_to_tz()",0,-9223372036854775808]"#, "null"),
      (#"["date_add_str()","2023-01-31",1,"month"]"#, #""2023-03-03T00:00:00Z""#),
      (#"["date_add_str()","2024-03-31",-1,"quarter","1111-11-11"]"#, #""2023-12-31""#),
      (#"["date_diff_str()","2024-02-29","2023-03-01","month"]"#, "11"),
      (#"["date_diff_str()","2023-03-01","2024-02-29T00:00:00Z","year"]"#, "-1"),
      (#"["str_to_millis()","1969-12-31T23:59:59.999+01:00"]"#, "-3600001"),
      (#"["millis_to_utc()",-62135596800000]"#, #""0001-01-01T00:00:00Z""#),
      (#"["str_to_millis()","2023-13-01"]"#, "null"),
      (#"["ifmissingornull()",["MISSING"],null]"#, "null"), (#"["type()",["MISSING"]]"#, nil),
      (#"["type()",null]"#, "null"), (#"["contains()","abcabd","abd"]"#, "true"),
      (#"["fl_like()","Ábc","a%","LCUnicode_CD_"]"#, "true"), (#"["sign()",-0.5]"#, "-1"),
      (#"["COLLATE",{"CASE":false},["LIKE","ABC","a_c"]]"#, "true"),
      (#"["LIKE","50%",["||","50","\\%"]]"#, "1"), (#"["greatest()",7]"#, "7"),
    ])
  func functions(expression: String, value: String?) throws {
    #expect(try Self.value(expression) == value, "\(expression)")
  }

  @Test("missing, null, false, 0 and an empty text are five values, sorted or not")
  func kinds() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    for (key, json) in [
      ("a", "{}"), ("b", #"{"v":null}"#), ("c", #"{"v":false}"#), ("d", #"{"v":0}"#),
      ("e", #"{"v":""}"#), ("f", #"{"v":18446744073709551615}"#), ("g", #"{"v":{"x":[1]}}"#),
    ] {
      try Self.put(json, key, file)
    }
    let expected: [QueryValue] = [
      .missing, .null, .boolean(false), .integer(0), .text(""), .unsigned(.max),
      try .collection(json: #"{"x":[1]}"#),
    ]
    for order in ["", #","ORDER_BY":[["._id"]]"#] {
      let rows = try file.read { try $0.run(StoreQuery(#"{"WHAT":["v"]\#(order)}"#)).rows }
      #expect(rows.map { $0[0] } == expected)
    }
    try file.close()
  }

  @Test("parameters keep their kinds, and unknown ones are refused")
  func parameters() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try Self.put(#"{"v":[1,{"a":2}]}"#, "a", file)
    func count(_ value: QueryValue) throws -> Int {
      try file.read {
        try $0.run(StoreQuery(#"["=",[".v"],["$p"]]"#), ["p": value]).rows.count
      }
    }
    let array = try QueryValue.collection(json: #"[1,{"a":2}]"#)
    #expect(try count(array) == 1)
    #expect(try count(.null) == 0)
    #expect(try count(.missing) == 0)
    let unknown = code {
      _ = try file.read { try $0.run(StoreQuery("[\".v\"]"), ["x": .null]) }
    }
    #expect(unknown == .invalidQuery)
    let damaged = code { _ = try count(.collection([1, 2, 3])) }
    #expect(damaged == .invalidParameter)
    try file.close()
  }

  @Test("a query that runs too long ends with an error, and the connection goes on")
  func timeLimit() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try file.write { transaction in
      let store = try transaction.collection()
      for index in 0..<300 {
        var record = Record(key: "d\(index)", body: try transaction.encode(json: "{\"n\":1}"))
        try store.set(&record)
      }
    }
    let joins = ["b", "c", "d"].map { #"{"AS":"\#($0)","JOIN":"CROSS"}"# }.joined(separator: ",")
    let query = StoreQuery(
      #"{"FROM":[{"AS":"a"},\#(joins)],"WHAT":[["count()",["."]]]}"#, timeLimitMilliseconds: 50)
    try file.read { snapshot in
      let found = code { _ = try snapshot.run(query) }
      #expect(found == .timeLimit)
      let rows = try snapshot.run(StoreQuery(#"{"WHAT":["n"]}"#)).rows
      #expect(rows.count == 300)
    }
    try file.close()
  }

  @Test("errors name the place, and plans the tables")
  func errors() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try file.read { snapshot in
      let unknown = code { _ = try snapshot.run(StoreQuery("{\"WHAT\":[[\"uper()\",1]]}")) }
      #expect(unknown == .invalidQuery)
      let missing = code { _ = try snapshot.run(StoreQuery("[\"MATCH()\",\"x\",\"y\"]")) }
      #expect(missing == .missingIndex)
      let plan = try snapshot.explain(StoreQuery(#"["=",["._id"],"a"]"#))
      #expect(plan.description.contains("SEARCH _doc USING INDEX sqlite_autoindex_kv_default_1"))
    }
    try file.close()
  }

  @Test("deleted documents are found where they are asked for, each once")
  func deleted() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    for key in ["a", "b"] { try Self.put(#"{"n":1}"#, key, file) }
    try file.write { transaction in
      let store = try transaction.collection()
      let found = try store.record("a")
      var record = try #require(found)
      record.flags = .deleted
      try store.set(&record)
    }
    func rows(_ query: String) throws -> [[QueryValue]] {
      try file.read { try $0.run(StoreQuery(query)).rows }
    }
    #expect(try rows(#"{"WHAT":[["._id"]],"WHERE":["._deleted"]}"#) == [[.text("a")]])
    #expect(try rows(#"{"WHAT":[["._id"]]}"#) == [[.text("b")]])
    #expect(
      try rows(#"{"WHAT":[["._id"],["._deleted"]],"ORDER_BY":[["._id"]]}"#)
        == [[.text("a"), .integer(1)], [.text("b"), .integer(0)]])
    try file.close()
  }
}

extension QueryTests {
  @Test("SQL++ finds what JSON finds")
  func texts() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try Self.put(#"{"n":1,"tags":["a","b"]}"#, "x", file)
    try Self.put(#"{"n":2,"tags":["b"]}"#, "y", file)
    let query = StoreQuery(
      "SELECT META(d).id AS id, t FROM _ AS d UNNEST d.tags AS t WHERE t = $t AND d.n < 2",
      language: .text)
    let result = try file.read { try $0.run(query, ["t": .text("b")]) }
    #expect(result.columnTitles == ["id", "t"])
    #expect(result.rows == [[.text("x"), .text("b")]])
    try file.close()
  }

  @Test("names of indexes may have quotes that begin a longer character")
  func quotes() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try Self.put(#"{"t":"a river"}"#, "x", file)
    let name = "it'\u{301}s"
    try file.write { transaction in
      try transaction.collection().createIndex(
        IndexSpecification(name, .fullText(FullTextOptions()), json: "[[\".t\"]]"))
    }
    let query = StoreQuery("{\"WHERE\":[\"MATCH()\",\"\(name)\",\"river\"]}")
    #expect(try file.read { try $0.run(query).rows.count } == 1)
    try file.close()
  }

  @Test(
    "a column of all properties is named after its source",
    arguments: [
      ("SELECT * FROM _default", "_default"),
      ("SELECT * FROM _", "_"), ("SELECT * AS Star FROM _", "Star"),
      ("SELECT * FROM _default AS Mine", "Mine"), ("SELECT * Star FROM _ AS Mine", "Star"),
    ])
  func titles(text: String, title: String) throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try Self.put(#"{"n":1}"#, "a", file)
    let result = try file.read { try $0.run(StoreQuery(text, language: .text)) }
    #expect(result.columnTitles == [title])
    #expect(result.rows.map { $0[0].json } == [#"{"n":1}"#])
    try file.close()
  }
}
