// ScenarioSchemaTests.swift: schema, manual and parser know the same words.

import Foundation
import TestSupport
import Testing

@testable import Findings
@testable import LabCore
@testable import Scenarios
@testable import Workload

@Suite struct ScenarioSchemaTests {
  static let scenarios = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("scenarios")

  typealias Object = [String: Any]

  func definitions() throws -> Object {
    let data = try Data(contentsOf: Self.scenarios.appendingPathComponent("schema.json"))
    let schema = try #require(try JSONSerialization.jsonObject(with: data) as? Object)
    return try #require(schema["$defs"] as? Object)
  }

  @Test("the schema and the parser know the same keys")
  func keys() throws {
    let definitions = try definitions()
    #expect(definitions.keys.sorted() == GrammarObject.allCases.map(\.rawValue).sorted())
    for object in GrammarObject.allCases {
      let definition = try #require(definitions[object.rawValue] as? Object)
      let properties = try #require(definition["properties"] as? Object)
      let old = object.oldKeys.map(\.old)
      #expect(properties.keys.sorted() == (object.keys + old).sorted(), "\(object)")
      for (key, value) in properties {
        let value = try #require(value as? Object)
        let description = value["description"] as? String ?? ""
        let new = object.presentKey(key)
        #expect(value["deprecated"] as? Bool == (new == key ? nil : true), "\(object) \(key)")
        #expect(new == key || description.hasPrefix("The old spelling of \(new),"), "\(key)")
      }
    }
  }

  @Test("the schema and the parser know the same words")
  func words() throws {
    let definitions = try definitions()
    func words(_ path: String...) throws -> [String] {
      var value: Any = definitions
      for key in path {
        if let index = Int(key) {
          value = try #require((value as? [Any])?[index])
        } else {
          value = try #require((value as? Object)?[key], "\(path)")
        }
      }
      return try #require(value as? [String]).sorted()
    }
    let action = "properties"
    #expect(
      try words("action", action, "fails", "enum") == GrammarWords.errorCodes.sorted())
    #expect(
      try words("fault", action, "error", "oneOf", "0", "enum") == GrammarWords.errnos.sorted())
    #expect(
      try words("fault", action, "on", "oneOf", "0", "enum")
        == FaultOperation.allCases.map(\.rawValue).sorted())
    #expect(
      try words("step", "additionalProperties", "oneOf", "0", "enum")
        == GrammarWords.actions.sorted())
    #expect(
      try words("crash", action, "model", "oneOf", "0", "enum") == GrammarWords.models.sorted())
    #expect(
      try words("crash", action, "explore", "enum") == ExploreRule.allCases.map(\.rawValue).sorted()
    )
    #expect(
      try words("schedule", action, "strategy", "enum")
        == DeclaredStrategy.allCases.map(\.rawValue).sorted())
    #expect(
      try words("killSweep", action, "at", "oneOf", "0", "enum")
        == GrammarWords.killPlaces.sorted())
    #expect(
      try words("killSweep", action, "side", "enum") == KillSide.allCases.map(\.rawValue).sorted())
    #expect(
      try words("killSweep", action, "by", "enum") == KillManner.allCases.map(\.rawValue).sorted())
    #expect(try words("fault", action, "during", "enum") == GrammarWords.commitSteps.sorted())
    #expect(try words("action", action, "try", "enum") == GrammarWords.attempts.sorted())
    #expect(
      try words("overwrite", action, "with", "enum")
        == FileFilling.allCases.map(\.rawValue).sorted())
    #expect(
      try words("step", action, "remove", "enum") == DatabasePart.allCases.map(\.rawValue).sorted())
    #expect(
      try words("negative", action, "expect", "oneOf", "0", "enum")
        == OracleName.allCases.map(\.rawValue).sorted())
  }

  @Test("every shipped scenario parses, names the schema, and expands under any seed")
  func shipped() throws {
    let all = FileManager.default.enumerator(atPath: Self.scenarios.path)
    let paths = (all?.compactMap { $0 as? String } ?? []).filter { $0.hasSuffix(".yaml") }
    #expect(paths.count >= 20)
    for path in paths.sorted() {
      let data = try Data(contentsOf: Self.scenarios.appendingPathComponent(path))
      let text = String(decoding: data, as: UTF8.self)
      #expect(text.hasPrefix("# yaml-language-server: $schema=../schema.json\n"), "\(path)")
      let scenario = try ScenarioParser.parse(text, file: "scenarios/\(path)")
      #expect(path.hasPrefix("negative/") == (scenario.negative != nil), "\(path)")
      let first = try WorkloadPlan(scenario, seed: Seed(rawValue: 1))
      // Thousands of statements take a second, and draw thousands of times under each seed anyway.
      let statements = first.transactions.reduce(0) { $0 + $1.mutations.count }
      let seeds = FullSize.isOn ? (statements > 5_000 ? 3 : 20) : statements > 5_000 ? 1 : 4
      for seed in 1...seeds where seed > 1 {
        _ = try WorkloadPlan(scenario, seed: Seed(rawValue: UInt64(seed)))
      }
    }
  }

  @Test("every example in the manual parses")
  func manual() throws {
    let manual = Self.scenarios.deletingLastPathComponent()
      .appendingPathComponent("docs/reference/scenarios.md")
    let text = String(decoding: try Data(contentsOf: manual), as: UTF8.self)
    let blocks = text.components(separatedBy: "```yaml\n").dropFirst().compactMap {
      $0.components(separatedBy: "```").first
    }
    let whole = blocks.filter { $0.contains("title:") }
    #expect(whole.count >= 3)
    for block in whole {
      let scenario = try ScenarioParser.parse(block, file: "docs/reference/scenarios.md")
      _ = try WorkloadPlan(scenario, seed: Seed(rawValue: 1))
    }
    // A piece of a scenario must fit into one that has the rest.
    for block in blocks where !block.contains("title:") {
      let rest = block.contains("steps:") ? "" : "steps: [{ui: open}]\n"
      let scenario = try ScenarioParser.parse(
        preamble + rest + block, file: "docs/reference/scenarios.md")
      _ = try WorkloadPlan(scenario, seed: Seed(rawValue: 1))
    }
    // Those of faults have a page of their own (FaultTableTests), with what stands in their values.
    let faults = Self.scenarios.deletingLastPathComponent()
      .appendingPathComponent("docs/reference/faults.md")
    // So do those of documents.
    let documents = faults.deletingLastPathComponent().appendingPathComponent("document-lab.md")
    let sync = faults.deletingLastPathComponent().appendingPathComponent("sync-lab.md")
    let page = try [faults, documents, sync].reduce(text) { text, page in
      text + String(decoding: try Data(contentsOf: page), as: UTF8.self)
    }
    for object in GrammarObject.allCases {
      for key in object.keys { #expect(page.contains("`\(key)"), "\(key) of \(object)") }
    }
    for word in GrammarWords.actions + GrammarWords.models + GrammarWords.killPlaces {
      #expect(text.contains("`\(word)`"), "\(word)")
    }
  }
}
