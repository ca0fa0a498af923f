// ModelFileTests.swift: persistence models in YAML: what they come to, and what is said of wrong
// ones.

import CrashStates
import Foundation
import LabCore
import Scenarios
import Testing

@Suite("Model files")
struct ModelFileTests {
  private func diagnostics(_ text: String) -> [String] {
    do throws(ScenarioError) {
      _ = try ModelFile.parse(bytes: Array(text.utf8), file: "m.yaml")
      return []
    } catch {
      return error.diagnostics.map(\.description)
    }
  }

  @Test("a model begins as its base and changes what it names")
  func base() throws {
    let text = """
      name: mine
      base: ext4-ordered
      modelVersion: 3
      safeReplaceByRename: false
      sectorBytes: none
      """
    let model = try ModelFile.parse(bytes: Array(text.utf8), file: "m.yaml")
    var expected = PersistenceModel.ext4Ordered
    expected.name = "mine"
    expected.version = 3
    expected.safeReplaceByRename = false
    expected.sectorBytes = nil
    #expect(model == expected)
    let bare = try ModelFile.parse(bytes: Array("name: bare".utf8), file: "m.yaml")
    var posix = PersistenceModel.posix
    posix.name = "bare"
    posix.version = 1
    #expect(bare == posix)
  }

  @Test("every parameter can be set to every value, and is what the file says")
  func parameters() throws {
    for parameter in ModelParameter.all {
      for word in parameter.words {
        let text = "name: mine\n\(parameter.key): \(word)\n"
        guard let model = try? ModelFile.parse(bytes: Array(text.utf8), file: "m.yaml") else {
          // Some values need others: then the file is refused for that reason, by both names.
          let said = diagnostics(text)
          #expect(
            said.contains {
              $0.contains("impossible: ") && $0.contains("\(parameter.key): \(word)")
            }, "\(said)")
          continue
        }
        #expect(parameter.word(model) == word, "\(parameter.key)")
      }
    }
  }

  @Test("a definition survives as one word, as tokens carry it", arguments: PersistenceModel.stock)
  func specification(stock: PersistenceModel) throws {
    #expect(try PersistenceModel.chosen(stock.specification) == [stock])
    #expect(stock.specification == stock.name)
    var model = stock
    model.name = "mine"
    model.version = 7
    #expect(!model.specification.contains(","))
    #expect(try PersistenceModel.chosen(model.specification) == [model])
    let both = "posix,\(model.specification)"
    #expect(try PersistenceModel.chosen(both) == [.posix, model])
  }

  @Test(
    "wrong files are told with place, nearest word and remedy",
    arguments: [
      ("", "m.yaml:1:1: the file holds no model"),
      ("- a\n", "m.yaml:1:1: expected a model mapping, found a list"),
      ("base: posix\n", "m.yaml:1:1: model lacks the key 'name'; add 'name:'"),
      ("name: mine\nsectorByte: 512\n", "m.yaml:2:1: unknown key 'sectorByte' in model; nearest"),
      ("name: mine\nsectorByte: 512\n", "nearest valid key 'sectorBytes'"),
      ("name: mine\nbase: ext4\n", "m.yaml:2:7: 'ext4' is not a stock model; nearest"),
      ("name: mine\nmetadataOrder: jornal\n", "nearest valid key 'journal'"),
      ("name: mine\nsectorBytes: 513\n", "m.yaml:2:14: '513' is not a value of sectorBytes"),
      ("name: mine\nrenameIsAtomic: yes\n", "m.yaml:2:17: 'yes' is not a value of renameIsAtomic"),
      ("name: Mine!\n", "m.yaml:1:7: 'Mine!' cannot name a model"),
      ("name: posix\n", "m.yaml:1:7: 'posix' is a stock model; give yours another name"),
      ("name: mine\nmodelVersion: 0\n", "m.yaml:2:15: a version of the model is out of range: 0"),
      ("name: mine\nname: yours\n", "m.yaml:1:1"),
      (
        "name: mine\nsyncCoverage: journalOfInode\n",
        "m.yaml:2:1: impossible: syncCoverage: journalOfInode; journalOfInode needs"
      ),
      ("name: mine\ndelayedAllocation: false\n", "m.yaml:2:1: impossible: delayedAllocation"),
      ("name: mine\nbase: posix\nmetadataOrder: total\n", "m.yaml:1:1: impossible: syncCoverage"),
      ("name: mine\nsectorBytes: none\npowersafeOverwrite: false\n", "m.yaml:3:1: impossible"),
      (
        "name: mine\npowersafeOverwrite: false\n",
        "m.yaml:1:1: impossible: sectorOverwriteIsAtomic"
      ),
      (
        "name: mine\nsectorOverwriteIsAtomic: false\nstaleBytes: none\n",
        "m.yaml:3:1: impossible: staleBytes"
      ),
    ])
  func wrong(text: String, message: String) {
    let said = diagnostics(text)
    #expect(said.contains { $0.contains(message) }, "\(said)")
  }

  @Test("hostile texts are errors and never traps")
  func hostile() {
    let deep = String(repeating: "[", count: 400)
    for text in [
      deep, "name: &a x\nbase: *a\n", "name: [posix]\n", "name: {}\n", "{name: mine, version: 1e9}",
      "name: \(String(repeating: "a", count: 100_000))\n", "\u{0}", "name: mine\n? [a]\n: b\n",
      "name: mine\nversion: 99999999999999999999999\n", "? {a: b}\n: c\n", ": :\n",
    ] {
      #expect(!diagnostics(text).isEmpty, "\(text.prefix(40))")
    }
    #expect(throws: ScenarioError.self) { try ModelFile.parse(bytes: [0xFF, 0xFE], file: "m") }
  }

  @Test(
    "hostile specifications are errors",
    arguments: [
      "mine", "mine@1", "mine:", "mine@:", "mine@0:", "mine@1:x=1", "mine@1:sectorBytes",
      "mine@1:sectorBytes=7", "posix@2:", "Mine@1:", "@1:", "mine@1:metadataOrder=total",
      "mine@99999999999999999999:", "mine@1:;;=;", "",
    ])
  func hostileSpecifications(text: String) {
    #expect(throws: LabError.self) { try PersistenceModel.chosen(text) }
  }

  @Test("a directory, a device or a missing file is refused without reading it")
  func oddFiles() throws {
    for path in ["/", "/dev/zero", "/dev/null/none.yaml", "/nowhere/none.yaml"] {
      #expect(throws: LabError.self) { try ModelFile.load(path) }
    }
  }

  @Test("a scenario takes a model by name, in place, or from a file in its folder")
  func inScenario() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "faultline-models-\(ProcessInfo.processInfo.processIdentifier)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try Data("name: filed\nbase: xfs\nsectorBytes: none\n".utf8)
      .write(to: folder.appendingPathComponent("filed.yaml"))
    try Data("name: bad\nbase: xsf\n".utf8).write(to: folder.appendingPathComponent("bad.yaml"))
    func models(_ model: String) throws -> [PersistenceModel] {
      let text = """
        title: t
        schema: {T: {_id: int primary}}
        processes: {p: [a]}
        steps:
          - a: open
        crash: {model: \(model)}
        """
      let file = folder.appendingPathComponent("s.yaml").path
      let scenario = try ScenarioParser.parse(text, file: file)
      return try PersistenceModel.chosen(
        try #require(scenario.crash).models.joined(separator: ","))
    }
    var filed = PersistenceModel.xfs
    filed.name = "filed"
    filed.version = 1
    filed.sectorBytes = nil
    var inline = PersistenceModel.btrfs
    inline.name = "inline"
    inline.failedSyncDropsData = false
    let mapping = "{name: inline, base: btrfs, failedSyncDropsData: false}"
    #expect(try models("xfs") == [.xfs])
    #expect(try models("filed.yaml") == [filed])
    #expect(try models(mapping) == [inline])
    #expect(try models("[strict, filed.yaml, \(mapping)]") == [.strict, filed, inline])
    for (wrong, message) in [
      ("bad.yaml", "bad.yaml:2:7: 'xsf' is not a stock model; nearest valid key 'xfs'"),
      ("none.yaml", "there is no such model file"),
      ("{name: inline, bsae: btrfs}", "s.yaml:6:31: unknown key 'bsae' in model; nearest"),
      ("[filed.yaml, filed.yaml]", "model 'filed' occurs twice"),
    ] {
      do {
        _ = try models(wrong)
        Issue.record("\(wrong) was taken")
      } catch let error as ScenarioError {
        #expect("\(error)".contains(message), "\(error)")
      }
    }
  }
}
