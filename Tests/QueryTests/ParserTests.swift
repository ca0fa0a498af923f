// ParserTests.swift: texts and the trees they are read as, round trips, and errors in words.

import Engine
import Testing

@testable import Query
@testable import QueryReference

@Suite("The parser")
struct ParserTests {
  /// Each is read, printed, and read again as the same tree.
  static let texts: [(text: String, printed: String)] = [
    ("age > 5", "age > 5"),
    ("age=5", "age == 5"),
    ("age <> -5 || ! (a == 1 && b.c == 2)", "age != -5 OR NOT (a == 1 AND b.c == 2)"),
    ("((a == 1))", "a == 1"),
    ("(a == 1 or b == 2) and c == 3", "(a == 1 OR b == 2) AND c == 3"),
    ("a == 1 AND (b == 2 AND c == 3)", "a == 1 AND (b == 2 AND c == 3)"),
    ("NOT NOT a == 1", "NOT NOT a == 1"),
    ("a + b * 2 - (c - d) / 3 > 1.5e3", "a + b * 2 - (c - d) / 3 > 1.5e3"),
    ("(a + b) + c == a + (b + c)", "(a + b) + c == a + (b + c)"),
    ("(a * b) / c == a * (b / c)", "(a * b) / c == a * (b / c)"),
    ("age -5 > 0", "age - 5 > 0"),
    ("(a + 1) > 2 AND ((b) == (3))", "a + 1 > 2 AND b == 3"),
    ("name BEGINSWITH[c] 'a\\'b\\n\\u00e9\\ud83d\\ude00'", "name BEGINSWITH[c] 'a\\'b\\né😀'"),
    ("name ==[d] 'a' OR name LIKE[DC] 'b'", "name ==[d] 'a' OR name LIKE[cd] 'b'"),
    ("name contains \"it's\"", "name CONTAINS 'it\\'s'"),
    ("name LIKE '*a?'", "name LIKE '*a?'"),
    ("age BETWEEN {1, $0}", "age BETWEEN {1, $0}"),
    ("age IN {1, 2, null}", "age IN {1, 2, null}"),
    ("name in[c] {}", "name IN[c] {}"),
    ("ANY items.price > ALL {1, 2}", "ANY items.price > ALL {1, 2}"),
    ("SOME items.price == NONE $1", "ANY items.price == NONE $1"),
    ("items.@count > 1 AND items.@avg.price < 2.5", "items.@count > 1 AND items.@avg.price < 2.5"),
    ("prices.@sum == prices.@min + prices.@MAX", "prices.@sum == prices.@min + prices.@max"),
    ("any.@type == 'string'", "\\any.@type == 'string'"),
    ("ANY all[0] == none.x", "ANY \\all[0] == \\none.x"),
    ("any == 1 AND 2 < all", "\\any == 1 AND 2 < \\all"),
    ("none IN {1} OR NOT not BETWEEN {1, 2}", "\\none IN {1} OR NOT \\not BETWEEN {1, 2}"),
    ("(some CONTAINS[c] 'a') OR any != NO", "\\some CONTAINS[c] 'a' OR \\any != false"),
    ("ANY in == 1 AND ANY and.x IN {1}", "ANY in == 1 AND ANY and.x IN {1}"),
    ("ANY text TEXT 'a' OR ANY in[0] == 1", "ANY text TEXT 'a' OR ANY in[0] == 1"),
    ("value.@type == 'string'", "value.@type == 'string'"),
    ("map.@keys == 'a' AND map['it\\'s'] == 1", "map.@keys == 'a' AND map['it\\'s'] == 1"),
    ("list[0] == list[FIRST] + list[LAST]", "list[0] == list[FIRST] + list[LAST]"),
    ("list[SIZE] > 0 AND list[$0].a == 1", "list[SIZE] > 0 AND list[$0].a == 1"),
    (
      "SUBQUERY(items, $x, $x.price > 5 AND $x.a == b).@count > 0",
      "SUBQUERY(items, $x, $x.price > 5 AND $x.a == b).@count > 0"
    ),
    ("@links.Dog.owner.@count > 0", "@links.Dog.owner.@count > 0"),
    ("ANY @links.Dog.owner.name == 'a'", "ANY @links.Dog.owner.name == 'a'"),
    ("a.@links.@count == 0", "a.@links.@count == 0"),
    ("x == inf OR x == -infinity OR x == NaN", "x == inf OR x == -inf OR x == nan"),
    ("x == 1.50 OR x == .5 OR x == 2.5f", "x == 1.50 OR x == .5 OR x == 2.5f"),
    ("x == 99999999999999999999", "x == 99999999999999999999"),
    ("x == 0xff OR x == -0x10", "x == 255 OR x == -16"),
    ("x == B64\"AAEC/w==\"", "x == B64\"AAEC/w==\""),
    ("x < 1970-01-02@00:00:01:5", "x < T86401:5"),
    ("x < 2000-03-01T00:00:00", "x < T951868800:0"),
    ("x > T-5:-300", "x > T-5:-300"),
    (
      "x == uuid(D1b186e1-e9e0-4768-a1a7-c492519d47ee)",
      "x == uuid(d1b186e1-e9e0-4768-a1a7-c492519d47ee)"
    ),
    ("x == oid(507f1f77bcf86cd799439011)", "x == oid(507f1f77bcf86cd799439011)"),
    ("x == obj('Dog', 5) OR x == obj(\"Dog\", O-7)", "x == obj('Dog', 5) OR x == obj('Dog', O-7)"),
    (
      "x == obj('Dog', oid(507f1f77bcf86cd799439011))",
      "x == obj('Dog', oid(507f1f77bcf86cd799439011))"
    ),
    (
      "TRUEPREDICATE SORT(a ASC, b.c DESC) DISTINCT(a, b) LIMIT(5)",
      "TRUEPREDICATE SORT(a ASC, b.c DESC) DISTINCT(a, b) LIMIT(5)"
    ),
    ("falsepredicate sort(a)", "FALSEPREDICATE SORT(a ASC)"),
    ("name TEXT 'swift -fuzz'", "name TEXT 'swift -fuzz'"),
    ("place GEOWITHIN geoBox([1.5, 2], [-3, $0])", "place GEOWITHIN geoBox([1.5, 2], [-3, $0])"),
    ("place geoWithin geoCircle([0, 1], 0.5)", "place GEOWITHIN geoCircle([0, 1], 0.5)"),
    (
      "p geoWithin geoPolygon({[0,0],[0,9],[9,9]},{[1,1],[1,2],[2,2]})",
      "p GEOWITHIN geoPolygon({[0, 0], [0, 9], [9, 9]}, {[1, 1], [1, 2], [2, 2]})"
    ),
    ("\\any == 1 AND a\\ b.in == 2 AND \\1x == 3", "\\any == 1 AND a\\ b.in == 2 AND \\1x == 3"),
    ("in == 1 AND sort == 2 AND größe == 3", "in == 1 AND sort == 2 AND größe == 3"),
  ]

  @Test("reads the dates of a calendar that counts its days one by one")
  func dates() throws {
    var days: Int64 = -719_162
    for year in 1...2_410 {
      let isLeap = year % 400 == 0 || year % 4 == 0 && year % 100 != 0
      for (month, count) in [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        .enumerated()
      {
        if year < 3 || (1899...1901).contains(year) || year > 1967 {
          func text(_ day: Int) -> String {
            let parts = [year, month + 1, day].map(String.init)
            return String(repeating: "0", count: 4 - parts[0].count) + parts[0] + "-"
              + parts[1...].map { $0.count == 1 ? "0" + $0 : $0 }.joined(separator: "-")
              + "@00:00:01"
          }
          for (day, number) in [(1, days), (count, days + Int64(count) - 1)] {
            let query = try ParsedQuery(parsing: "a == \(text(day))")
            let seconds = number * 86_400 + 1
            #expect(query == (try ParsedQuery(parsing: "a == T\(seconds):0")), "\(text(day))")
          }
          #expect(throws: QueryError.self) { try ParsedQuery(parsing: "a == \(text(count + 1))") }
        }
        days += Int64(count)
      }
    }
  }

  @Test("reads back what it prints", arguments: texts)
  func roundTrips(text: String, printed: String) throws {
    let query = try ParsedQuery(parsing: text)
    #expect(query.description == printed)
    #expect(try ParsedQuery(parsing: printed) == query)
  }

  @Test(
    "says where a text stops being a query, what is there and what could be",
    arguments: [
      ("", 1, 1, "the end of the query", "a property, a value or a condition"),
      ("age", 1, 4, "the end of the query", "an operator that compares, as in \"age > 5\""),
      ("age >", 1, 6, "the end of the query", "a property, a value or a condition"),
      ("age > 5 )", 1, 9, "\")\"", "AND, OR, SORT"),
      ("a == 1 AND\n é == ]", 2, 7, "\"]\"", "a property, a value or a condition"),
      ("a == 1 AND b", 1, 13, "the end of the query", "an operator that compares"),
      ("(a == 1", 1, 8, "the end of the query", "AND, OR or )"),
      ("(a == 1) + 2 == 3", 1, 10, "\"+\"", "AND or OR after a condition"),
      ("a == #", 1, 6, "\"#\"", "a word of the query language"),
      ("a == 5x", 1, 6, "\"5x\"", "a number, or a space after it"),
      ("a == 'b\\q'", 1, 8, "\"\\q'\"", "one of"),
      ("a == '\\ud800'", 1, 7, "\"\\ud800\"", "one of"),
      ("a == oid(12)", 1, 6, "\"12\"", "24 hexadecimal digits in oid(…)"),
      ("a == B64'AAE'", 1, 6, "\"B64'AAE'\"", "base64"),
      ("a == 2021-02-29@00:00:00", 1, 6, "\"2021-02-29@00:00:00\"", "a date that there is"),
      ("a BETWEEN {1}", 1, 14, "the end of the query", "BETWEEN {lowest, highest}"),
      ("a.@median > 1", 1, 3, "\"@median\"", "@count"),
      ("a == 1 LIMIT(x)", 1, 14, "\"x\"", "a number of rows"),
      ("SUBQUERY(a, $x, $x == 1) > 0", 1, 26, "\">\"", ".@count after SUBQUERY(…)"),
      ("a BETWEEN[c] {1, 2}", 1, 10, "\"[\"", "a value; BETWEEN does not take [c]"),
      ("a == T5:-5", 1, 6, "\"T5:\"", "a property"),
    ])
  func errors(
    text: String, line: Int, column: Int, found: String, expected: String
  ) throws {
    let error = #expect(throws: QueryError.self) { try ParsedQuery(parsing: text) }
    guard let error, text != "a == T5:-5" else { return }
    #expect(error.code == .syntax)
    #expect(error.position?.line == line)
    #expect(error.position?.column == column)
    #expect(error.found == found)
    #expect(error.expected?.hasPrefix(expected) == true, "\(error)")
  }

  @Test("bounds depth, length, paths, numbers and arguments")
  func bounds() throws {
    func nested(_ count: Int) -> String {
      String(repeating: "(", count: count) + "a == 1" + String(repeating: ")", count: count)
    }
    #expect(throws: Never.self) { try ParsedQuery(parsing: nested(100)) }
    func code(_ text: String) -> QueryError.Code? {
      do throws(QueryError) { _ = try ParsedQuery(parsing: text) } catch { return error.code }
      return nil
    }
    #expect(code(nested(101)) == .limit)
    #expect(code(String(repeating: "!", count: 101) + "a == 1") == .limit)
    #expect(code(String(repeating: "(", count: 500_000)) == .limit)
    #expect(code(String(repeating: " ", count: 1 << 20) + "a == 1") == .limit)
    #expect(code("a" + String(repeating: ".a", count: 31) + " == 1") == nil)
    #expect(code("a" + String(repeating: ".a", count: 32) + " == 1") == .limit)
    #expect(code("a == " + String(repeating: "1", count: 129)) == .limit)
    #expect(code("a == $10000") == .limit)
    let long = (0..<20_000).map { "a == \($0)" }.joined(separator: " AND ")
    #expect(code(long + " OR " + long) == nil)
    #expect(code("a" + String(repeating: " + a", count: 100_000) + " > 1") == nil)
  }

  @Test("reads any cut or changed text as a query or an error, and what it reads comes back")
  func mutations() throws {
    var random = ReferenceRandom(20_261_122)
    let words = QueryVocabulary.words
    var readable = 0
    for round in 0..<6_000 {
      var text = Self.texts[random.below(Self.texts.count)].text
      for _ in 0...random.below(3) {
        var bytes = Array(text.utf8)
        let place = random.below(bytes.count + 1)
        switch random.below(4) {
        case 0: bytes.removeSubrange(place..<min(place + random.below(6), bytes.count))
        case 1: bytes.insert(contentsOf: words[random.below(words.count)].utf8, at: place)
        case 2: bytes.insert(UInt8(truncatingIfNeeded: random.next()), at: place)
        default:
          let other = Array(Self.texts[random.below(Self.texts.count)].text.utf8)
          bytes.replaceSubrange(place..., with: other[random.below(other.count)...])
        }
        text = String(decoding: bytes, as: UTF8.self)
      }
      guard let query = try? ParsedQuery(parsing: text) else { continue }
      readable += 1
      #expect(
        try ParsedQuery(parsing: query.description) == query, "round \(round): \(text)")
    }
    #expect(readable > 500)
  }
}
