// EngineLoadCheckTests.swift: the built-in workload's checker goes on from what a power cut left.

import Engine
import Foundation
import Testing

@testable import Scenarios
@testable import Workload

@Suite("checker of the built-in workload")
struct EngineLoadCheckTests {
  /// A seed whose transaction writes rows and no list, so that nothing need be said of lists.
  private func seed(after first: UInt64, _ options: EngineLoadOptions) -> UInt64 {
    var seed = first
    while true {
      let plan = EngineLoadPlan(seed, options)
      let areUpserts = plan.statements.allSatisfy { $0.kind == .upsert }
      if areUpserts, plan.lists.allSatisfy({ !$0.appends }) { return seed }
      seed += 1
    }
  }

  @Test("a version that nobody changed is gone on from as it is", arguments: [false, true])
  func unchanged(isEncrypted: Bool) throws {
    let folder = FileManager.default.temporaryDirectory.path + "/load-check-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    for name in ["crashed", "state"] {
      try FileManager.default.createDirectory(
        atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
    }
    var options = EngineLoadOptions()
    options.groupsCommits = true
    options.mayFail = true
    options.isEncrypted = isEncrypted
    let first = seed(after: 1, options)
    let second = seed(after: first + 1, options)

    // Transaction 3 fails unheard, and leaves its number to the end of its group.
    let path = "\(folder)/crashed/\(DatabaseFile.name)"
    let database = try Database.open(path: path, options: options.declaration.options())
    let transaction = try database.beginWrite()
    for table in EngineLoadPlan.tables { try transaction.createTable(table.schema) }
    for statement in EngineLoadPlan(first, options).statements {
      try transaction.upsert(
        into: statement.table, key: statement.key, statement.values.map(\.engineValue))
    }
    #expect(try transaction.commit().rawValue == 2)
    #expect(try database.beginWrite().commit().rawValue == 3)
    try database.close()
    let image = try Data(contentsOf: URL(fileURLWithPath: path))

    let check = EngineLoadCheck(state: "\(folder)/state", options: options)
    let number = 1_600_000
    var said = "open 1\nbegin 2 \(first) \(number)\ncommit 2\nbegin 3 \(second) \(number + 1)\n"
    for (round, more) in ["", "open 3\n"].enumerated() {
      said += more
      try image.write(to: URL(fileURLWithPath: path))
      let found = try check.judge(
        directory: "\(folder)/crashed", acknowledged: Array(said.utf8), round: round)
      #expect(found == [], "round \(round)")
    }
  }
}
