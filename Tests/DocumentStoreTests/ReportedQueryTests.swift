// ReportedQueryTests.swift: what users of the real library have reported of its queries: each
// report is a case, which must have the rows that the report asks for, with indexes and without.

import DocumentStore
import Testing

@Suite("Reported faults of queries")
struct ReportedQueryTests {
  /// A report, the bodies of documents `a`, `b` and so on, a query, and its rows as JSON.
  struct Report: Sendable, CustomTestStringConvertible {
    let name: String
    let bodies: [String]
    let query: StoreQuery
    let rows: [String]
    var testDescription: String { name }

    init(_ name: String, _ bodies: [String], _ query: String, _ rows: [String]) {
      (self.name, self.bodies, self.rows) = (name, bodies, rows)
      let isJSON = query.hasPrefix("{") || query.hasPrefix("[")
      self.query = StoreQuery(query, language: isJSON ? .json : .text)
    }
  }

  private static let texts = [#"{"s":"100%"}"#, #"{"s":"100 x"}"#, #"{"s":"a\\b"}"#]
  private static let nulls = ["{}", #"{"v":null}"#, #"{"v":1}"#]
  private static let nested = [
    #"{"n":"x","k":1,"tags":[{"w":["p","q"]},{"w":["q"]}],"more":[7,8]}"#,
    #"{"n":"y","k":null,"tags":[],"more":[]}"#, #"{"k":1}"#,
  ]

  static let reports: [Report] = [
    Report(
      "core 840: an indexed null behind a left join",
      nested,
      """
      SELECT META(l).id, META(r).id, r.n FROM _ AS l LEFT JOIN _ AS r ON l.k = r.k AND r.n = 'x' \
      ORDER BY META(l).id
      """,
      [#"["a","a","x"]"#, #"["b",-,-]"#, #"["c","a","x"]"#]),
    Report(
      "core 787: ANY with IN and a list",
      [#"{"o":{"f":[1,2]}}"#, #"{"o":{"f":[3]}}"#, #"{"o":{"f":7}}"#],
      #"{"WHAT":[["._id"]],"WHERE":["ANY","x",[".o.f"],["IN",["?x"],["[]",2]]]}"#, [#"["a"]"#]),
    Report(
      "core 807: LIKE with an escaped per cent",
      texts, #"{"WHAT":[["._id"]],"WHERE":["LIKE",[".s"],"100\\%"]}"#, [#"["a"]"#]),
    Report(
      "core 821: LIKE with an escaped backslash",
      texts, #"{"WHAT":[["._id"]],"WHERE":["LIKE",[".s"],"a\\\\b"]}"#, [#"["c"]"#]),
    Report(
      "core 848: LIKE with a collation tries again",
      [#"{"s":"(oo)OO)"}"#, #"{"s":"(oo"}"#],
      #"{"WHAT":[["._id"]],"WHERE":["COLLATE",{"UNICODE":true,"CASE":false},"#
        + #"["LIKE",[".s"],"(%oo)"]]}"#, [#"["a"]"#]),
    Report(
      "core 410: IS NOT NULL is not true of what is missing",
      nulls, "SELECT META().id WHERE v IS NOT NULL", [#"["c"]"#]),
    Report(
      "core 1179: IS NOT MISSING is true of null",
      nulls, "SELECT META().id WHERE v IS NOT MISSING ORDER BY META().id",
      [#"["b"]"#, #"["c"]"#]),
    Report(
      "core 1179: atan2 has y first", ["{}"],
      #"{"WHAT":[["round()",["atan2()",1,0],3]]}"#, ["[1.571]"]),
    Report(
      "core 215: COLLATE applies to the comparison",
      [#"{"s":"ABC"}"#, #"{"s":"abd"}"#],
      #"{"WHAT":[["._id"]],"WHERE":["COLLATE",{"CASE":false},["=",[".s"],"abc"]]}"#, [#"["a"]"#]),
    Report(
      "core 550: a locale with hyphens",
      [#"{"s":"b"}"#, #"{"s":"A"}"#],
      #"{"WHAT":[["._id"]],"ORDER_BY":[["COLLATE",{"UNICODE":true,"LOCALE":"ko-Kore_US","#
        + #""CASE":true,"DIAC":true},[".s"]]]}"#, [#"["b"]"#, #"["a"]"#]),
    Report(
      "core 2172: UNNEST with an index beside one without",
      nested,
      """
      SELECT t.w, m FROM _ AS d UNNEST d.tags AS t UNNEST d.more AS m WHERE m = 8 \
      ORDER BY META(d).id, t.w[1]
      """,
      [#"[["q"],8]"#, #"[["p","q"],8]"#]),
    Report(
      "core 2149: UNNEST of an unnested array",
      nested, "SELECT META(d).id, w FROM _ AS d UNNEST d.tags AS t UNNEST t.w AS w WHERE w = 'q'",
      [#"["a","q"]"#, #"["a","q"]"#]),
    Report(
      "core 1588: IN with a list in brackets",
      [#"{"v":1}"#, #"{"v":2}"#, #"{"v":null}"#], "SELECT META().id WHERE v IN [1, 3]",
      [#"["a"]"#]),
    Report(
      "core 945: LIKE on the ID",
      nulls, #"{"WHAT":[["._id"]],"WHERE":["LIKE",["._id"],"b%"]}"#, [#"["b"]"#]),
    Report(
      "core 470, ios 2220: times with offsets compare by milliseconds",
      [#"{"d":"2018-10-23T00:00:00.000-0500"}"#, #"{"d":"2018-10-23T05:00:00Z"}"#],
      #"{"WHAT":[["str_to_millis()",[".d"]]]}"#, ["[1540270800000]", "[1540270800000]"]),
    Report(
      "android 1604: LIMIT beyond the last row",
      nulls, #"{"WHAT":[["._id"]],"ORDER_BY":[["._id"]],"LIMIT":10,"OFFSET":2}"#, [#"["c"]"#]),
    Report(
      "core 2188: META of a collection with its scope",
      nulls, "SELECT META(_default._default).id FROM _default._default WHERE v = 1", [#"["c"]"#]),
    Report(
      "c 297: null is no item that is counted",
      [#"{"n":[null,"a",null]}"#], "SELECT ARRAY_COUNT(n), ARRAY_LENGTH(n)", ["[1,3]"]),
  ]

  @Test("have the rows that the report asks for", arguments: reports)
  func rows(report: Report) throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    for (index, body) in report.bodies.enumerated() {
      try QueryTests.put(body, String(UnicodeScalar(UInt8(97 + index))), file)
    }
    let plain = try Self.found(report, file)
    try file.write { transaction in
      let store = try transaction.collection()
      for (name, kind, json) in [
        ("v", .value, #"[[".v"],[".n"],[".k"]]"#), ("s", .value, #"[[".s"]]"#),
        ("k", .value, #"[[".k"],[".n"]]"#), ("tags", .array(path: "tags"), "[]"),
      ] as [(String, IndexSpecification.Kind, String)] {
        try store.createIndex(IndexSpecification(name, kind, json: json))
      }
    }
    let indexed = try Self.found(report, file)
    #expect([plain, indexed] == [report.rows, report.rows])
    try file.close()
  }

  private static func found(_ report: Report, _ file: DataFile) throws -> [String] {
    try file.read { snapshot in
      try snapshot.run(report.query).rows.map { row in
        "[" + row.map { $0.json ?? "-" }.joined(separator: ",") + "]"
      }
    }
  }

  @Test("ios 840, 1798: a full-text pattern that is none, and two of them under OR, are errors")
  func patterns() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try QueryTests.put(#"{"t":"a \"river\"","u":"spa"}"#, "x", file)
    try file.write { transaction in
      let store = try transaction.collection()
      for name in ["t", "u"] {
        try store.createIndex(
          IndexSpecification(name, .fullText(FullTextOptions()), json: "[[\".\(name)\"]]"))
      }
    }
    func rows(_ condition: String) throws -> Int {
      try file.read { try $0.run(StoreQuery("{\"WHERE\":\(condition)}")).rows.count }
    }
    #expect(code { _ = try rows(#"["MATCH()","t","\""]"#) } != nil)
    let both = code {
      _ = try rows(#"["OR",["MATCH()","t","river"],["MATCH()","u","spa"]]"#)
    }
    #expect(both == .invalidQuery)
    #expect(try rows(#"["MATCH()","t","\"river\""]"#) == 1)
    #expect(try rows(#"["AND",["MATCH()","t","river"],["MATCH()","u","sp*"]]"#) == 1)
    try file.close()
  }
}
