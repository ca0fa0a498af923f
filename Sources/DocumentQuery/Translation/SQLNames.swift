// SQLNames.swift: names and literals in SQL. A name is quoted unless it is plain, so that SQLite
// cannot interpret it as anything else; a name that quoting cannot fix is rejected.

/// Names and literals in SQL.
package enum SQLNames {
  /// A letter, a digit or `_`.
  static func isWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
      true
    default: false
    }
  }

  /// Whether a source, a column or a variable may have a name.
  static func isAllowed(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.count <= 300
      && name.utf8.allSatisfy { $0 >= 32 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
  }

  static func refusal(_ name: String, _ place: QueryPlace) -> DocumentQueryError {
    DocumentQueryError(
      .operands,
      "\(shown(name)) cannot be a name; use neither quotes, backslashes nor control characters, "
        + "and at most 300 bytes", at: place)
  }

  /// A name, quoted unless it is plain and no word of SQL.
  static func identifier(_ name: String) -> String {
    let isPlain =
      name.utf8.allSatisfy(isWord) && name.utf8.first.map { !(0x30...0x39).contains($0) } ?? false
    if isPlain, !reserved.contains(name.uppercased()) { return name }
    return doubled(name, "\"")
  }

  /// A text; SQLite reads no further than a NUL in a statement, so a text with one is written as
  /// bytes.
  static func literal(_ text: String) -> String {
    guard text.utf8.contains(0) else {
      return doubled(text, "'")
    }
    let digits = Array("0123456789ABCDEF")
    let bytes = text.utf8.map { "\(digits[Int($0 >> 4)])\(digits[Int($0 & 15)])" }
    return "CAST(X'\(bytes.joined())' AS TEXT)"
  }

  /// A text between quotes, with those in it doubled; scalar by scalar, since a quote may begin a
  /// longer character.
  package static func doubled(_ text: String, _ quote: Unicode.Scalar) -> String {
    var output = String.UnicodeScalarView()
    output.append(quote)
    for scalar in text.unicodeScalars {
      if scalar == quote { output.append(quote) }
      output.append(scalar)
    }
    output.append(quote)
    return String(output)
  }

  /// A number.
  static func literal(_ number: Double) -> String {
    guard number.isFinite else { return number < 0 ? "-9e999" : "9e999" }
    return "\(number)"
  }

  /// Words that a name must be quoted for, by SQLite's list.
  private static let reserved: Set<String> = [
    "ABORT", "ACTION", "ADD", "AFTER", "ALL", "ALTER", "ALWAYS", "ANALYZE", "AND", "AS", "ASC",
    "ATTACH", "AUTOINCREMENT", "BEFORE", "BEGIN", "BETWEEN", "BY", "CASCADE", "CASE", "CAST",
    "CHECK", "COLLATE", "COLUMN", "COMMIT", "CONFLICT", "CONSTRAINT", "CREATE", "CROSS", "CURRENT",
    "CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "DATABASE", "DEFAULT", "DEFERRABLE",
    "DEFERRED", "DELETE", "DESC", "DETACH", "DISTINCT", "DO", "DROP", "EACH", "ELSE", "END",
    "ESCAPE", "EXCEPT", "EXCLUDE", "EXCLUSIVE", "EXISTS", "EXPLAIN", "FAIL", "FALSE", "FILTER",
    "FIRST", "FOLLOWING", "FOR", "FOREIGN", "FROM", "FULL", "GENERATED", "GLOB", "GROUP", "GROUPS",
    "HAVING", "IF", "IGNORE", "IMMEDIATE", "IN", "INDEX", "INDEXED", "INITIALLY", "INNER",
    "INSERT", "INSTEAD", "INTERSECT", "INTO", "IS", "ISNULL", "JOIN", "KEY", "LAST", "LEFT", "LIKE",
    "LIMIT", "MATCH", "MATERIALIZED", "NATURAL", "NO", "NOT", "NOTHING", "NOTNULL", "NULL",
    "NULLS", "OF", "OFFSET", "ON", "OR", "ORDER", "OTHERS", "OUTER", "OVER", "PARTITION", "PLAN",
    "PRAGMA", "PRECEDING", "PRIMARY", "QUERY", "RAISE", "RANGE", "RECURSIVE", "REFERENCES",
    "REGEXP", "REINDEX", "RELEASE", "RENAME", "REPLACE", "RESTRICT", "RETURNING", "RIGHT",
    "ROLLBACK", "ROW", "ROWID", "ROWS", "SAVEPOINT", "SELECT", "SET", "TABLE", "TEMP", "TEMPORARY",
    "THEN", "TIES", "TO", "TRANSACTION", "TRIGGER", "TRUE", "UNBOUNDED", "UNION", "UNIQUE",
    "UPDATE", "USING", "VACUUM", "VALUES", "VIEW", "VIRTUAL", "WHEN", "WHERE", "WINDOW", "WITH",
    "WITHOUT",
  ]
}
