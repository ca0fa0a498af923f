// Rule.swift: what a rule of the house is: a check of one file, and sources that it must flag.

import Testing

/// A place that breaks a rule.
struct Violation: CustomStringConvertible, Equatable {
  let path: String
  /// Counted from 1.
  let line: Int
  let message: String

  var description: String { "\(path):\(line): \(message)" }
}

/// A source that a rule must flag, as proof that the rule works.
struct Planted {
  let path: String
  let text: String

  init(_ text: String, at path: String = "Sources/Engine/Planted.swift") {
    self.path = path
    self.text = text
  }
}

/// One rule of the house.
struct Rule: Sendable, CustomTestStringConvertible {
  /// Short name; the allowlist uses it.
  let name: String
  let check: @Sendable (SourceFile) -> [Violation]
  /// Each of these breaks the rule.
  let planted: @Sendable () -> [Planted]
  /// Each of these looks like a breach and is none.
  let innocent: @Sendable () -> [Planted]

  var testDescription: String { name }

  init(
    _ name: String, planted: @escaping @Sendable () -> [Planted],
    innocent: @escaping @Sendable () -> [Planted] = { [] },
    check: @escaping @Sendable (SourceFile) -> [Violation]
  ) {
    self.name = name
    self.check = check
    self.planted = planted
    self.innocent = innocent
  }

  static let all: [Rule] =
    [header, fileLength, lineLength, functionLength, unsafeTag, openWork, glossary, parameters]
    + bannedCalls + [unseededRandom] + arrows + [engineFolders]
}
