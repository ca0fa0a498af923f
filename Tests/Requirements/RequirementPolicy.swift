// RequirementPolicy.swift: whether a test that lacks something is skipped or fails, as the variable
// FAULTLINE_REQUIRE says.

import Foundation
import Testing

/// Why a test fails instead of being skipped.
public struct RequirementError: Error, Equatable, CustomStringConvertible {
  /// What is wrong, and what to do about it.
  public let description: String
}

/// Which requirements have to be met.
public struct RequirementPolicy: Sendable {
  /// The environment variable with their names, separated by commas.
  public static let variable = "FAULTLINE_REQUIRE"

  /// A test that needs one of these fails where it is missing.
  public let mandatory: Set<Requirement>

  /// Reads the value of the variable.
  /// - Throws: `RequirementError` that names the first unknown word and lists the known ones.
  public init(parsing text: String) throws(RequirementError) {
    var mandatory: Set<Requirement> = []
    for part in text.split(separator: ",") {
      let word = part.trimmingPrefix { $0.isWhitespace }.prefix { !$0.isWhitespace }
      guard let requirement = Requirement(rawValue: String(word)) else {
        let known = Requirement.allCases.map(\.rawValue).joined(separator: ", ")
        throw RequirementError(
          description: "\(Self.variable): unknown word '\(part)'; known words: \(known)")
      }
      mandatory.insert(requirement)
    }
    self.mandatory = mandatory
  }

  /// The policy of this process.
  /// - Throws: `RequirementError` when the variable has an unknown word.
  public static func ofEnvironment() throws(RequirementError) -> RequirementPolicy {
    try RequirementPolicy(parsing: ProcessInfo.processInfo.environment[variable] ?? "")
  }

  /// Whether a test runs.
  /// - Parameters:
  ///   - requirements: What the test needs.
  ///   - missing: What the machine lacks of each.
  /// - Returns: False when the test is skipped.
  /// - Throws: `RequirementError` when something is missing that is mandatory.
  public func allows(
    _ requirements: [Requirement], missing: (Requirement) -> String? = \.missing
  ) throws(RequirementError) -> Bool {
    var isComplete = true
    for requirement in requirements {
      guard let reason = missing(requirement) else { continue }
      guard !mandatory.contains(requirement) else {
        throw RequirementError(
          description: "\(Self.variable) demands \(requirement.rawValue): \(reason)")
      }
      isComplete = false
    }
    return isComplete
  }
}

extension Trait where Self == ConditionTrait {
  /// The test or suite needs something of the machine.
  ///
  /// Where it is missing, the test is skipped with the reason, or fails when the environment
  /// variable `FAULTLINE_REQUIRE` names the requirement.
  public static func requires(
    _ requirements: Requirement..., sourceLocation: SourceLocation = #_sourceLocation
  ) -> Self {
    let reasons = requirements.compactMap { requirement in
      requirement.missing.map { "\(requirement.rawValue): \($0)" }
    }
    let comment = Comment(rawValue: "skipped: " + reasons.joined(separator: "; "))
    return .enabled(comment, sourceLocation: sourceLocation) {
      try RequirementPolicy.ofEnvironment().allows(requirements)
    }
  }
}
