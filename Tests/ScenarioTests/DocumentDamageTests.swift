// DocumentDamageTests.swift: what the document store finds of damage in its database file, page by
// page. SQLite has no checksums, so the promise is: nothing traps, and what a verification accepts
// is sound in all that documents, indexes and counters say of each other; a value may be another.

import Foundation
import GRDB
import TestSupport
import Testing

@testable import DocumentLab
@testable import LabCore
@testable import Scenarios
@testable import Workload

@Suite("damage of a database file of documents") struct DocumentDamageTests {
  /// What came of the damaged states of one kind of page.
  private struct Tally {
    var detected = 0
    var same = 0
    var other = 0
  }

  private enum Fault: CaseIterable { case bitFlip, zeroPage, otherPage, tornPage }

  /// The kind of each page, from 1; pages that no tree has are free.
  private static func kinds(_ path: String, _ count: Int) throws -> [String] {
    var kinds = Array(repeating: "free and pointer map", count: count)
    let queue = try DatabaseQueue(path: path)
    let rows = try queue.read { try Row.fetchAll($0, sql: "SELECT name, pageno FROM dbstat") }
    for row in rows {
      let (name, page): (String, Int) = (row[0], row[1])
      guard (1...count).contains(page) else { continue }
      kinds[page - 1] =
        switch name {
        case "sqlite_schema", "sqlite_master": "schema"
        case let name where name.contains("::"): "rows of indexes"
        case "kv_default", "kv_del_default", "kv_.things", "kv_del_.things": "documents"
        case "kv_info", "kvmeta", "indexes": "lists and counters"
        default: "SQLite's indexes, and other tables"
        }
    }
    try queue.close()
    return kinds
  }

  private static func damage(
    _ bytes: inout Data, page: Int, _ fault: Fault, pageBytes: Int, _ generator: inout PRNG
  ) {
    let start = page * pageBytes
    let count = bytes.count / pageBytes
    switch fault {
    case .bitFlip:
      bytes[start + generator.below(pageBytes)] ^= 1 << UInt8(generator.below(8))
    case .zeroPage:
      bytes.replaceSubrange(start..<start + pageBytes, with: Data(count: pageBytes))
    case .otherPage:
      let other = ((page + 1 + generator.below(count - 1)) % count) * pageBytes
      bytes.replaceSubrange(start..<start + pageBytes, with: bytes[other..<other + pageBytes])
    case .tornPage:
      // A part that is older: zeros, as before the page was used.
      let half = pageBytes / 2
      bytes.replaceSubrange(start + half..<start + pageBytes, with: Data(count: half))
    }
  }

  @Test("is found, or leaves what is sound, on each page")
  func pages() throws {
    let path = DocumentScenarioTests.folder.appendingPathComponent("media-database.yaml")
    let plan = try DocumentScenarioTests.plan(try String(contentsOf: path, encoding: .utf8))
    let directory = try TemporaryDirectory()
    let whole = "\(directory.path)/whole"
    try FileManager.default.createDirectory(atPath: whole, withIntermediateDirectories: true)
    try DocumentPreparation.run(plan, in: whole)
    try DocumentPreparation.doSteps(plan, in: whole) { _ in }
    let name = "\(DocumentHand.bundle)/db.sqlite3"
    let original = try Data(contentsOf: URL(fileURLWithPath: "\(whole)/\(name)"))
    let pageBytes = 4096
    let pages = original.count / pageBytes
    let kinds = try Self.kinds("\(whole)/\(name)", pages)
    let lines = plan.lines[plan.lines.count - 1]
    let output = Array("commit \(plan.states.count - 1)\n".utf8)
    let judge = DocumentJudge(plan)
    var generator = PRNG(Seed(rawValue: 7))
    var tallies: [String: Tally] = [:]
    let flips = FullSize.isOn ? 40 : 1
    for page in 0..<pages {
      let faults =
        FullSize.isOn
        ? Array(repeating: Fault.bitFlip, count: flips) + [.zeroPage, .otherPage, .tornPage]
        : [Fault.allCases[page % 4]]
      for fault in faults {
        let copy = "\(directory.path)/copy"
        try? FileManager.default.removeItem(atPath: copy)
        try FileManager.default.copyItem(atPath: whole, toPath: copy)
        var bytes = original
        Self.damage(&bytes, page: page, fault, pageBytes: pageBytes, &generator)
        try bytes.write(to: URL(fileURLWithPath: "\(copy)/\(name)"))
        let key = "\(kinds[page]), \(fault == .bitFlip ? "a bit" : "a page")"
        if judge.notices(in: copy) != nil {
          tallies[key, default: Tally()].detected += 1
          continue
        }
        let isSame = try DocumentSight(bundle: "\(copy)/\(DocumentHand.bundle)").lines == lines
        let unsound = judge.problems(in: copy, output: output, hasPower: true)
          .filter { $0.promise.holdsOnDamagedMedia }
        #expect(unsound.map(\.line) == [], "page \(page + 1), \(key)")
        tallies[key, default: Tally()].same += isSame ? 1 : 0
        tallies[key, default: Tally()].other += isSame ? 0 : 1
      }
    }
    #expect(tallies.values.reduce(0) { $0 + $1.detected } > 0)
    guard FullSize.isOn else { return }
    for (key, tally) in tallies.sorted(by: { $0.key < $1.key }) {
      print("damage: \(key): \(tally.detected) found, \(tally.same) same, \(tally.other) other")
    }
  }
}
