// GoldenSQLTests.swift: queries of the real library: the SQL and the titles of columns are equal,
// letter by letter, so that either finds the other's indexes.

import DocumentQuery
import Testing

@Suite("SQL of the real library")
struct GoldenSQLTests {
  @Test("queries become the real library's SQL and titles")
  func sqlIsEqual() throws {
    #expect(GoldenQuery.all.count > 220)
    var count = 0
    for query in GoldenQuery.all where !query.sql.isEmpty {
      let schema = try #require(QuerySchema.golden[query.database])
      let translation = try QueryTranslation(json: query.json, schema: schema)
      // A point before an index is left out, since it would be an empty name.
      let sql = query.sql.replacing("'.[0]'", with: "'[0]'")
      #expect(translation.sql == sql, "\(query.json)")
      #expect(translation.columnTitles == query.titles, "\(query.json)")
      count += 1
    }
    #expect(count > 215)
  }

  @Test("queries that the real library refuses are refused")
  func refusalsAreEqual() throws {
    let refused = GoldenQuery.all.filter { $0.sql.isEmpty }
    #expect(refused.count >= 5)
    for query in refused {
      let schema = try #require(QuerySchema.golden[query.database])
      #expect(throws: DocumentQueryError.self, "\(query.json): \(query.error)") {
        try QueryTranslation(json: query.json, schema: schema)
      }
    }
  }

  @Test("expressions of indexes become the SQL that the real library compares")
  func indexesAreEqual() throws {
    func sql(_ json: String, _ rows: IndexExpression.Rows = .documents) throws -> [String] {
      let body = rows == .texts ? "new.body" : "body"
      return try IndexExpression.translate(json: json, rows: rows, body: body).expressions
    }
    #expect(try sql(#"[[".name"]]"#) == ["fl_value(body, 'name')"])
    #expect(
      try sql(#"[[".type"],[".n"],["._id"]]"#)
        == ["fl_value(body, 'type')", "fl_value(body, 'n')", "key"])
    #expect(
      try sql(#"[["COLLATE",{"UNICODE":true,"CASE":false,"DIAC":false},[".name"]]]"#)
        == ["fl_value(body, 'name') COLLATE LCUnicode_CD_"])
    #expect(try sql(#"[[".kind"]]"#, .items) == ["fl_unnested_value(body, 'kind')"])
    #expect(
      try sql(#"[[".bio"],"name"]"#, .texts)
        == ["fl_fts_value(new.body, 'bio')", "fl_fts_value(new.body, 'name')"])
    let zip = try IndexExpression.translate(
      json: #"{"WHAT":[[".address.zip"]],"WHERE":["=",[".type"],"person"]}"#)
    #expect(zip.expressions == ["fl_value(body, 'address.zip')"])
    #expect(zip.paths == ["address.zip"])
    #expect(zip.condition == "fl_value(body, 'type') = 'person'")
    let trigger = try IndexExpression.translate(
      json: #"{"WHAT":[[".tags"]],"WHERE":[">",[".n"],100]}"#, rows: .texts, body: "new.body")
    #expect(trigger.condition == "fl_value(new.body, 'n') > 100")
  }
}
