// FaultRuleTarget.swift: bytes are a fault file → rules → in force on a small tree.
// Invariants checked: errors have a position; a rule has a description; no rule is lost.

import FaultFS
import Fuzz
import LabCore
import Scenarios
import Workload

enum FaultRuleTarget {
  static let target = FuzzTarget.texts(
    "fault-rules", judges: "fault files: errors have a place; rules work on a small tree",
    smokeCount: 600, words: words, samples: samples, run: { run($0) })

  private static let words: [String] =
    GrammarObject.fault.keys + GrammarObject.fault.oldKeys.map(\.old) + GrammarObject.torn.keys
    + GrammarObject.holdBehind.keys
    + GrammarWords.errnos + GrammarWords.commitSteps
    + [
      "any", "write", "sync", "fsync", "read", "open", "close", "rename", "create", "truncate",
      "allocate", "syncDirectory", "{", "}", "[", "]", ": ", ", ", "\n- ", "0..4095", "12288..",
      "1 in 9", "true", "-1", "18446744073709551615", "*", "**", "?", "[a-", "\"*.db\"",
    ]

  private static let samples: [String] = [
    "on: sync, file: \"*.db\", nth: 3, error: EIO",
    "- {on: write, bytes: 0..4095, every: 2, skip: 1, torn: {unit: sector, keep: [1, 3]}}\n"
      + "- {on: sync, ignore: true, maximumHits: 1, after: \"begin 4\", until: end}",
    "faults:\n  - {on: [write, allocate], chance: 1 in 100, seed: 7, error: ENOSPC}\n"
      + "  - {on: read, flip: 3, file: \"wal/*.log\"}\n  - {on: any, delay: 5, command: \"p*\"}",
    "{on: write, short: 100}", "{on: sync, failSync: ext4-ordered}",
    "{on: write, misdirect: 4096}", "{on: write, lose: true, includeWriteBack: true}",
    "{on: write, holdBehind: {bytes: 0..8191}}", "{on: allocate, quota: 4096}",
    "- {on: create, killCaller: before}\n- {on: open, hang: true}\n"
      + "- {on: sync, command: ui, cutTail: 512}",
  ]

  private static func run(_ input: [UInt8]) -> FuzzOutcome {
    guard let text = String(validating: input, as: UTF8.self) else { return .refused }
    let rules: [FaultRule]
    do throws(LabError) {
      rules = try FaultFile.parse(
        commandLine: text, file: "fuzz", allowsAnyErrno: false, warn: { _ in })
    } catch {
      guard error.code == .usage, error.message.contains("fuzz:") else {
        return .finding("an error without a place: \(error)")
      }
      return .refused
    }
    do throws(LabError) {
      return try FuzzReaders.addRules(rules).map { .finding($0) } ?? .accepted
    } catch { return .finding("a small tree cannot be made: \(error)") }
  }
}
