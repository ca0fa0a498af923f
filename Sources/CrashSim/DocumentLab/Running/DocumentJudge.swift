// DocumentJudge.swift: judges the bundle that a crash, a kill or a fault left. Invariant: what it
// reports first is the narrowest promise that is broken, and its words are the same each time.

import DocumentStore
import Foundation
import LabCore
import Workload

/// What was found wrong.
package struct DocumentProblem: Sendable, Hashable {
  package let promise: DocumentPromise
  package let text: String

  /// The line of a finding.
  package var line: String { "documents: \(named)" }

  /// The promise's name and the text, as acknowledgements have them.
  package var named: String { "\(promise.name): \(text.replacing("\n", with: " "))" }
}

/// Judges bundles.
package struct DocumentJudge {
  private let plan: DocumentPlan

  package init(_ plan: DocumentPlan) { self.plan = plan }

  /// Judges a directory, and changes it.
  /// - Parameters:
  ///   - directory: Where the bundle is.
  ///   - output: What the workload acknowledged.
  ///   - hasPower: Whether only processes ended.
  /// - Returns: What is wrong, the narrowest promise first; empty when all promises hold.
  package func problems(
    in directory: String, output: [UInt8], hasPower: Bool
  ) -> [DocumentProblem] {
    let acknowledged = DocumentAcknowledgements(reading: output)
    if let broken = acknowledged.violations.first { return [Self.problem(ofLine: broken)] }
    let path = "\(directory)/\(DocumentHand.bundle)"
    let early = EarlySight(bundle: path, scratch: "\(directory)/lab-early")
    do {
      let file = try DocumentHand.open(path, plan.declaration.sync)
      defer { try? file.close() }
      let evidence = DocumentEvidence(
        plan: plan, acknowledged: acknowledged, hasPower: hasPower, early: early,
        sight: try DocumentSight(bundle: path), file: file, verification: try file.verify())
      return Self.broken(evidence)
    } catch {
      return [
        DocumentProblem(promise: .readable, text: "the file cannot be opened: \(error)")
      ]
    }
  }

  /// Whether the store itself says that a directory is damaged; changes the directory.
  package func notices(in directory: String) -> String? {
    do {
      let path = "\(directory)/\(DocumentHand.bundle)"
      let file = try DocumentHand.open(path, plan.declaration.sync)
      defer { try? file.close() }
      return try file.verify().problems.first.map { "\($0)" }
    } catch {
      return "\(error)"
    }
  }

  private static func broken(_ evidence: DocumentEvidence) -> [DocumentProblem] {
    var problems: [DocumentProblem] = []
    func check(_ invariant: any DocumentInvariant.Type) {
      do {
        for text in try invariant.problems(evidence).prefix(3) {
          problems.append(DocumentProblem(promise: invariant.promise, text: text))
        }
      } catch {
        problems.append(
          DocumentProblem(promise: invariant.promise, text: "the store fails: \(error)"))
      }
    }
    for invariant in DocumentInvariants.reading { check(invariant) }
    // What the store itself finds, and no invariant has a name for.
    if problems.isEmpty, let other = evidence.verification.problems.first {
      problems.append(DocumentProblem(promise: .readable, text: "verify: \(other)"))
    }
    guard problems.isEmpty else { return problems }
    for invariant in DocumentInvariants.changing where problems.isEmpty { check(invariant) }
    return problems
  }

  /// A promise that the run itself found broken: `NAME: TEXT`.
  private static func problem(ofLine line: String) -> DocumentProblem {
    let parts = line.split(separator: ":", maxSplits: 1)
    let promise = parts.first.flatMap { DocumentPromise(named: String($0)) } ?? .atomic
    let text = parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : line
    return DocumentProblem(promise: promise, text: text)
  }
}
