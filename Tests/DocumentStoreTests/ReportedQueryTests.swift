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

  static let reports = general + ofTexts + ofNames + ofValues + ofColumns + ofJoins

  private static let general: [Report] = [
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

  private static let names = [
    #"{"s":"Zoë","n":1}"#, #"{"s":"zoe","n":2}"#, #"{"s":"Äpfel"}"#,
    #"{"s":"Royal Museum","n":1}"#,
  ]
  private static let noCase = #"{"UNICODE":true,"CASE":false,"DIAC":false,"LOCALE":"en"}"#

  private static let ofTexts: [Report] = [
    Report(
      "core 325: LIKE tells capitals from small letters",
      names, "SELECT META().id WHERE s LIKE 'Royal museum' OR s LIKE 'Zo_'", [#"["a"]"#]),
    Report(
      "core 296: LIKE follows a collation",
      names, #"{"WHAT":[["._id"]],"WHERE":["COLLATE",\#(noCase),["LIKE",[".s"],"ZO%"]]}"#,
      [#"["a"]"#, #"["b"]"#]),
    Report(
      "android 1689: LIKE beside another condition",
      names, "SELECT META().id WHERE n = 1 AND s LIKE '%use%'", [#"["d"]"#]),
    Report(
      "couchbase_lite 107: lower() under LIKE",
      names, "SELECT META().id WHERE LOWER(s) LIKE '%ä%'", [#"["c"]"#]),
    Report(
      "core 498: an index with a collation, in WHERE, GROUP BY and ORDER BY",
      names,
      #"{"WHAT":[["count()",["."]]],"WHERE":["AND",["=",["COLLATE",\#(noCase),[".s"]],"ZOE"],"#
        + #"["OR",["IS",[".z"],null],["IS",[".z"],["MISSING"]]]],"#
        + #""GROUP_BY":[["COLLATE",\#(noCase),[".s"]]],"#
        + #""ORDER_BY":[["COLLATE",\#(noCase),[".s"]]]}"#,
      ["[2]"]),
    Report(
      "core 196: accented letters stand beside their base",
      names, #"{"WHAT":[["._id"]],"ORDER_BY":[["COLLATE",{"UNICODE":true},[".s"]]]}"#,
      [#"["c"]"#, #"["d"]"#, #"["b"]"#, #"["a"]"#]),
    Report(
      "java-ce-root 26: COLLATE without diacritics",
      names, "SELECT META().id WHERE s = 'zoë' COLLATE (UNICODE NOCASE NODIACRITIC) ORDER BY n",
      [#"["a"]"#, #"["b"]"#]),
    Report(
      "core 470: a time before 1970, with an offset",
      [#"{"d":"1944-06-06T06:30:00+01:00"}"#], "SELECT STR_TO_MILLIS(d)", ["[-806956200000]"]),
    Report(
      "core 1951, 1975: an offset in minutes",
      ["{}"], "SELECT MILLIS_TO_TZ(0, 90), STR_TO_TZ('1970-01-01T00:00:00Z', -480)",
      [#"["1970-01-01T01:30:00+0130","1969-12-31T16:00:00-0800"]"#]),
  ]

  private static let odd = [
    #"{"$foo":17,"?foo":18,"[foo":19,".foo":20,"f$o?o[o.":21,"str]ing]":10,"#
      + #""oids":[{"$oid":"avoid"}],"string[1]":{"arr":[{"string[3]":{"id":20}}]}}"#
  ]

  private static let ofNames: [Report] =
    [("$foo", 17), ("?foo", 18), ("str]ing]", 10)]
    .map { (name: String, number: Int) in
      Report(
        "core 545: a property named \(name)",
        odd,
        #"{"WHAT":[[".","\#(name)"]],"WHERE":["AND",["EXISTS",[".","\#(name)"]],"#
          + #"["=",[".","\#(name)"],\#(number)]]}"#, ["[\(number)]"])
    } + [
      Report(
        "core 545: the same in SQL++", odd,
        "SELECT `$foo`, `?foo`, `[foo`, `.foo`, `f$o?o[o.`, `str]ing]`, "
          + "`string[1]`.arr[0].`string[3]`.id "
          + "WHERE ANY a IN oids SATISFIES a.`$oid` = 'avoid' END",
        ["[17,18,19,20,21,10,20]"]),
      Report(
        "core 545: a variable's property with a $", odd,
        #"{"WHAT":[["._id"]],"WHERE":["ANY","a",[".oids"],["=",["?a.$oid"],"avoid"]]}"#,
        [#"["a"]"#]),
    ]

  private static let ofValues: [Report] = [
    Report(
      "the differential test: a dict in an array, whose keys got their numbers in another order",
      [#"{"y":1}"#, #"{"a":[{"x":0.5,"y":1.5},[{"x":7.5,"y":2.5}]]}"#],
      "SELECT META().id, a[1] IN a WHERE a[0] IN a", [#"["b",true]"#]),
    Report(
      "core 221: null can be selected", nulls, "SELECT v WHERE META().id = 'b'", ["[null]"]),
    Report(
      "core 759, ios 1982: what is missing is not null",
      nulls, "SELECT v ORDER BY META().id", ["[-]", "[null]", "[1]"]),
    Report(
      "core 2209: null is null behind an index",
      nulls, "SELECT META().id, IFNULL(v, 'none'), ISATOM(v), v IS NULL WHERE v IS NULL",
      [#"["b","none",null,true]"#]),
    Report(
      "core 1116: several operands, of which the first valued one counts",
      nulls, "SELECT IFMISSING(z, y, 3), IFMISSINGORNULL(v, z, 4), IFNULL(v, 5) WHERE v IS NULL",
      ["[3,4,5]"]),
    Report(
      "android 1602: a property and NOT NULL",
      nulls, "SELECT META().id WHERE v NOT NULL", [#"["c"]"#]),
    Report(
      "core 410: numbers, booleans and null in a longer text",
      nulls, "SELECT CONCAT(99, ' ', 123.45, ' ', true, ' ', null), CONCAT('a', z) LIMIT 1",
      [#"["99 123.45 true null",-]"#]),
    Report(
      "android 1306: null or missing",
      nulls, "SELECT META().id WHERE v IS NOT VALUED ORDER BY META().id", [#"["a"]"#, #"["b"]"#]),
    Report(
      "core 2137: groups of an unnested array",
      nested,
      "SELECT m, COUNT(*) FROM _ AS d UNNEST d.more AS m GROUP BY m ORDER BY m DESC",
      ["[8,1]", "[7,1]"]),
    Report(
      "android 1600: a join on the ID",
      [#"{"n":"airline"}"#, #"{"k":"a","s":"route"}"#],
      "SELECT DISTINCT l.n, r.s FROM _ AS r JOIN _ AS l ON META(l).id = r.k LIMIT 5",
      [#"["airline","route"]"#]),
    Report(
      "core 634: an array in an array of an array",
      [#"{"tags":[{"w":[[1,2],[3]]},{"w":[]}]}"#],
      """
      SELECT x FROM _ AS d UNNEST d.tags AS t UNNEST t.w AS w UNNEST w AS x WHERE x != 2
      """,
      ["[1]", "[3]"]),
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
        ("c", .value, #"[["COLLATE",\#(Self.noCase),[".s"]]]"#),
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
