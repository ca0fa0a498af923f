// ScenarioDiagnostic.swift: an error in a scenario file, with its position and remedy.
// Invariant: a file with a diagnostic yields no scenario, so no part of it is ever run.

/// A place in a file; both numbers count from 1, columns in Unicode scalars.
public struct SourcePosition: Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
  /// Line, from 1.
  public let line: Int
  /// Column, from 1.
  public let column: Int

  /// Makes a position.
  public init(line: Int, column: Int) {
    self.line = line
    self.column = column
  }

  /// Orders by line, then by column.
  public static func < (a: SourcePosition, b: SourcePosition) -> Bool {
    (a.line, a.column) < (b.line, b.column)
  }

  /// The position this many columns further; not before the first.
  package func moved(byColumns count: Int) -> SourcePosition {
    SourcePosition(line: line, column: max(1, column + count))
  }

  /// For example `7:12`.
  public var description: String { "\(line):\(column)" }
}

/// An error in a scenario file.
public struct ScenarioDiagnostic: Hashable, Sendable, CustomStringConvertible {
  /// Name of the file as given.
  public let file: String
  /// The position of the error.
  public let position: SourcePosition
  /// The error.
  public let message: String
  /// The valid word nearest to the written one, if any is near.
  public let nearest: String?
  /// What to write instead.
  public let remedy: String

  /// Makes a diagnostic.
  public init(
    file: String, position: SourcePosition, message: String, nearest: String? = nil, remedy: String
  ) {
    self.file = file
    self.position = position
    self.message = message
    self.nearest = nearest
    self.remedy = remedy
  }

  /// The same, this many columns further.
  package func moved(byColumns count: Int) -> ScenarioDiagnostic {
    ScenarioDiagnostic(
      file: file, position: position.moved(byColumns: count), message: message, nearest: nearest,
      remedy: remedy)
  }

  /// For example `a.yaml:3:5: unknown key 'stpes'; nearest valid key 'steps'; write one of: …`.
  public var description: String {
    let near = nearest.map { "; nearest valid key '\($0)'" } ?? ""
    return "\(file):\(position): \(message)\(near); \(remedy)"
  }
}

/// All errors in one scenario file.
public struct ScenarioError: Error, Sendable, CustomStringConvertible {
  /// The diagnostics, by position; never empty.
  public let diagnostics: [ScenarioDiagnostic]

  /// Collects diagnostics.
  public init(_ diagnostics: [ScenarioDiagnostic]) {
    precondition(!diagnostics.isEmpty, "an error without a reason")
    self.diagnostics = diagnostics.sorted { $0.position < $1.position }
  }

  /// One diagnostic per line.
  public var description: String {
    diagnostics.map(\.description).joined(separator: "\n")
  }

  /// The same as a `LabError`, with its exit code.
  public var labError: LabError { .usage(description) }
}

/// The word in a list that is nearest to a written one, if it is near enough.
/// - Complexity: O(words × length²), over at most 40 letters of each word.
package func nearestWord(to written: String, among words: [String]) -> String? {
  if written.count > 1, let whole = words.sorted().first(where: { $0.hasPrefix(written) }) {
    return whole
  }
  let target = Array(written.lowercased().unicodeScalars.prefix(40))
  var best: (word: String, distance: Int)?
  for word in words.sorted() {
    let distance = editDistance(target, Array(word.lowercased().unicodeScalars.prefix(40)))
    if distance < (best?.distance ?? Int.max) { best = (word, distance) }
  }
  if let best, best.distance <= max(2, target.count / 2), best.distance < best.word.count {
    return best.word
  }
  // An abbreviation such as `int` of a word written in full, such as 'integer'.
  return words.filter { $0.count > 2 && written.hasPrefix($0) }.max { $0.count < $1.count }
}

/// Number of letters added, left out, changed, or swapped with their neighbour.
private func editDistance(_ a: [Unicode.Scalar], _ b: [Unicode.Scalar]) -> Int {
  var (previous, before) = (Array(0...b.count), [Int]())
  for (i, letter) in a.enumerated() {
    var current = [i + 1]
    for (j, other) in b.enumerated() {
      let change = previous[j] + (letter == other ? 0 : 1)
      var least = min(change, previous[j + 1] + 1, current[j] + 1)
      if i > 0, j > 0, letter == b[j - 1], other == a[i - 1] {
        least = min(least, before[j - 1] + 1)
      }
      current.append(least)
    }
    (before, previous) = (previous, current)
  }
  return previous[b.count]
}
