// DocumentQueryTarget.swift: [U] texts as queries over documents, in JSON and in SQL++: accepted
// ones become SQL that SQLite prepares. Invariants checked: no text becomes SQL that SQLite
// rejects, except because of its own limits; the statement has as many columns as the result has
// titles; every rejection has a position. Safety: a fuzz target runs on one thread.

import DocumentQuery
import DocumentQueryReference
import DocumentStore
import Fuzz

enum DocumentQueryTarget {
  static let json = FuzzTarget(
    name: "document-query-json", judges: "queries over documents in JSON: to SQL that prepares",
    smokeCount: 800, seeds: { jsonSamples.map { Array($0.utf8) } },
    run: { input in
      run { () throws(DocumentQueryError) in
        try QueryTranslation(json: String(decoding: input, as: UTF8.self), schema: schema)
      }
    }
  ).with {
    $0.mutate = mutator(jsonSamples).mutation
    $0.dictionary = words
  }

  static let text = FuzzTarget(
    name: "document-query-text", judges: "queries over documents in SQL++: to SQL that prepares",
    smokeCount: 800, seeds: { textSamples.map { Array($0.utf8) } },
    run: { input in
      run { () throws(DocumentQueryError) in
        try QueryTranslation(text: String(decoding: input, as: UTF8.self), schema: schema)
      }
    }
  ).with {
    $0.mutate = mutator(textSamples).mutation
    $0.dictionary = words
  }

  static func run(
    _ translate: () throws(DocumentQueryError) -> QueryTranslation
  ) -> FuzzOutcome {
    let translation: QueryTranslation
    do throws(DocumentQueryError) { translation = try translate() } catch {
      return error.place.isEmpty ? .finding("refused without a place: \(error)") : .refused
    }
    switch unsafe preparer.prepare(translation) {
    case .taken: return .accepted
    case .beyondBounds: return .refused
    case .refused(let message): return .finding("\(message): \(translation.sql)")
    }
  }

  nonisolated(unsafe) private static let preparer: QueryPreparer = {
    do { return try QueryPreparer(schema) } catch { preconditionFailure("\(error)") }
  }()

  /// A default collection with an index of each kind, and two others.
  static let schema = QuerySchema(
    databaseName: "db",
    collections: [
      QuerySchema.Collection(
        name: "_default", table: "kv_default", deadTable: "kv_del_default", view: "all_default",
        indexes: [
          QuerySchema.Index(name: "words", kind: .fullText, table: "kv_default::words"),
          QuerySchema.Index(name: "tags", kind: .array(path: "tags"), table: "0tags"),
          QuerySchema.Index(name: "deep", kind: .array(path: "tags[].b"), table: "deep"),
          QuerySchema.Index(
            name: "model",
            kind: .predictive(expressions: #"[["PREDICTION()","m",{"a":[".a"]}]]"#),
            table: "kv_default:predict:x"),
        ]),
      QuerySchema.Collection(
        name: "Other", table: #"kv_.\Other"#, deadTable: #"kv_del_.\Other"#, view: #"all_.\Other"#
      ),
      QuerySchema.Collection(
        name: "b", scope: "a", table: "kv_.a.b", deadTable: "kv_del_.a.b", view: "all_.a.b"),
    ])

  private static let words =
    QueryFunction.names.map { "\"\($0)()\"" } + QueryOperator.allCases.map { "\"\($0.rawValue)\"" }
    + [
      "\"ANY\",\"x\",", "[\"?x\"]", "[\".a\"]", "[\".\"]", "[\"._id\"]", "[\"._deleted\"]", "null",
      "\"WHAT\":[", "\"FROM\":[", "{\"AS\":\"d\"}", "\"UNNEST\":[\".d.tags\"]", "\"MATCH()\"",
      "SELECT ", " FROM _ AS d ", " UNNEST d.tags AS t ", " WHERE ", "META().id", "`a b`", "'x'",
      " COLLATE UNICODE:NOCASE ", "ANY v IN a SATISFIES v = 1 END", "$p", "\"_doc\"", "\"order\"",
    ]

  private static func mutator(_ samples: [String]) -> TextMutator {
    TextMutator(words: words) { choices in samples[choices.below(samples.count)] }
  }

  private static let jsonSamples: [String] =
    [
      #"""
      {"WHAT":[["._id"],["AS",[".a"],"x"]],"WHERE":["AND",["=",[".a"],1],["MATCH()","words",\#
      "y"]],"ORDER_BY":[["DESC",[".x.y"]],1],"LIMIT":["$n"],"OFFSET":2}
      """#,
      #"""
      {"FROM":[{"AS":"d"},{"AS":"t","UNNEST":[".d.tags"]},{"AS":"u","UNNEST":[".t.b"]},\#
      {"COLLECTION":"a.b","AS":"e","JOIN":"LEFT OUTER","ON":["=",[".d.n"],[".e.n"]]}],\#
      "WHAT":[[".d.a"],[".t"],[".u.c"],["META()","e"]]}
      """#,
      #"""
      {"WHAT":[["count()",["."]],[".t"]],"GROUP_BY":[[".t"]],"HAVING":[">",["max()",[".n"]],\#
      1],"DISTINCT":true}
      """#,
      #"""
      ["OR",["ANY AND EVERY","x",["[]",1,{"a":[".b"]}],["IN",["?x"],["SELECT",\#
      {"WHAT":["n"]}]]],["COLLATE",{"UNICODE":true,"CASE":false},["BETWEEN",[".a"],"a",\#
      "b"]]]
      """#,
      #"""
      {"WHAT":[["PREDICTION()","m",{"a":[".a"]},".r"],["CASE",null,[".a"],1,2],["RANK()",\#
      "words"]],"WHERE":["AND",["MATCH()","words","y"],["._deleted"]]}
      """#,
      #"["IS",["_.",["META()"],".deleted"],["MISSING"]]"#,
      #"""
      {"FROM":[{"COLLECTION":"Other"}],"WHAT":["."],"WHERE":["AND",["._deleted"],["EXISTS",\#
      [".a[-1]"]]]}
      """#,
      #"["=",["-",-5],["NOT",["LIKE",["BLOB",".a"],"a\u0000'"]]]"#,
    ]
    + (0..<16 as Range<UInt64>).map { seed in
      var generator = PlainGenerator(seed: seed)
      return generator.query().json
    }

  private static let textSamples = [
    "SELECT DISTINCT d.a AS x, t.* FROM _ AS d UNNEST d.tags AS t LEFT JOIN a.b AS e ON d.n = e.n",
    "SELECT META().id, COUNT(*) FROM Other WHERE a IS NOT MISSING GROUP BY b HAVING COUNT(*) > 1",
    "SELECT x WHERE ANY v IN [1, {'k': y}] SATISFIES v.k LIKE 'a%' END ORDER BY x DESC LIMIT $n",
    "SELECT CASE a WHEN 1 THEN 'x' ELSE (b || c).d END, RANK(words) WHERE MATCH(words, 'y*')",
    "SELECT -a * (2 + `b c`[0].d) % 3 WHERE a IN (SELECT n FROM _) AND EXISTS (SELECT n FROM _)",
    "SELECT a COLLATE UNICODE:NOCASE:NODIAC:se FROM _ WHERE NOT (b BETWEEN 1 AND 2) -- end",
  ]
}
