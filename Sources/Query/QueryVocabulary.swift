// QueryVocabulary.swift: the words of the language, for generators of random texts.

/// The words of the query language, for fuzzers and completion.
public enum QueryVocabulary {
  /// Keywords, operators, marks, and a constant of each kind; every one is a piece of some query.
  public static let words: [String] =
    Keyword.allCases.map { $0.rawValue.uppercased() }
    + ComparisonOperator.allCases.map(\.rawValue)
    + ArithmeticOperator.allCases.map(\.rawValue)
    + PathOperation.allCases.map { "@\($0.rawValue)" }
    + [
      "@links", "&&", "||", "!", "=", "<>", "[c]", "(", ")", "{", "}", "[", "]", ",", ".", "\\",
      "$0", "$1", "$x", "0", "-1", "9223372036854775807", "-9223372036854775808", "0x7f",
      "99999999999999999999", "1.5", "1e308", "1e-400", "2.5f", "'a'", "\"b\"", "'\\u0041'",
      "'\\ud83d\\ude00'", "B64\"AAEC\"", "2020-02-29@23:59:59:999999999", "T0:0", "T-1:-1",
      "uuid(d1b186e1-e9e0-4768-a1a7-c492519d47ee)", "oid(507f1f77bcf86cd799439011)",
      "obj(\"Dog\", 1)", "obj(\"Dog\", O1)", "[FIRST]", "[0]", "['key']",
      "[*]", ".length", "$K0", "$K1", "O1", "L1:2", "bin('a')", "binary(B64\"AAEC\")", "@allKeys",
      "@allValues", "T2017-12-04", "a\\tb", "$", "$a", "1970-1-1T0:0:0:0", "'1'", "[cd]",
      "SUBQUERY(a, $x, $x.b == 1).@count", "geoBox([0, 0], [1, 1])", "geoCircle([0, 0], 1)",
      "geoPolygon({[0, 0], [0, 1], [1, 1]})", "SORT(a ASC)", "DISTINCT(a)", "LIMIT(1)",
    ]
}
