// PatternCache.swift: regular expressions of a connection, read once. It is used on the
// connection's queue only.

/// Regular expressions that were read.
final class PatternCache {
  private var known: [String: RegularExpression?] = [:]

  /// The expression of a pattern; nil for what is not a pattern.
  func expression(_ pattern: String) -> RegularExpression? {
    if let known = known[pattern] { return known }
    if known.count >= 100 { known.removeAll() }
    let expression = RegularExpression(pattern)
    known[pattern] = .some(expression)
    return expression
  }
}
