// AuditorTests.swift: the auditor, a program in another language that shares no code with ours,
// folds a server's log into SQLite and compares the result with the server's rows.

import Foundation
import Requirements
import SyncClient
import SyncCore
import SyncServer
import Testing

@Suite("The auditor", .requires(.python3))
struct AuditorTests {
  /// A log and rows, as messages of a server.
  private struct Export {
    var entries: [SyncEntry]
    var state: SyncState
    var head: SyncVersion

    /// Writes both files, and runs the auditor.
    func audit() throws -> (status: Int32, output: String) {
      let folder = try OwnFolder()
      let (log, rows) = (folder.path + "/log", folder.path + "/rows")
      var messages = [Self.welcome(SyncMerger())]
      for first in stride(from: 0, to: entries.count, by: 16) {
        messages.append(.entries(Array(entries[first..<min(entries.count, first + 16)])))
      }
      try Self.write(messages, log)
      try Self.write([Self.welcome(SyncMerger(state, at: head))], rows)
      let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/env")
      process.arguments = [
        "python3", "-B", tests.appending(path: "SyncAuditor/audit.py").path(), log, rows,
      ]
      let pipe = Pipe()
      process.standardOutput = pipe
      try process.run()
      let output = pipe.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      return (process.terminationStatus, String(decoding: output, as: UTF8.self))
    }

    private static func welcome(_ log: SyncMerger) -> SyncMessage {
      .welcome(
        SyncWelcome(
          client: SyncClient(1), secret: 0, nonce: 0, epoch: 1, lastSequence: 0, mark: 0,
          wentBack: false, log: log))
    }

    private static func write(_ messages: [SyncMessage], _ path: String) throws {
      var data = Data()
      for message in messages {
        let bytes = message.encoded()
        data.append(contentsOf: NumberBytes.bytes([UInt64(bytes.count)]) + bytes)
      }
      try data.write(to: URL(filePath: path))
    }
  }

  /// A life of three clients, all of whose entries are exported.
  private static func export(_ seed: UInt64, steps: Int) throws -> Export {
    let server = try TestServer(TestServer.memory("auditor \(seed)"))
    server.isExporting = true
    for _ in 0..<3 { server.addClient() }
    var random = TestRandom(seed: seed)
    for _ in 0..<steps {
      let number = random.below(3)
      switch random.below(8) {
      case 0..<4: server.write(number)
      case 4: try server.connect(number)
      case 5: if random.below(4) == 0 { try server.serve([.trim]) }
      default:
        try server.deliverUp([number])
        try server.deliverDown(number)
      }
    }
    try server.settle("seed \(seed)")
    return Export(
      entries: server.exported, state: try server.store.state(), head: server.store.head)
  }

  @Test("comes to the server's rows by the server's log")
  func logs() throws {
    for seed in 0..<(FullSize.isOn ? 40 : 1) as Range<UInt64> {
      let export = try Self.export(seed, steps: FullSize.isOn ? 2000 : 200)
      let (status, output) = try export.audit()
      #expect(status == 0, "seed \(seed): \(output)")
      #expect(output.hasPrefix("audit: \(export.entries.count) entries"), "\(output)")
    }
  }

  enum Damage: CaseIterable {
    case lostEntry, otherEffect, otherRow, lostObject

    /// A part of what the auditor prints.
    var message: String {
      switch self {
      case .lostEntry: "version 4 follows 2"
      case .otherEffect: "version 1 has digest"
      case .otherRow: "age of"
      case .lostObject: "in the log only"
      }
    }
  }

  @Test("finds what is wrong in a log or in rows", arguments: Damage.allCases)
  func damage(damage: Damage) throws {
    var export = try Self.export(3, steps: 60)
    let dog = try #require(export.state.objects.keys.filter { $0.type == "Dog" }.min())
    switch damage {
    case .lostEntry: export.entries.remove(at: 2)
    case .otherEffect: export.entries[0].resolved = []
    case .otherRow:
      try export.state.apply(.change(DogDraw.field(dog, "age"), .set(.int(1_000_000))))
    case .lostObject: export.state.replace(dog, by: nil)
    }
    let (status, output) = try export.audit()
    #expect(status == 1 && output.contains(damage.message), "\(output)")
  }
}
