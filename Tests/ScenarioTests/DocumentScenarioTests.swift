// DocumentScenarioTests.swift: scenarios on documents without a mount: the language, the reference
// model against the store, and the second readers.

import Foundation
import TestSupport
import Testing

@testable import DocumentLab
@testable import LabCore
@testable import Scenarios
@testable import Workload

@Suite("scenarios on documents") struct DocumentScenarioTests {
  static let folder = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("scenarios/documents")

  static let paths: [String] = {
    let all = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return all.filter { $0.hasSuffix(".yaml") }.sorted()
  }()

  static func plan(_ text: String) throws -> DocumentPlan {
    let scenario = try ScenarioParser.parse(text, file: "test.yaml")
    return try DocumentPlan(try #require(scenario.documents), file: "test.yaml")
  }

  /// Does the steps of a plan in a new directory, and judges what they leave.
  static func run(_ plan: DocumentPlan) throws -> (lines: [String], problems: [DocumentProblem]) {
    let directory = try TemporaryDirectory()
    try DocumentPreparation.run(plan, in: directory.path)
    let output = OutputBox()
    let conductor = DocumentConductor(
      plan, isDisturbed: false,
      start: { (_) throws(LabError) in DocumentHand(plan, directory: directory.path) },
      write: { (line) throws(LabError) in output.lines.append(line) })
    _ = try conductor.run()
    let text = output.lines.map { $0 + "\n" }.joined()
    let problems = DocumentJudge(plan).problems(
      in: directory.path, output: Array(text.utf8), hasPower: true)
    return (output.lines, problems)
  }

  final class OutputBox { var lines: [String] = [] }

  @Test("there are at least 25 of them")
  func count() { #expect(Self.paths.count >= 25) }

  @Test("the store has what the model says after the steps of each", arguments: paths)
  func model(path: String) throws {
    let text = try String(
      contentsOf: Self.folder.appendingPathComponent(path), encoding: .utf8)
    let plan = try Self.plan(text)
    let (lines, problems) = try Self.run(plan)
    #expect(problems.map(\.line) == [])
    let acknowledged = DocumentAcknowledgements(reading: Array(lines.joined(separator: "\n").utf8))
    #expect(acknowledged.commit == plan.states.count - 1)
  }

  @Test("every invariant has a file, a sentence and a name")
  func invariants() {
    let all = DocumentInvariants.reading + DocumentInvariants.changing
    #expect(Set(all.map { $0.promise }) == Set(DocumentPromise.allCases))
    #expect(DocumentPromise.allCases.map(\.rawValue) == Array(1...25))
    for promise in DocumentPromise.allCases {
      #expect(DocumentPromise(named: promise.name) == promise)
      #expect(!promise.sentence.isEmpty)
    }
  }

  @Test(
    "what cannot be done is an error at its place",
    arguments: [
      ("steps: [{delete: a}]", "there is no document 'a'"),
      ("steps: [{save: a, in: b, body: {}}]", "there is no collection 'b'"),
      ("steps: [{save: a, body: {x: 1}}, {save: a, body: {x: 1}}]", "has this body already"),
      ("steps: [{resolve: a}]", "'a' has no conflict"),
      ("steps: [{dropIndex: a}]", "there is no index 'a'"),
      ("steps: [{save: a, purge: b}]", "a step with two actions"),
      ("steps: [{in: a}]", "a step without an action"),
      ("steps: [opne]", "is not a step"),
      ("steps: [{transaction: [{purgeExpired: 5}]}]", "is no part of a transaction"),
      ("steps: [{index: i}]", "'index' needs the property"),
      ("steps: [look]", "is for actors side by side"),
      ("together: {a: [look]}", "expected the steps of 2 to 6 actors"),
      ("together: {a: [look], b: [close]}", "actors side by side cannot do this step"),
      ("checkpointPages: 1\n  steps: [open]", "'checkpointPages' is for actors side by side"),
      ("together: {a: [look], b: [{increment: x}]}", "is no document {number: …}"),
      ("sync: half\n  steps: [open]", "is not a sync"),
      ("breaks: nothing\n  steps: [open]", "is not an invariant"),
      ("steps: [{save: a, body: {x: 1}, repeat: 20000}]", "is out of range"),
    ])
  func refusals(documents: String, message: String) throws {
    let text = "title: t\ndocuments:\n  \(documents)\n"
    let error = #expect(throws: ScenarioError.self) {
      try ScenarioParser.parse(text, file: "test.yaml")
    }
    #expect(error?.description.contains(message) == true, "\(error?.description ?? "")")
  }

  @Test("tables have no meaning beside documents")
  func beside() throws {
    let text = "title: t\nschema: objects\ndocuments: {steps: [open]}\n"
    let error = #expect(throws: ScenarioError.self) {
      try ScenarioParser.parse(text, file: "test.yaml")
    }
    #expect(error?.description.contains("no meaning beside 'documents'") == true)
  }

  @Test("repetitions are numbered, in bodies, too")
  func repetitions() throws {
    let plan = try Self.plan(
      "title: t\ndocuments:\n  steps:\n"
        + "    - {save: \"n-#\", body: {n: \"#\", t: \"x # y\"}, repeat: 3}\n")
    #expect(plan.states.count == 4)
    let line = plan.lines[3].first { $0.contains("'n-3'") }
    #expect(line?.hasSuffix(#"body {"n":3,"t":"x 3 y"}"#) == true, "\(line ?? "none")")
  }

  @Test("bytes that are no tree are refused")
  func trees() {
    let hostile: [[UInt8]] = [
      [], [0, 0, 0, 0], [0, 0, 0, 9], [0xff, 0xff, 0xff, 0xff], [UInt8](repeating: 9, count: 40),
      [0, 0, 0, 12, 0, 5, 2, 2, 1, 7, 0, 0, 0, 0, 0, 0],
    ]
    for bytes in hostile {
      #expect(throws: PlainTree.Refusal.self) { try PlainTree(reading: bytes) }
    }
  }

  @Test("acknowledgements are read as they are written, and nothing else is")
  func acknowledgements() {
    let text = "commit 3\ndurable 2\ncommit x\nnonsense\nbroken blobs: a\nb\n\n"
    let read = DocumentAcknowledgements(reading: Array(text.utf8))
    #expect(read.commit == 3)
    #expect(read.durable == 2)
    #expect(read.violations == ["blobs: a"])
  }

  @Test("a lost commit, a wrong row and a missing blob are each found")
  func found() throws {
    let plan = try Self.plan(
      "title: t\ndocuments: {steps: [{save: a, body: {x: 1}, blob: 10}, {plantLostBlob: a}]}\n")
    #expect(try Self.run(plan).problems.first?.promise == .blobs)
    let short = try Self.plan(
      "title: t\ndocuments: {steps: [{save: a, body: {x: 1}}, {save: b, body: {x: 2}}]}\n")
    let directory = try TemporaryDirectory()
    let hand = DocumentHand(short, directory: directory.path)
    #expect(try hand.perform(0) == .done)
    try hand.end()
    func problems(_ output: String) -> [DocumentPromise] {
      DocumentJudge(short).problems(
        in: directory.path, output: Array(output.utf8), hasPower: true
      ).map(\.promise)
    }
    // One that stops at the first broken promise changes nothing, so the order matters.
    #expect(problems("commit 2\n") == [.prefix])
    #expect(problems("commit 1\nbroken staleWrites: x\n") == [.staleWrites])
    #expect(problems("commit 1\n") == [])
  }
}
