// FaultFileTests.swift: fault rules from YAML: every key, what is refused and where, and that a
// rule's text is the rule again.

import FaultFS
import Foundation
import LabCore
import Scenarios
import Testing

@Suite("Fault files")
struct FaultFileTests {
  static let sound = [
    "{on: write, error: EIO}", "{on: [write, read], file: \"*.db\", bytes: 0..511, error: EINTR}",
    "{on: sync, nth: 2, ignore: true}", "{on: sync, every: 3, skip: 1, failSync: btrfs}",
    "{on: sync, failSync: ext4-data, error: ENOSPC}",
    "{on: sync, failSync: xfs, keep: random}", "{on: sync, failSync: xfs, keep: [1, 3]}",
    "{on: read, short: 0}",
    "{on: write, chance: 1 in 10, seed: 7, short: 512}", "{on: write, noSpaceAfter: 4096}",
    "{on: [write, allocate], quota: 1_000_000}", "{on: any, delay: 20}", "{on: open, hang: true}",
    "{on: write, maximumHits: 3, lose: true}", "{on: write, torn: {unit: sector, keep: first 1}}",
    "{on: write, torn: {unit: page, keep: last 2}}", "{on: write, torn: {parts: 3, keep: [1, 3]}}",
    "{on: write, torn: {bytes: 100, keep: random}}", "{on: write, misdirect: -512}",
    "{on: any, error: random, seed: 9}",
    "{on: write, torn: {bytes: [10, 20], keep: [2, 3]}}",
    "{on: read, stale: true}", "{on: read, flip: 1}", "{on: open, bytes: 0..4095, rot: 8}",
    "{on: close, cutTail: 512}", "{on: write, makeReadOnly: true}", "{on: any, killCaller: before}",
    "{on: sync, after: \"commit 1\", until: \"commit 2\", killFileSystem: after}",
    "{on: write, pid: 17, command: \"postgres\", actor: ui, includeWriteBack: true, error: EIO}",
    "{on: write, anyErrno: true, error: EROFS}",
    "{on: sync, error: EIO, oncePerOpenFile: true}",
    "{on: write, bytes: 8192.., holdBehind: {bytes: 0..8191}}",
  ]

  @Test("every key makes a rule, and the rule's text is that rule again", arguments: sound)
  func roundTrip(_ text: String) throws {
    let rules = try FaultFile.parse(text, file: "t.yaml")
    try #require(rules.count == 1)
    #expect(try FaultFile.parse(rules[0].description, file: "t.yaml") == rules)
    #expect(try FaultFile.parse("faults:\n  - \(text)\n  - \(text)", file: "t.yaml").count == 2)
    let coded = try JSONDecoder().decode(FaultRule.self, from: JSONEncoder().encode(rules[0]))
    #expect(coded == rules[0])
  }

  static let broken: [(text: String, error: String)] = [
    ("{on: write, error: EROFS}", "t.yaml:1:13: fault rule: errno EROFS: write cannot return it"),
    ("{on: write, error: EOI}", "t.yaml:1:20: 'EOI' is not an errno; nearest valid key 'EIO'"),
    ("{on: sync, error: ENOENT}", "it may return EBADF, EDQUOT, EINTR, EINVAL, EIO, ENOSPC, EROFS"),
    ("{on: sync, nht: 1, error: EIO}", "nearest valid key 'nth'"),
    ("{on: wirte, lose: true}", "1:6: 'wirte' is not an operation; nearest valid key 'write'"),
    ("{on: read, lose: true}", "fault rule: lose cannot hit read, only write"),
    ("{on: write, lose: true, short: 1}", "a fault has one effect, found 2"),
    ("{on: write, short: 0}", "short=0"),
    ("{on: write, chance: 11 in 10, lose: true}", "t.yaml:1:21: '11 in 10' is not a chance"),
    ("{on: write, torn: {unit: sector, parts: 2, keep: random}}", "found 2"),
    ("{on: write, torn: {parts: 2, keep: some}}", "'some' names no parts"),
    ("{on: write, torn: {parts: 2}}", "torn lacks the key 'keep'"),
    ("{on: sync, until: x, ignore: true}", "'until' goes with 'after'"),
    ("{on: sync, ofCommit: 1, after: x, ignore: true}", "do not go with 'ofCommit'"),
    ("{on: sync, failSync: ext5}", "'ext5' is not a state of pages"),
    ("{on: sync, failSync: btrfs, keep: random}", "'keep' has none to choose from"),
    ("{on: sync, failSync: xfs, keep: some}", "'some' names no parts"),
    ("{on: sync, error: EIO, keep: random}", "'keep' goes with 'failSync'"),
    ("{on: write, misdirect: 0}", "misdirect=0"),
    ("{on: write, delay: 60001}", "'delay' in milliseconds is out of range"),
    ("{on: write, lose: maybe}", "'maybe' is not a value of lose"),
    ("{faults: [{on: write, lose: true}], more: 1}", "unknown key 'more' beside 'faults'"),
    ("", "the file holds no"), ("- &a {on: write, lose: true}\n- *a", "t.yaml:1:3"),
    ("[", "t.yaml:"),
  ]

  @Test("what is wrong is named with its place", arguments: broken)
  func refused(text: String, error: String) {
    let found = #expect(throws: LabError.self) { try FaultFile.parse(text, file: "t.yaml") }
    #expect(
      found?.code == .usage && found?.message.contains(error) == true, "\(found?.message ?? "")")
  }

  @Test("anyErrno lets an error pass that the page does not list, but never ENOSYS")
  func anyErrno() throws {
    #expect(
      try FaultFile.parse("{on: write, error: EROFS}", file: "t", allowsAnyErrno: true).count == 1)
    #expect(ErrnoTable.numbers["ENOSYS"] == nil)
  }

  @Test("any stands for all kinds that may return the error")
  func anyKind() throws {
    let rule = try FaultFile.parse("{on: any, error: EXDEV}", file: "t")[0]
    #expect(rule.when.kinds == [.link, .rename])
    #expect(
      try FaultFile.parse("{on: any, torn: {parts: 2, keep: random}}", file: "t")[0]
        .when.kinds == [.write])
  }

  @Test("in a scenario, what only a mount can do is refused")
  func scenarios() {
    let text = """
      title: t
      schema: {Dog: {_id: int primary}}
      processes: {app: [ui]}
      steps: [{ui: open}]
      faults: [{on: write, hang: true}]
      """
    let error = #expect(throws: ScenarioError.self) {
      try ScenarioParser.parse(text, file: "t.yaml")
    }
    #expect(error?.description.contains("5:22: 'hang' is for mounts") == true, "\(error as Any)")
  }
}
