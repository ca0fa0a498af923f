// LabNodes.swift: a client and the server of the lab's world, each with its disk.

import Engine
import FaultFS
import LabCore
import ObjectDatabase
import Recording
import SyncClient
import SyncCore
import SyncServer
import Workload

/// A client: an app and an agent on one file.
final class LabClient {
  let name: String
  /// Its place among the clients.
  let number: Int
  let disk: LabDisk
  let clock = LabClock()
  private(set) var open: (file: RealmFile, realm: Realm, agent: SyncAgent)?
  var session: UInt64?
  /// Messages on their way, as bytes.
  var toServer: [[UInt8]] = []
  var toClient: [[UInt8]] = []
  var cuts: Set<SyncDirection> = []
  var clockOffset: Int64 = 0
  var writeCount = 0
  /// The transactions that were reported to its app as durable.
  var promised: Set<Int> = []
  /// Those that it must still see.
  var own: Set<Int> = []
  /// Where it was.
  var seen: (client: SyncClient, epoch: UInt64, confirmed: SyncVersion)?
  var copy: (image: TreeImage, own: Set<Int>)?

  init(_ name: String, _ number: Int) throws(LabError) {
    self.name = name
    self.number = number
    disk = try LabDisk(name)
  }

  /// Opens the file, which is made a synchronized one if it is not.
  func start() throws {
    let clock = clock
    let configuration = SyncedFile.configuration(
      disk.configuration(), now: { clock.read() })
    let file = try RealmFile(configuration)
    try SyncedFile.mark(configuration, realm: LabModels.realm)
    open = (
      file, try Realm(configuration: configuration),
      try SyncAgent(configuration, now: { clock.read() })
    )
  }

  func stop() { open = nil }

  var isReachable: Bool { cuts.isEmpty }

  func state() throws -> SyncState? {
    try open.map { try SyncedFile.state(try $0.file.database.snapshot()) }
  }

  func pending() throws -> [SyncChangeset] {
    try open.map { try SyncedFile.pending(try $0.file.database.snapshot()) } ?? []
  }

  func version() throws -> UInt64 {
    try open?.file.database.snapshot().version.rawValue ?? 0
  }
}

/// The server.
final class LabServer {
  let name: String
  let disk: LabDisk
  var store: SyncServerStore?
  var clockOffset: Int64 = 0
  /// The name of the history that clients must know.
  var epoch: UInt64 = 1
  var copy: TreeImage?
  /// Whether it sends a log, and entries, in one message.
  var sendsWhole = false
  /// Whether its file is a backup whose restore has not ended.
  var isRestoring = false
  /// The newest version that it had in this epoch.
  var seen = SyncVersion.zero

  init(_ name: String) throws(LabError) {
    self.name = name
    disk = try LabDisk(name)
  }

  func create() throws {
    try SyncServerStore.create(disk.configuration(), realm: LabModels.realm, epoch: epoch)
  }

  /// Bytes of entries in a message, and of a part of a log: few, so that small worlds have many.
  static let messageBytesMax = 256

  func start() throws {
    var limits = SyncServerStore.Limits()
    limits.trimmedMin = 4
    if !sendsWhole { limits.messageBytesMax = Self.messageBytesMax }
    // The lock of a path is for processes; this file is in memory.
    let file = try RealmFile(disk.configuration())
    store = try SyncServerStore(file.database, limits: limits, file: file)
  }

  func stop() { store = nil }

  /// Gives a backup its epoch; a file that was restored before a power failure has it.
  func restore(planting plant: SyncPlant?) throws {
    let file = try RealmFile(disk.configuration())
    guard try SyncServerStore.isBackup(try file.database.snapshot()) else { return }
    switch plant {
    case .splitRestore: try file.database.splitRestore(epoch: epoch)
    case .restoreSyncs:
      try disk.fileSystem.addRules([FaultRule(when: .init([.sync]), what: .ignoreSync)])
      defer { disk.fileSystem.clearRules() }
      try SyncServerStore.restore(file.database, epoch: epoch)
    default: try SyncServerStore.restore(file.database, epoch: epoch)
    }
  }
}
