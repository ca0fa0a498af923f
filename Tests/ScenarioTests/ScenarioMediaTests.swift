// ScenarioMediaTests.swift: the `media` section is read whole, and each mistake in it is reported
// with its place and the remedy.

import Testing

@testable import Exploration
@testable import LabCore
@testable import Scenarios
@testable import Workload

@Suite struct ScenarioMediaTests {
  private func parse(_ media: String) throws -> MediaDeclaration? {
    try ScenarioParser.parse(
      """
      title: media
      schema: {Dog: {_id: int primary}}
      processes: {app: [ui]}
      steps: [{ui: open}]
      media: \(media)
      """, file: "m.yaml"
    ).media
  }

  @Test("every key is read, and what is left out has its default")
  func keys() throws {
    let whole = try #require(
      try parse(
        "{faults: [staleSector, bitFlip], files: \"*.realm\", at: {offset: 4096, length: 10}, "
          + "sectorBytes: 512, when: every commit, each: 2, survives: {slots: 1, free: 3}, "
          + "mayGoBack: {slots: 2}, budget: {states: 77}}"))
    #expect(whole.kinds == [.bitFlip, .staleSector])
    #expect(whole.fileGlob == "*.realm")
    #expect(whole.place == .bytes(offset: 4096, length: 10))
    #expect(whole.sectorBytes == 512)
    #expect(whole.moment == .everyCommit)
    #expect(whole.each == 2)
    #expect(whole.survives == [.slots: 1, .free: 3])
    #expect(whole.mayGoBack == [.slots: 2])
    #expect(whole.budgetStates == 77)
    var standard = MediaDeclaration()
    standard.fileGlob = DatabaseFile.name
    #expect(try parse("{}") == standard)
    #expect(try parse("{at: {length: 5}}")?.place == .bytes(offset: 0, length: 5))
    #expect(try parse("{at: {structure: slots}, faults: bitFlip}")?.place == .parts([.slots]))
    #expect(try parse("{at: {structure: [newest, nodes]}}")?.place == .parts([.newest, .nodes]))
  }

  @Test(
    "mistakes have a place and a remedy",
    arguments: [
      ("{fault: bitFlip}", "m.yaml:5:9", "nearest valid key 'faults'"),
      ("{faults: bitflip}", "m.yaml:5:17", "bitFlip"),
      ("{faults: []}", "m.yaml:5:17", "expected a list of faults"),
      ("{at: {structure: leaves}}", "m.yaml:5:25", "part of the file"),
      ("{at: {structure: slots, length: 3}}", "m.yaml:5:32", "does not go with 'structure'"),
      ("{at: {offset: 3}}", "m.yaml:5:13", "lacks"),
      ("{at: {offset: -1, length: 3}}", "m.yaml:5:22", "out of range"),
      ("{at: {length: 0}}", "m.yaml:5:22", "out of range"),
      ("{sectorBytes: 1024}", "m.yaml:5:22", "512, 4096"),
      ("{when: always}", "m.yaml:5:15", "every commit"),
      ("{each: 3}", "m.yaml:5:15", "out of range"),
      ("{survives: {slot: 1}}", "m.yaml:5:20", "nearest valid key 'slots'"),
      ("{survives: {slots: 0}}", "m.yaml:5:27", "out of range"),
      ("{mayGoBack: 1}", "m.yaml:5:20", "expected a mayGoBack mapping"),
      ("{budget: {states: 0}}", "m.yaml:5:26", "out of range"),
      ("3", "m.yaml:5:8", "expected a media mapping"),
    ])
  func mistakes(media: String, place: String, text: String) throws {
    let error = #expect(throws: ScenarioError.self) { try parse(media) }
    let said = error.map { "\($0)" } ?? ""
    #expect(said.contains(place), "\(said)")
    #expect(said.contains(text), "\(said)")
  }
}
