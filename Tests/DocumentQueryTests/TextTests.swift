// TextTests.swift: SQL++: each text means what a query of JSON means, and errors have a line and a
// column.

import DocumentQuery
import Testing

@Suite("SQL++")
struct TextTests {
  private func same(_ text: String, _ json: String, _ schema: QuerySchema = .plain) throws {
    let expected = try QueryTranslation(json: json, schema: schema)
    let found = try QueryTranslation(text: text, schema: schema)
    #expect(found.sql == expected.sql, "\(text)")
    #expect(found.columnTitles == expected.columnTitles, "\(text)")
  }

  @Test(
    "texts mean queries of JSON",
    arguments: [
      ("SELECT name", #"{"WHAT":[[".name"]]}"#),
      ("select * from _", #"{"WHAT":[["."]],"FROM":[{"COLLECTION":"_"}]}"#),
      ("SELECT * AS x FROM _", #"{"WHAT":[["AS",["."],"x"]],"FROM":[{"COLLECTION":"_"}]}"#),
      ("SELECT * x, 1 FROM _", #"{"WHAT":[["AS",["."],"x"],1],"FROM":[{"COLLECTION":"_"}]}"#),
      (
        "SELECT a.b[0].c AS x, `odd.name` FROM _ WHERE n = 1 AND t != 'it''s' OR NOT ok",
        #"""
        {"WHAT":[["AS",[".a.b[0].c"],"x"],[".odd\\.name"]],"FROM":[{"COLLECTION":"_"}],\#
        "WHERE":["OR",["AND",["=",[".n"],1],["!=",[".t"],"it's"]],["NOT",[".ok"]]]}
        """#
      ),
      (
        "SELECT 1 + 2 * -3 - 4 + 5 + 6 || 'x'",
        #"{"WHAT":[["+",["-",["+",1,["*",2,-3]],4],5,["||",6,"x"]]]}"#
      ),
      (
        "SELECT x FROM _ WHERE a IS NULL AND b IS NOT MISSING AND c IS VALUED AND d IS NOT VALUED",
        #"""
        {"WHAT":[[".x"]],"FROM":[{"COLLECTION":"_"}],"WHERE":["AND",["IS",[".a"],null],["IS \#
        NOT",[".b"],["MISSING"]],["IS VALUED",[".c"]],["NOT",["IS VALUED",[".d"]]]]}
        """#
      ),
      (
        "SELECT x WHERE a IN (1, 2) AND b NOT IN [3] AND c LIKE 'a%' AND d NOT BETWEEN 1 AND 2 + 3",
        #"""
        {"WHAT":[[".x"]],"WHERE":["AND",["IN",[".a"],["[]",1,2]],["NOT",["IN",[".b"],["[]",\#
        3]]],["LIKE",[".c"],"a%"],["NOT",["BETWEEN",[".d"],1,["+",2,3]]]]}
        """#
      ),
      (
        """
        SELECT x WHERE ANY v IN tags SATISFIES v.kind = 'a' END AND EVERY w IN b SATISFIES \
        w > 1 END
        """,
        #"""
        {"WHAT":[[".x"]],"WHERE":["AND",["ANY","v",[".tags"],["=",["?v.kind"],"a"]],\#
        ["EVERY","w",[".b"],[">",["?w"],1]]]}
        """#
      ),
      (
        "SELECT CASE WHEN a > 1 THEN 'x' ELSE {'k': [1, null]} END, CASE a WHEN 1 THEN 2 END",
        #"{"WHAT":[["CASE",null,[">",[".a"],1],"x",{"k":["[]",1,null]}],["CASE",[".a"],1,2]]}"#
      ),
      (
        """
        SELECT type, COUNT(*) AS n FROM _ GROUP BY type HAVING COUNT(*) > $least ORDER BY \
        type DESC LIMIT 3 OFFSET 1
        """,
        #"""
        {"WHAT":[[".type"],["AS",["count()",["."]],"n"]],"FROM":[{"COLLECTION":"_"}],\#
        "GROUP_BY":[[".type"]],"HAVING":[">",["count()",["."]],["$least"]],\#
        "ORDER_BY":[["DESC",[".type"]]],"LIMIT":3,"OFFSET":1}
        """#
      ),
      (
        "SELECT d.n, t FROM _ AS d JOIN _ b ON d.n = b.n UNNEST d.tags AS t",
        #"""
        {"WHAT":[[".d.n"],[".t"]],"FROM":[{"COLLECTION":"_","AS":"d"},{"COLLECTION":"_",\#
        "AS":"b","JOIN":"INNER","ON":["=",[".d.n"],[".b.n"]]},{"AS":"t",\#
        "UNNEST":[".d.tags"]}]}
        """#
      ),
      (
        "SELECT META().id, META().sequence AS s WHERE META().id = 'x' -- a comment",
        #"""
        {"WHAT":[["_.",["meta()"],".id"],["AS",["_.",["meta()"],".sequence"],"s"]],\#
        "WHERE":["=",["_.",["meta()"],".id"],"x"]}
        """#
      ),
      (
        "SELECT DISTINCT name COLLATE UNICODE:NOCASE:NODIAC ORDER BY name",
        #"""
        {"DISTINCT":true,"WHAT":[["COLLATE",{"UNICODE":true,"CASE":false,"DIAC":false},\#
        [".name"]]],"ORDER_BY":[[".name"]]}
        """#
      ),
      (
        "SELECT name WHERE a = 'x' OR b = 'y' COLLATE (UNICODE CASE NODIAC)",
        #"""
        {"WHAT":[[".name"]],"WHERE":["COLLATE",{"UNICODE":true,"CASE":true,"DIAC":false},\#
        ["OR",["=",[".a"],"x"],["=",[".b"],"y"]]]}
        """#
      ),
      (
        "SELECT (name = 'x') COLLATE NOCASE is_x ORDER BY name COLLATE UNICODE:NOCASE:de DESC",
        #"""
        {"WHAT":[["AS",["COLLATE",{"CASE":false},["=",[".name"],"x"]],"is_x"]],\#
        "ORDER_BY":[["DESC",["COLLATE",{"UNICODE":true,"CASE":false,"LOCALE":"de"},[".name"]]]]}
        """#
      ),
      (
        "SELECT a WHERE a < 3 = b > 4 AND type='airline' and callsign not null",
        #"""
        {"WHAT":[[".a"]],"WHERE":["AND",["=",["<",[".a"],3],[">",[".b"],4]],\#
        ["=",[".type"],"airline"],["IS NOT",[".callsign"],null]]}
        """#
      ),
      (
        """
        SELECT {'x': 17}.x, [1, {'y': 2}][1].y, $p.a[0], foo9$_X, .25, "a ""b"" c" \
        OFFSET 2 LIMIT 1;
        """,
        #"""
        {"WHAT":[["_.",{"x":17},".x"],["_.",["[]",1,{"y":2}],".[1].y"],["_.",["$p"],".a[0]"],\#
        [".foo9$_X"],0.25,["concat()","a \"b\" c",""]],"OFFSET":2,"LIMIT":1}
        """#
      ),
      (
        "SELECT x WHERE EXISTS (SELECT y FROM _ WHERE y = 1) AND (a || b).c = upper('q')",
        #"""
        {"WHAT":[[".x"]],"WHERE":["AND",["EXISTS",["SELECT",{"WHAT":[[".y"]],\#
        "FROM":[{"COLLECTION":"_"}],"WHERE":["=",[".y"],1]}]],["=",["_.",["||",[".a"],\#
        [".b"]],".c"],["upper()","q"]]]}
        """#
      ),
      (
        "SELECT 'text', -9223372036854775808, 1e3, true",
        #"{"WHAT":[["concat()","text",""],-9223372036854775808,1e3,true]}"#
      ),
    ])
  func meanings(text: String, json: String) throws { try same(text, json) }

  @Test("full-text search has the index's name or a path")
  func fullText() throws {
    let schema = try #require(QuerySchema.golden["basic"])
    try same(
      "SELECT META().id, RANK(ftsBio) WHERE MATCH(ftsBio, 'river') ORDER BY RANK(ftsBio) DESC",
      #"""
      {"WHAT":[["_.",["meta()"],".id"],["RANK()","ftsBio"]],"WHERE":["MATCH()",\#
      "ftsBio","river"],"ORDER_BY":[["DESC",["RANK()","ftsBio"]]]}
      """#,
      schema)
    try same(
      "SELECT d.n FROM _ AS d WHERE MATCH(d.ftsBio, 'river')",
      #"""
      {"WHAT":[[".d.n"]],"FROM":[{"COLLECTION":"_","AS":"d"}],"WHERE":["MATCH()","d.ftsBio",\#
      "river"]}
      """#,
      schema)
  }

  @Test(
    "errors have a line, a column and the nearest word",
    arguments: [
      ("SELCT a", "1:1", "SELECT"), ("SELECT a\nFORM _", "2:6", nil),
      ("SELECT a FROM", "1:14", nil),
      ("SELECT a WHERE b =", "1:19", nil), ("SELECT 'a", "1:8", nil), ("SELECT a # b", "1:10", nil),
      ("SELECT uper(a)", "1:8", "upper"), ("SELECT a FROM nope", "1:15", nil),
      ("SELECT a WHERE (b", "1:18", nil), ("SELECT 1x", "1:8", nil), ("", "1:1", nil),
      ("SELECT a FROM _ AS d JOIN _ AS e WHERE 1", "1:34", nil), ("SELECT $ ", "1:8", nil),
      ("SELECT a /* b", "1:10", nil), ("SELECT a COLLATE NOCSE", "1:18", "NOCASE"),
      ("SELECT a COLLATE UNICODE NOCASE x", "1:33", nil), ("SELECT a; b", "1:11", nil),
      ("SELECT a COLLATE (NOCASE FRED)", "1:26", nil), ("SELECT a LIMIT 1 LIMIT 2", "1:18", nil),
      ("SELECT a WHERE ANY x IN b END", "1:27", nil),
    ])
  func errors(text: String, place: String, nearest: String?) {
    do {
      _ = try QueryTranslation(text: text, schema: .plain)
      Issue.record("\(text) is taken")
    } catch {
      #expect(error.place == place, "\(text): \(error)")
      #expect(nearest == nil || error.nearest == nearest, "\(text): \(error)")
    }
  }

  @Test("depth has a bound, and long sums are not deep")
  func bounds() {
    func refused(_ text: String) -> DocumentQueryError.Code? {
      do { _ = try QueryTranslation(text: text, schema: .plain) } catch { return error.code }
      return nil
    }
    let parentheses = String(repeating: "(", count: 5000)
    #expect(refused("SELECT \(parentheses)1") == .limit)
    #expect(refused("SELECT \(String(repeating: "- ", count: 5000))a") == .limit)
    #expect(refused("SELECT 1 WHERE \(String(repeating: "NOT ", count: 5000)) a") == .limit)
    #expect(refused("SELECT \(String(repeating: "[", count: 5000))") == .limit)
    #expect(refused("SELECT a" + String(repeating: " + 1", count: 500)) == nil)
    #expect(refused("SELECT a WHERE b" + String(repeating: " AND c", count: 500)) == nil)
  }
}
