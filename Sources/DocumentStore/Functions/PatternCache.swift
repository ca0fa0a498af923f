// PatternCache.swift: caches the parsed regular expressions of a connection. It is used on the
// connection's queue only.

/// Regular expressions that were read.
final class PatternCache {
  private var known: [String: RegularExpression?] = [:]

  /// The expression of a pattern; nil for an invalid pattern.
  func expression(_ pattern: String) -> RegularExpression? {
    if let known = known[pattern] { return known }
    if known.count >= 100 { known.removeAll() }
    let expression = RegularExpression(pattern)
    known[pattern] = .some(expression)
    return expression
  }
}
