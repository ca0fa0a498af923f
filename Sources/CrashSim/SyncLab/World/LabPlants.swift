// LabPlants.swift: bugs that scenarios plant, each done to files behind the back of what owns them.

import Engine
import ObjectDatabase
import SyncClient
import SyncCore
import SyncServer
import Workload

extension LabWorld {
  /// Changes rows once the world is at rest.
  func plantRows() {
    switch declared.plant {
    case .clientRow: try? clients.last?.open?.file.database.harm()
    case .serverRow: try? server.start(harming: true)
    case .sharedIdentity:
      if let identity = try? clients.first?.identity() { try? clients.last?.take(identity) }
    default: return
    }
  }
}

extension LabServer {
  fileprivate func start(harming: Bool) throws {
    stop()
    let file = try RealmFile(disk.configuration())
    if harming { try file.database.harm() }
    store = try SyncServerStore(file.database, file: file)
  }
}

extension Database {
  /// Changes the age of the first dog.
  fileprivate func harm() throws(EngineError) {
    try edit { (write) throws(EngineError) in
      let classes = try FileClasses(write)
      let dog = SyncObject("Dog", .int(1))
      guard let (key, described) = try RowReader(source: write, classes: classes).row(of: dog)
      else { return }
      try write.set(.int(4_711), in: described.table.name, key: key, column: "age")
    }
  }

  fileprivate func edit(
    _ body: (WriteTransaction) throws(EngineError) -> Void
  ) throws(EngineError) {
    let write = try beginWrite()
    defer { write.cancel() }
    try body(write)
    try write.commit()
  }
}

extension Database {
  /// Restores a backup in two transactions: first it can be served, then it has another epoch.
  func splitRestore(epoch: UInt64) throws(EngineError) {
    let snapshot = try snapshot()
    guard var bytes = try SyncTable.bytes(.server, 0, snapshot) else { return }
    // Numbers of the row: epoch, whether it is a backup.
    for index in 8..<16 { bytes[index] = 0 }
    try edit { (write) throws(EngineError) in try SyncTable.put(bytes, .server, 0, write) }
    bytes.replaceSubrange(0..<8, with: NumberBytes.bytes([epoch]))
    try edit { (write) throws(EngineError) in try SyncTable.put(bytes, .server, 0, write) }
  }
}

extension LabClient {
  func forgetPending() throws {
    try open?.file.database.edit { (write) throws(EngineError) in
      try PartRows.pending.remove(write) { _ in true }
      write.memo = []
    }
  }

  func hideNote(_ id: Int) throws {
    try open?.file.database.edit { (write) throws(EngineError) in
      let reader = RowReader(source: write, classes: try FileClasses(write))
      let note = SyncObject("Note", .int(Int64(id)))
      guard let (key, described) = try reader.row(of: note) else { return }
      try write.delete(from: described.table.name, key: key)
    }
  }

  func chatter() throws {
    try open?.file.database.edit { (write) throws(EngineError) in
      guard let bytes = try SyncTable.bytes(.identity, 0, write) else { return }
      try SyncTable.put(bytes, .identity, 0, write)
    }
  }

  func loseIdentity() throws {
    try open?.file.database.edit { (write) throws(EngineError) in
      try SyncTable.put([1, 2, 3], .identity, 0, write)
    }
  }

  /// Gives the file the identity of another one.
  func take(_ identity: [UInt8]) throws {
    try open?.file.database.edit { (write) throws(EngineError) in
      try SyncTable.put(identity, .identity, 0, write)
    }
  }

  /// What the file says about itself.
  func identity() throws -> [UInt8]? {
    guard let snapshot = try open?.file.database.snapshot() else { return nil }
    return try SyncTable.bytes(.identity, 0, snapshot)
  }
}
