// LanguageTests.swift: versions of the scenario language, the spellings before version 1, and how
// files are rewritten.

import CrashStates
import FaultFS
import Foundation
import Testing

@testable import LabCore
@testable import Scenarios
@testable import Workload

@Suite("Language versions")
struct LanguageTests {
  private static let head = """
    title: t
    schema: {Dog: {_id: int primary}}
    processes: {app: [ui]}
    steps: [{ui: open}, {ui: close}]

    """
  private static let objects = """
    title: t
    schema: objects
    processes: {app: [ui]}

    """

  /// A text for each old spelling, with `OLD` where the key stands: a whole scenario or model, or a
  /// fault rule.
  private static let texts: [GrammarObject: [String: String]] = [
    .scenario: ["kill": head + "OLD: {process: app, at: every sync}"],
    .killSweep: [
      "crash": head + "crash: {model: posix}\nkillSweep: {process: app, at: 3, OLD: 9}"
    ],
    .database: [
      "commit": head + "database: {OLD: checksummed}",
      "seed": objects
        + "steps: [{ui: open}, {ui: {copy: a}}, {ui: close}, {ui: {open: {OLD: a}}}]",
    ],
    .step: [
      "cut": "title: t\nschema: {Dog: {_id: int primary}}\nprocesses: {app: [ui]}\n"
        + "steps: [{ui: open}, {OLD: {file: database, to: 4 KiB}}]"
    ],
    .model: ["version": "name: mine\nOLD: 3\n"],
    .fault: [
      "write-back": "{on: write, OLD: true, error: EIO}",
      "any-errno": "{on: write, OLD: true, error: EROFS}",
      "once-per-open-file": "{on: sync, error: EIO, OLD: true}",
      "offset": "{on: sync, every: 2, OLD: 1, ignore: true}",
      "times": "{on: sync, OLD: 2, ignore: true}",
      "no-space-after": "{on: write, OLD: 4096}", "fail-sync": "{on: sync, OLD: xfs}",
      "cut": "{on: close, OLD: 512}", "read-only": "{on: write, OLD: true}",
      "clear-cache": "{on: sync, OLD: after}", "kill": "{on: any, OLD: before}",
      "kill-other": "{on: any, OLD: \"sync*\"}", "stop": "{on: any, OLD: after}",
    ],
  ]

  /// What a text means, whatever it is.
  private enum Meaning: Equatable {
    case scenario(Scenario)
    case rules([FaultRule])
    case model(PersistenceModel)
  }

  private static func read(
    _ object: GrammarObject, _ text: String
  ) throws -> (meaning: Meaning, old: [OldSpelling]) {
    switch object {
    case .fault:
      let (rules, old) = try FaultFile.read(text, file: "t.yaml")
      return (.rules(rules), old)
    case .model:
      let (model, old) = try ModelFile.read(bytes: Array(text.utf8), file: "t.yaml")
      return (.model(model), old)
    default:
      let (scenario, old) = try ScenarioParser.read(text, file: "t.yaml")
      return (.scenario(scenario.withoutPlaces), old)
    }
  }

  @Test("every old spelling is read as the new one, with a warning at its place")
  func oldSpellings() throws {
    var count = 0
    for object in GrammarObject.allCases {
      for key in object.oldKeys {
        count += 1
        let text = try #require(Self.texts[object]?[key.old], "\(object) \(key)")
        let before = text.components(separatedBy: "OLD")[0].components(separatedBy: "\n")
        let place = SourcePosition(line: before.count, column: before[before.count - 1].count + 1)
        let new = try Self.read(object, text.replacing("OLD", with: key.new))
        let old = try Self.read(object, text.replacing("OLD", with: key.old))
        #expect(old.meaning == new.meaning, "\(key)")
        #expect(new.old.isEmpty, "\(key)")
        #expect(
          old.old
            == [OldSpelling(file: "t.yaml", position: place, old: key.old, new: key.new)], "\(key)")
        let said = old.old.map(\.description).joined()
        #expect(said.hasPrefix("t.yaml:\(place): warning: '\(key.old)' is now '\(key.new)'"))
        let file = try LanguageMigration.migrated(
          Array(text.replacing("OLD", with: key.old).utf8), path: "t.yaml")
        let migrated = try #require(file)
        let line = migrated.addsVersion ? "version: 1\n" : ""
        #expect(
          String(decoding: migrated.bytes, as: UTF8.self)
            == line + text.replacing("OLD", with: key.new), "\(key)")
        let again = try LanguageMigration.migrated(migrated.bytes, path: "t.yaml")
        #expect(again?.isChanged == false && again?.bytes == migrated.bytes, "\(key)")
      }
    }
    #expect(count == Self.texts.values.reduce(0) { $0 + $1.count } && count == 19)
  }

  @Test("every key is camelCase, and no old spelling is a key of the same mapping")
  func camelCase() {
    for object in GrammarObject.allCases {
      for key in object.keys {
        #expect(key.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }, "\(key)")
        #expect(key.first?.isLowercase == true, "\(key)")
      }
      #expect(Set(object.keys).isDisjoint(with: object.oldKeys.map(\.old)), "\(object)")
      #expect(Set(object.keys).isSuperset(of: object.oldKeys.map(\.new)), "\(object)")
    }
  }

  // MARK: - Versions

  @Test(
    "a later version is refused with its place and the remedy, and nothing else is said",
    arguments: [
      ("version: 2\ntitle: t\nfuture: {}\n", "t.yaml:1:10: the file is in version 2 "),
      ("title: t\nversion:  17\n", "t.yaml:2:11: the file is in version 17 "),
      ("version: 0\ntitle: t\n", "t.yaml:1:10: expected a version of the language, found '0'"),
      ("version: one\ntitle: t\n", "t.yaml:1:10: expected a version of the language"),
      ("version: \"1\"\ntitle: t\n", "t.yaml:1:10: expected a version of the language"),
      ("version: [1]\ntitle: t\n", "t.yaml:1:10: expected a version of the language"),
    ])
  func laterVersion(text: String, error: String) {
    let found = #expect(throws: ScenarioError.self) {
      try ScenarioParser.parse(text, file: "t.yaml")
    }
    let all = found?.diagnostics.map(\.description) ?? []
    #expect(all.count == 1 && all[0].hasPrefix(error), "\(all)")
    #expect(all.allSatisfy { $0.contains("use a newer faultline") || $0.contains("write 'ver") })
  }

  @Test("fault files and model files of a later version are refused, too")
  func laterFiles() throws {
    let faults = "version: 2\nfaults: [{on: future}]\n"
    let found = #expect(throws: LabError.self) { try FaultFile.parse(faults, file: "f.yaml") }
    #expect(found?.message.hasPrefix("f.yaml:1:10: the file is in version 2 ") == true)
    #expect(found?.code == .usage && found?.message.contains("\n") == false)
    let rules = try FaultFile.parse(
      "version: 1\nfaults: [{on: sync, ignore: true}]\n", file: "f.yaml")
    #expect(rules.count == 1)
    let model = "version: 2\nname: mine\nmodelVersion: 7\nfuture: 1\n"
    let refused = #expect(throws: ScenarioError.self) {
      try ModelFile.parse(bytes: Array(model.utf8), file: "m.yaml")
    }
    #expect(refused?.diagnostics.map(\.message).count == 1)
    #expect(refused?.description.hasPrefix("m.yaml:1:10: the file is in version 2 ") == true)
  }

  @Test("in a model file 'version' beside 'modelVersion' is the language's, alone the model's")
  func modelVersions() throws {
    for (text, version, warnings) in [
      ("name: mine\n", 1, 0), ("version: 1\nname: mine\n", 1, 0),
      ("version: 1\nname: mine\nmodelVersion: 7\n", 7, 0), ("name: mine\nmodelVersion: 7\n", 7, 0),
      ("name: mine\nversion: 7\n", 7, 1),
    ] {
      let (model, old) = try ModelFile.read(bytes: Array(text.utf8), file: "m.yaml")
      #expect(model.version == version && old.count == warnings, "\(text)")
    }
  }

  @Test("a line with the version changes nothing that is drawn")
  func drawnValues() throws {
    let text = """
      title: t
      schema: {Dog: {_id: int primary, name: string}}
      processes: {app: [ui]}
      steps:
        - ui: open
        - ui: {write: [{insert: Dog, _id: random 1..900, times: 9, name: random}]}
      """
    func plan(_ text: String) throws -> [PlannedTransaction] {
      let scenario = try ScenarioParser.parse(text, file: "t.yaml")
      return try WorkloadPlan(scenario, seed: Seed(rawValue: 7)).transactions
    }
    let plain = try plan(text)
    #expect(try plan("version: 1\n" + text) == plain)
    #expect(try plan(text + "\nversion: 1\n") == plain)
    #expect(try plan("\n" + text) != plain)
  }

  // MARK: - Mistakes

  @Test(
    "two spellings of one key, and words that are near an old one",
    arguments: [
      ("{on: sync, fail-sync: xfs, failSync: xfs}", "t.yaml:1:28: 'failSync' and another spelling"),
      ("{on: sync, failSync: xfs, fail-sync: xfs}", "keep 'failSync'"),
      ("{on: sync, fail-snyc: xfs}", "nearest valid key 'failSync'"),
      ("{on: sync, tmes: 1, ignore: true}", "nearest valid key 'maximumHits'"),
      ("{on: sync, clear_cache: after}", "nearest valid key 'clearCache'"),
      ("{on: write, readOnly: true}", "nearest valid key 'makeReadOnly'"),
    ])
  func mistakes(text: String, error: String) {
    let found = #expect(throws: LabError.self) { try FaultFile.parse(text, file: "t.yaml") }
    #expect(found?.message.contains(error) == true, "\(found?.message ?? "")")
  }

  @Test("what is for mounts stays refused in scenarios, whatever its spelling")
  func ofMounts() {
    for word in ["kill: before", "killCaller: before", "stop: after", "kill-other: x"] {
      let found = #expect(throws: ScenarioError.self) {
        try ScenarioParser.parse(
          Self.head + "faults: [{on: write, \(word)}]", file: "t.yaml")
      }
      #expect(found?.description.contains("is for mounts") == true, "\(word)")
    }
  }

  @Test("a rule on the command line has the places of what was typed")
  func commandLine() throws {
    var old: [OldSpelling] = []
    _ = try FaultFile.parse(
      commandLine: "on: sync, times: 2, ignore: true", file: "rule 1", allowsAnyErrno: false,
      warn: { old.append($0) })
    #expect(
      old.map(\.description) == [
        "rule 1:1:11: warning: 'times' is now 'maximumHits', and only this release still reads the "
          + "old word; write the new word"
      ])
    let found = #expect(throws: LabError.self) {
      try FaultFile.parse(
        commandLine: "on: sync, tims: 2, ignore: true", file: "rule 1", allowsAnyErrno: false)
    }
    #expect(found?.message.hasPrefix("rule 1:1:11: unknown key 'tims'") == true)
  }

  // MARK: - Tokens

  @Test("a token says the version; one without it replays, and a later one is refused")
  func tokens() throws {
    let scenario = try ScenarioParser.parse(Self.head, file: "t.yaml")
    var recipe = ScenarioRecipe(of: scenario, seed: 7, place: .run)
    #expect(recipe.language == 1)
    #expect(try ReplayRecipe(token: ReplayRecipe.scenario(recipe).token) == .scenario(recipe))
    recipe.language = nil
    let old = ReplayRecipe.scenario(recipe).token
    #expect(try ReplayRecipe(token: old) == .scenario(recipe))
    recipe.language = 2
    let found = #expect(throws: LabError.self) {
      try ReplayRecipe(token: ReplayRecipe.scenario(recipe).token)
    }
    #expect(found?.code == .usage && found?.message.contains("of version 2 of the") == true)
  }
}
