// Token.swift: the words of the query language.

/// The kind of a token.
enum TokenKind: UInt8 {
  case end
  case name, string, binary, integer, number, date, timestamp
  /// `L1:2`, a row of any table.
  case typedLink
  /// `$0`, `$K0`, and `$x`.
  case argument, pathArgument, variable
  /// `%@` and `%d`, and `%K`, where the text is a format.
  case value, keyPath
  /// `@count` and its like.
  case operation
  case equal, notEqual, less, lessEqual, greater, greaterEqual
  case plus, minus, star, slash
  case leftParenthesis, rightParenthesis, leftBrace, rightBrace, leftBracket, rightBracket
  case comma, dot, and, or, not
}

/// A token and its position.
struct Token {
  var kind = TokenKind.end
  /// The keyword that a name is, when it is one.
  var keyword: Keyword?
  /// Whether a name has a backslash.
  var isEscaped = false
  /// Its bytes in the text.
  var start = 0
  var end = 0
  /// The number of the argument for `%@` or `%K`.
  var number = 0
}

/// Names with a meaning, in upper or lower case.
package enum Keyword: String, CaseIterable, Sendable {
  case and, or, not, any, all, `in`, between, beginswith, endswith, contains, like
  case someOf = "some"
  case noneOf = "none"
  case text, geowithin, geobox, geocircle, geopolygon
  case `true`, `false`, yes, no
  case selfObject = "self"
  case null, `nil`, inf, infinity, nan, truepredicate, falsepredicate
  case subquery, obj, oid, uuid, bin, binary, sort, distinct, limit, asc, desc, ascending,
    descending
  case first, last, size

  /// Whether the word means itself where an operand can begin, so that a property of that name is
  /// written with a backslash.
  var isReserved: Bool {
    switch self {
    case .not, .any, .someOf, .all, .noneOf, .true, .false, .yes, .no, .selfObject, .null, .nil,
      .inf, .infinity, .nan, .truepredicate, .falsepredicate, .subquery, .obj, .oid, .uuid, .bin,
      .binary, .geobox, .geocircle, .geopolygon:
      true
    default: false
    }
  }

  private static let longest = 14

  /// Up to 15 bytes in lower case as one number.
  private static func packed(_ bytes: some Sequence<UInt8>) -> UInt128? {
    var number: UInt128 = 0
    for byte in bytes {
      guard byte < 0x80 else { return nil }
      let isUpper = byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z")
      number = number << 8 | UInt128(isUpper ? byte | 0x20 : byte)
    }
    return number
  }

  private static let table: [UInt128: Keyword] = {
    var table: [UInt128: Keyword] = [:]
    for keyword in allCases { table[packed(keyword.rawValue.utf8) ?? 0] = keyword }
    return table
  }()

  /// The keyword that some bytes spell.
  static func spelled(_ bytes: ArraySlice<UInt8>) -> Keyword? {
    guard bytes.count >= 2, bytes.count <= longest, let number = packed(bytes) else { return nil }
    return table[number]
  }
}
