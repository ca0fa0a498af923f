// QueryCollation.swift: collations of texts, and their names in SQL: `BINARY`, `NOCASE`, or
// `LCUnicode_` with `C` for no case, `D` for no diacritics and a locale.

/// How texts are compared.
package struct QueryCollation: Sendable, Hashable {
  /// By the rules of Unicode, rather than byte by byte.
  package var isUnicode = false
  /// Whether `a` and `A` differ.
  package var isCaseSensitive = true
  /// Whether `a` and `á` differ; by the rules of Unicode only.
  package var isDiacriticSensitive = true
  /// A locale such as `se` or `zh_Hans_CN`.
  package var locale = ""

  package init() {}

  /// The name in SQL.
  package var sqlName: String {
    guard isUnicode else { return isCaseSensitive ? "BINARY" : "NOCASE" }
    return "LCUnicode_" + (isCaseSensitive ? "_" : "C") + (isDiacriticSensitive ? "_" : "D") + "_"
      + locale
  }

  /// The collation with a name in SQL; nil if there is none.
  package init?(sqlName: String) {
    guard sqlName.hasPrefix("LCUnicode_") else { return nil }
    let rest = Array(sqlName.unicodeScalars.dropFirst(10))
    guard rest.count >= 3, rest[2] == "_", rest[0] == "_" || rest[0] == "C",
      rest[1] == "_" || rest[1] == "D"
    else { return nil }
    isUnicode = true
    isCaseSensitive = rest[0] == "_"
    isDiacriticSensitive = rest[1] == "_"
    locale = String(String.UnicodeScalarView(rest[3...]))
  }
}
