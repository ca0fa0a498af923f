// ScenarioSelectionTests.swift: filters and tags choose what they name, and never nothing.

import Foundation
import Testing

@testable import LabCore
@testable import Scenarios
@testable import Workload

@Suite struct ScenarioSelectionTests {
  private static func scenario(_ file: String, _ title: String, tags: String) throws -> Scenario {
    let text = """
      title: \(title)
      schema: {Dog: {_id: int primary}}
      processes: {app: [ui]}
      steps: [{ui: open}]
      tags: \(tags)

      """
    return try ScenarioParser.parse(text, file: file)
  }

  private static func all() throws -> [Scenario] {
    [
      try scenario("scenarios/growth/pinned.yaml", "A pin costs little", tags: "[slow, pins]"),
      try scenario("scenarios/processes/kill.yaml", "A killed process", tags: "[slow]"),
      try scenario("scenarios/processes/killed-late.yaml", "Late death", tags: "quick"),
    ]
  }

  private func names(_ selection: ScenarioSelection) throws -> [String] {
    try selection.chosen(from: try Self.all()).map {
      String($0.file.split(separator: "/").last?.dropLast(5) ?? "")
    }
  }

  @Test(
    "filters are parts of a path or a title, or globs",
    arguments: [
      (["growth"], ["pinned"]), (["PROCESS"], ["kill", "killed-late"]),
      (["late"], ["killed-late"]), (["kill*.yaml"], ["kill", "killed-late"]),
      (["kill.yaml"], ["kill"]), (["growth/*.yaml"], ["pinned"]),
      (["**/kill*"], ["kill", "killed-late"]), (["killed-????.yaml"], ["killed-late"]),
      (["pinned", "kill.yaml"], ["pinned", "kill"]), (["a pin costs"], ["pinned"]),
    ])
  func filters(filters: [String], expected: [String]) throws {
    #expect(try names(ScenarioSelection(filters: filters)) == expected)
  }

  @Test("one of the tags, none of the excluded ones, and the filter")
  func tags() throws {
    #expect(try names(ScenarioSelection()) == ["pinned", "kill", "killed-late"])
    #expect(try names(ScenarioSelection(tags: ["slow"])) == ["pinned", "kill"])
    #expect(try names(ScenarioSelection(tags: ["pins", "quick"])) == ["pinned", "killed-late"])
    #expect(try names(ScenarioSelection(excludedTags: ["slow"])) == ["killed-late"])
    #expect(try names(ScenarioSelection(tags: ["slow"], excludedTags: ["pins"])) == ["kill"])
    #expect(try names(ScenarioSelection(filters: ["processes"], tags: ["slow"])) == ["kill"])
    #expect(try names(ScenarioSelection(excludedTags: ["unheard-of"])).count == 3)
  }

  @Test("what fits nothing is an error that names it and the nearest tag")
  func nothing() throws {
    func message(_ selection: ScenarioSelection) throws -> String {
      let all = try Self.all()
      do throws(LabError) {
        _ = try selection.chosen(from: all)
        return ""
      } catch {
        #expect(error.exitCode == .usage)
        return error.message
      }
    }
    #expect(try message(ScenarioSelection(filters: ["growth", "nope"])).contains("'nope'"))
    #expect(try message(ScenarioSelection(filters: ["growth.yaml*"])).contains("growth.yaml*"))
    let tag = try message(ScenarioSelection(tags: ["slwo"]))
    #expect(tag.contains("nearest is 'slow'") && tag.contains("pins, quick, slow"), "\(tag)")
    let both = try message(ScenarioSelection(filters: ["late"], tags: ["slow"]))
    #expect(both.contains("none of 3 scenarios is left"), "\(both)")
    #expect(try message(ScenarioSelection(excludedTags: ["slow", "quick"])).contains("left"))
  }

  @Test("the list says what each scenario is, in text and as JSON")
  func list() throws {
    let list = ScenarioList(try Self.all())
    #expect(
      list.lines.first == "scenarios/growth/pinned.yaml  [slow, pins]  A pin costs little")
    let decoded = try JSONDecoder().decode(ScenarioList.self, from: Data(try list.json().utf8))
    #expect(decoded == list && decoded.formatVersion == 2)
    #expect(decoded.scenarios.map(\.line) == [1, 1, 1])
    #expect(decoded.scenarios[2].tags == ["quick"])
  }

  @Test(
    "broken tags",
    arguments: [
      ("tags: []", "4:7: expected a list of tags"),
      ("tags: {a: b}", "4:7: expected a list of tags"),
      ("tags: [a, a]", "4:11: tag 'a' occurs twice"),
      ("tags: [a b]", "4:8: 'a b' cannot name a tag"),
      ("tags: [[a]]", "4:8: expected a tag, found a list"), ("tags: 7up", "4:7: '7up' cannot name"),
    ])
  func broken(text: String, error: String) {
    let found = diagnostics(preamble + text + "\nsteps: [{ui: open}]")
    #expect(found.contains { $0.hasPrefix("t.yaml:\(error)") }, "\(found)")
  }

  @Test("words of the language can be tags")
  func words() throws {
    let scenario = try parsed(preamble + "tags: [open, write]\nsteps: [{ui: open}]")
    #expect(scenario.tags == ["open", "write"])
  }
}
