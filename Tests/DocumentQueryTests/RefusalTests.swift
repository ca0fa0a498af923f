// RefusalTests.swift: what is not a query, with the place and the nearest name; and how large a
// query may be.

import DocumentQuery
import Testing

@Suite("Refused queries")
struct RefusalTests {
  @Test("errors name the place in the JSON and the nearest name")
  func places() throws {
    let unknown = try #require(refusal(#"{"WHAT":[["._id"]],"WHERE":["AND",1,["uper()",[".a"]]]}"#))
    #expect(unknown.place == "$.WHERE[2]")
    #expect(unknown.nearest == "upper")
    #expect(
      unknown.description == "$.WHERE[2]: unknownName: unknown function 'uper'; nearest is 'upper'")
    let clause = try #require(refusal(#"{"WHAT":[["._id"]],"ODER_BY":["a"]}"#))
    #expect(clause.place == "$.ODER_BY" && clause.nearest == "ORDER_BY")
    let source = try #require(
      refusal(#"{"WHAT":[".bok.a"],"FROM":[{"AS":"book"},{"AS":"b","JOIN":"CROSS"}]}"#))
    #expect(source.code == .noSource && source.nearest == "book" && source.place == "$.WHAT[0]")
    let meta = try #require(refusal(#"["_.",["META()"],".sequenze"]"#))
    #expect(meta.nearest == "sequence")
    let syntax = try #require(refusal("[\"=\",\n1,,2]"))
    #expect(syntax.code == .syntax && syntax.place.hasPrefix("2:"))
  }

  @Test(
    "what is not a query has a code",
    arguments: [
      (#"["power()",1]"#, "operands"), (#"["CASE",[".c"],"red"]"#, "operands"),
      (#"["_.id"]"#, "operands"), (#"[]"#, "syntax"), (#"[1]"#, "syntax"), ("{", "syntax"),
      (#"["~~",1,2]"#, "unknownName"), (#"[">",["count()",["."]],1]"#, "context"),
      (#"{"WHAT":[["sum()",["count()",["."]]]]}"#, "context"),
      (#"{"WHAT":["a"],"HAVING":true}"#, "context"), (#"["MATCH()","x","y"]"#, "missingIndex"),
      (#"["RANK()","x"]"#, "missingIndex"), (#"["?x"]"#, "noSource"), (#"["$","a b"]"#, "operands"),
      (#"{"WHAT":["a"],"LIMIT":[".n"]}"#, "context"), (#"["._id.a"]"#, "operands"),
      (#"{"FROM":[{"AS":"a"},{"AS":"A"}]}"#, "operands"), (#"{"FROM":[{}]}"#, "operands"),
      (#"{"FROM":[{"AS":"a\"b"}]}"#, "operands"), (#"{"FROM":[{"COLLECTION":"x"}]}"#, "noSource"),
      (#"{"FROM":[{"AS":"a","ON":1}]}"#, "context"), (#"["COLLATE",{"CASE":1},"a"]"#, "operands"),
      (#"["COLLATE",{"LOCALE":"a'b"},"a"]"#, "operands"), (#"["BLOB",".a.[x"]"#, "syntax"),
      (#"{"WHAT":[["AS",["count()"],"c"]],"GROUP_BY":["c"]}"#, "context"),
    ])
  func codes(json: String, code: String) {
    #expect(refusal(json)?.code.rawValue == code, "\(json): \(String(describing: refusal(json)))")
  }

  @Test("MATCH() stands outermost or under AND, once for each index")
  func fullText() throws {
    let schema = try #require(QuerySchema.golden["basic"])
    #expect(refusal(#"["OR",["MATCH()","ftsBio","a"],1]"#, schema)?.code == .context)
    #expect(
      refusal(#"["AND",["MATCH()","ftsBio","a"],["MATCH()","ftsBio","b"]]"#, schema)?.code
        == .context)
    #expect(refusal(#"["MATCH()","ftsBoi","a"]"#, schema)?.nearest == "ftsBio")
    #expect(refusal(#"{"WHAT":[["RANK()","ftsBio"]]}"#, schema)?.code == .context)
    #expect(refusal(#"["MATCH()","ftsBio",[".a"]]"#, schema)?.code == .context)
  }

  @Test("depth, width and size have bounds")
  func bounds() {
    func nested(_ count: Int) -> String {
      String(repeating: #"["NOT","#, count: count) + "1" + String(repeating: "]", count: count)
    }
    #expect(refusal(nested(49)) == nil)
    #expect(refusal(nested(50))?.code == .limit)
    #expect(refusal(nested(5000))?.code == .limit)
    let items = String(repeating: ",1", count: 127)
    #expect(refusal("[\"[]\"\(items)]")?.code == .limit)
    #expect(refusal("[\"AND\"\(String(repeating: ",1", count: 901))]")?.code == .limit)
    #expect(refusal("[\"AND\"\(String(repeating: ",1", count: 900))]") == nil)
    #expect(refusal("[\"IN\",1\(String(repeating: ",1", count: 20_000))]")?.code == .limit)
    #expect(refusal(String(repeating: " ", count: 300_000))?.code == .limit)
  }
}
