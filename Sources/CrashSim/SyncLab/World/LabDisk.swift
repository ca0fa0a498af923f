// LabDisk.swift: the disk of one node. It has lives: each begins with a tree, which is durable, and
// is recorded until the node's process ends or its power fails.

import Engine
import FaultFS
import Foundation
import LabCore
import ObjectDatabase
import Recording
import Synchronization

/// A place in the recording of a node: power fails after this many events of a life.
package struct LabPlace: Hashable, Sendable, Codable {
  /// The node.
  package var node: String
  /// Number of the life, from 0.
  package var life: Int
  /// Number of its events before the place.
  package var event: Int

  package init(node: String, life: Int, event: Int) {
    self.node = node
    self.life = life
    self.event = event
  }
}

/// The disk of a node.
final class LabDisk {
  let node: String
  private(set) var fileSystem: SimulatedFileSystem
  /// The recorded lives that have ended.
  private(set) var lives: [Trace] = []
  /// Whether the present life is recorded.
  private(set) var isRecording = false
  /// The event after which power fails, in the present life.
  private(set) var powerEnd: Int?
  private var rules: [FaultRule] = []
  private var cut: LabPlace?

  private static let openCount = Atomic<Int>(0)

  init(_ node: String) throws(LabError) {
    self.node = node
    fileSystem = try SimulatedFileSystem()
  }

  /// Whether power has failed.
  var hasNoPower: Bool { powerEnd.map { fileSystem.eventCount >= $0 } ?? false }

  /// How often each rule hit.
  var hitCount: Int { fileSystem.ruleHits().reduce(0) { $0 + $1.hitCount } }

  /// Begins to record.
  /// - Parameters:
  ///   - cut: Where power fails, if that is on this disk.
  ///   - faults: The faults of the first life.
  ///   - rules: Those of all lives.
  /// - Throws: `LabError` when a rule needs a mount.
  func record(
    cut: LabPlace?, faults: [FaultRule], rules: [FaultRule]
  ) throws(LabError) {
    isRecording = true
    self.cut = cut?.node == node ? cut : nil
    self.rules = rules
    try begin()
    try fileSystem.addRules(faults)
  }

  private func begin() throws(LabError) {
    guard isRecording else { return }
    fileSystem.beginRecording()
    try fileSystem.addRules(rules)
    if let cut, cut.life == lives.count {
      powerEnd = cut.event
      fileSystem.endPower(atEvent: cut.event)
    }
  }

  func mark(_ text: String) { if isRecording { fileSystem.mark(Array(text.utf8)) } }

  /// Ends the present life; nothing may be open.
  /// - Parameter image: What the next one begins with.
  /// - Throws: `LabError` when the image does not fit in a file system.
  func restart(with image: TreeImage) throws(LabError) {
    if isRecording { lives.append(fileSystem.endRecording()) }
    powerEnd = nil
    fileSystem = try SimulatedFileSystem(image)
    try begin()
  }

  /// Ends the recording.
  func finish() {
    guard isRecording else { return }
    isRecording = false
    powerEnd = nil
    lives.append(fileSystem.endRecording())
  }

  /// How a realm opens the file.
  func configuration() -> Realm.Configuration {
    let number = Self.openCount.add(1, ordering: .relaxed).newValue
    var configuration = Realm.Configuration(
      fileURL: URL(filePath: "/lab/\(node)/\(LabModels.fileName)"), objectTypes: LabModels.types)
    configuration.engineOpener = EngineOpener(number: number) {
      [fileSystem] (options) throws(EngineError) in
      try fileSystem.openDatabase(LabModels.fileName, options: options)
    }
    return configuration
  }
}

/// A clock that a scenario moves.
final class LabClock: Sendable {
  private let now = Atomic<UInt64>(1_000_000)
  func read() -> UInt64 { now.load(ordering: .relaxed) }
  func set(_ time: UInt64) { now.store(time, ordering: .relaxed) }
}
