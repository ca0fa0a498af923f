// LanguageTests.swift: what the JSON language means, where the real library's queries at hand do
// not say it: precedence, collations, names, and where its SQL would mean another thing.

import DocumentQuery
import Testing

@Suite("The JSON language")
struct LanguageTests {
  @Test("parentheses stand where SQL needs them")
  func parentheses() throws {
    #expect(try condition(#"["NOT",["<",2,1]]"#) == "NOT (2 < 1)")
    #expect(try condition(#"["*",["+",1,2],["+",3,["-",4]]]"#) == "(1 + 2) * (3 + -4)")
    #expect(try condition(#"["-",-5]"#) == "-(-5)")
    #expect(try condition(#"["=",["=",1,2],3]"#) == "(1 = 2) = 3")
    #expect(
      try condition(#"["AND",["OR",[".a"],[".b"]],[".c"]]"#)
        == "(fl_value(body, 'a') OR fl_value(body, 'b')) AND fl_value(body, 'c')")
  }

  @Test("NOT is enclosed where SQL would take it for the whole comparison")
  func notIsLoose() throws {
    #expect(try condition(#"["=",["NOT",1],2]"#) == "(NOT 1) = 2")
    #expect(try condition(#"["AND",["NOT",1],2]"#) == "NOT 1 AND 2")
  }

  @Test("a collation reaches the comparisons inside it")
  func collations() throws {
    #expect(
      try condition(
        #"["AND",["COLLATE",{"unicode":true,"locale":"se","case":false},["=",[".n"],"x"]],1]"#)
        == "fl_value(body, 'n') COLLATE LCUnicode_C__se = 'x' AND 1")
    #expect(
      try condition(#"["COLLATE",{"case":true},["LIKE",[".n"],"b%"]]"#)
        == #"fl_value(body, 'n') COLLATE BINARY LIKE 'b%' ESCAPE '\'"#)
    #expect(
      try condition(#"["=",["COLLATE",{"case":false},["+",1,2]],3]"#)
        == "(1 + 2) COLLATE NOCASE = 3")
    #expect(
      try condition(#"["OR",1,["COLLATE",{"case":false},["AND",["=",[".a"],"b"],2]]]"#)
        == "1 OR (fl_value(body, 'a') COLLATE NOCASE = 'b' AND 2)")
  }

  @Test("conditions on items name them apart from sources and from each other")
  func items() throws {
    #expect(
      try condition(#"["ANY","x",[".a"],["ANY","x",["?x.b"],[">",["?x"],1]]]"#)
        == "EXISTS (SELECT 1 FROM fl_each(body, 'a') AS _x WHERE (EXISTS (SELECT 1 FROM "
        + "fl_each(fl_nested_value(_x.body, 'b')) AS __x WHERE __x.value > 1)))")
    #expect(
      try condition(#"["ANY","doc",[".a"],[">",["?doc"],[".b"]]]"#)
        .contains("fl_each(body, 'a') AS __doc WHERE _value > fl_value(body, 'b')"))
    #expect(
      try condition(#"["ANY","x",[".a"],["=",["?x"],["?x.y"]]]"#)
        == "EXISTS (SELECT 1 FROM fl_each(body, 'a') AS _x WHERE "
        + "_x.value = fl_nested_value(_x.body, 'y'))")
  }

  @Test("numbers are no columns, and quotes do not end a text")
  func literals() throws {
    #expect(try sql(#"{"WHAT":["a"],"ORDER_BY":[1,["-",2]]}"#).hasSuffix("ORDER BY NULL, NULL"))
    #expect(try condition(#"["=",[".a"],"it's"]"#) == "fl_value(body, 'a') = 'it''s'")
    #expect(try condition("[\"=\",[\".a\"],\"'\u{301}\"]").hasSuffix("= '''\u{301}'"))
    #expect(
      try condition(#"["=",[".a"],"a\u0000'"]"#)
        == "fl_value(body, 'a') = CAST(X'610027' AS TEXT)")
    #expect(try condition(#"["=",1e400,18446744073709551615]"#) == "9e999 = 18446744073709551615")
    #expect(
      try condition(#"["=",["greatest()",1],["least()",[".a"],2]]"#)
        == "max(1, 1) = min(fl_value(body, 'a'), 2)")
  }

  @Test("words of SQL are quoted as names of sources and columns")
  func names() throws {
    #expect(
      try sql(#"{"WHAT":[["AS",[".order.a"],"select"]],"FROM":[{"AS":"order"}]}"#)
        == "SELECT fl_result(fl_value(\"order\".body, 'a')) AS \"select\" FROM kv_default AS "
        + "\"order\" WHERE (\"order\".flags & 1 = 0)")
  }

  @Test("a SELECT as an operand has parentheses and one column")
  func selects() throws {
    let inner = #"["SELECT",{"WHAT":[["count()",["."]]]}]"#
    #expect(
      try condition(#"["=",\#(inner),["array_count()",\#(inner)]]"#)
        .hasPrefix("(SELECT count(fl_root(body)) FROM"))
    #expect(refusal(#"["EXISTS",["SELECT",{"WHAT":["a","b"]}]]"#)?.code == .operands)
  }

  @Test("columns are found by name in the order, and by what they are in the grouping")
  func columnNames() throws {
    #expect(
      try sql(
        #"{"WHAT":[["AS",[".a"],"n"]],"WHERE":[".n"],"GROUP_BY":["n"],"ORDER_BY":["n.b"]}"#)
        == "SELECT fl_result(fl_value(_doc.body, 'a')) AS n FROM kv_default AS _doc WHERE "
        + "(fl_value(_doc.body, 'a')) AND (_doc.flags & 1 = 0) GROUP BY fl_value(_doc.body, 'a') "
        + "ORDER BY fl_nested_value(n, 'b')")
  }

  @Test("a condition alone is a query, and SELECT may stand in a list")
  func shapes() throws {
    #expect(
      try sql(#"["=",[".a"],1]"#)
        == "SELECT key, sequence FROM kv_default AS _doc WHERE (fl_value(_doc.body, 'a') = 1) "
        + "AND (_doc.flags & 1 = 0)")
    #expect(try sql(#"["select",{"what":["a"],"limit":["$n"]}]"#).hasSuffix("LIMIT MAX(0, $_n)"))
    let translation = try QueryTranslation(
      json: #"["AND",["=",["$b"],["$",7]],["$b"]]"#, schema: .plain)
    #expect(translation.parameters == ["b", "7"])
  }

  @Test(
    "what runs here has no columns for the real library's reader, and no calls without effect",
    arguments: [
      (
        "SELECT META().id, META().sequence, META().revisionID, n FROM _",
        "SELECT _.key, _.sequence, fl_result(fl_version(_.version)), "
          + "fl_result(fl_value(_.body, 'n')) FROM kv_default AS _ WHERE (_.flags & 1 = 0)"
      ),
      (
        "SELECT _id, _deleted FROM _ ORDER BY _id",
        "SELECT _.key, fl_result((_.flags & 1 != 0)) FROM all_default AS _ ORDER BY _.key"
      ),
    ])
  func own(text: String, sql: String) throws {
    let translation = try QueryTranslation(text: text, schema: .plain, form: .own)
    #expect(translation.sql == sql)
    let library = try QueryTranslation(text: text, schema: .plain)
    #expect(translation.columnTitles == library.columnTitles && translation.firstColumn == 0)
  }

  @Test(
    "the name of a column means its expression in WHERE and HAVING, before a property's",
    arguments: [
      (
        #"{"WHAT":[["AS",[".a.b"],"a"]],"WHERE":["=",[".a"],1]}"#,
        "fl_value(_doc.body, 'a.b') = 1"
      ),
      (
        #"{"WHAT":[["AS",["+",[".a"],1],"x"]],"WHERE":["<",["*",[".x"],2],[".x.y"]]}"#,
        "(fl_value(_doc.body, 'a') + 1) * 2 < fl_nested_value(fl_value(_doc.body, 'a') + 1, 'y')"
      ),
      (
        #"{"WHAT":[["AS",[".b"],"x"]],"FROM":[{"AS":"_doc"}],"WHERE":["=",[".x"],["._doc.x"]]}"#,
        "fl_value(_doc.body, 'b') = fl_value(_doc.body, 'x')"
      ),
    ])
  func columnNames(json: String, condition: String) throws {
    let sql = try sql(json)
    #expect(sql.hasSuffix(" WHERE (\(condition)) AND (_doc.flags & 1 = 0)"), "\(sql)")
    let having = try QueryTranslation(
      json: #"{"WHAT":[["AS",["count()",["."]],"n"]],"GROUP_BY":[[".t"]],"HAVING":[">",[".n"],1]}"#,
      schema: .plain
    ).sql
    #expect(having.hasSuffix(" HAVING count(fl_root(_doc.body)) > 1"))
    let constant = try QueryTranslation(
      json: #"{"WHAT":[["AS",-7,"n"]],"ORDER_BY":[["DESC",[".n"]]]}"#, schema: .plain
    ).sql
    #expect(constant.hasSuffix(" ORDER BY NULL DESC"))
    let aggregate = refusal(#"{"WHAT":[["AS",["count()",["."]],"n"]],"WHERE":[">",[".n"],1]}"#)
    #expect(aggregate?.code == .context)
  }

  @Test(
    "steps behind the first word are names, and no paths",
    arguments: [
      (#"[".","a.b"]"#, #"fl_value(body, 'a\.b')"#),
      (#"[".","a","b",[0]]"#, "fl_value(body, 'a.b[0]')"),
      (#"[".a.b","c.d"]"#, #"fl_value(body, 'a.b.c\.d')"#),
      (#"[".","a[0]"]"#, #"fl_value(body, 'a\[0]')"#), (#"[".","_id"]"#, "key"),
    ])
  func names(json: String, value: String) throws {
    #expect(try condition(#"["=",\#(json),1]"#) == value + " = 1")
  }

  @Test("titles are unique, and a collection that is named with its scope has its own name")
  func titles() throws {
    let schema = QuerySchema(
      databaseName: "db",
      collections: [
        QuerySchema.collection("_default"), QuerySchema.collection("c", scope: "s"),
        QuerySchema.collection("c", scope: "t"),
      ])
    func titles(_ text: String) throws -> [String] {
      try QueryTranslation(text: text, schema: schema).columnTitles
    }
    #expect(try titles("SELECT * FROM _default._default") == ["_default"])
    #expect(try titles("SELECT * FROM s.c") == ["c"])
    #expect(try titles("SELECT *, s.c.a FROM s.c CROSS JOIN t.c") == ["s.c", "a"])
    #expect(try titles("SELECT * FROM s.c AS `s.d`") == ["s.d"])
    #expect(
      try titles("SELECT a, 1 AS `a #2`, b.a, META().id, META().id FROM _")
        == ["a", "a #2", "a #3", "id", "id #2"])
    let json = #"{"WHAT":[["_.",["META()"],".id"],["_.",["meta()"],".id"]]}"#
    #expect(try QueryTranslation(json: json, schema: schema).columnTitles == ["$1", "id"])
  }

  @Test("the last name of a collection alone is not enough when two have it")
  func ambiguous() throws {
    let schema = QuerySchema(
      databaseName: "db",
      collections: [
        QuerySchema.collection("c", scope: "s"), QuerySchema.collection("c", scope: "t"),
      ])
    func error(_ text: String) -> DocumentQueryError.Code? {
      do { _ = try QueryTranslation(text: text, schema: schema) } catch { return error.code }
      return nil
    }
    #expect(error("SELECT c.a FROM s.c") == nil)
    #expect(error("SELECT c.a FROM s.c CROSS JOIN t.c") == .noSource)
    #expect(error("SELECT META(`s.c`).id, META(t.c).id FROM s.c CROSS JOIN t.c") == nil)
    #expect(error("SELECT META(c).id FROM s.c CROSS JOIN t.c") == .noSource)
  }
}
