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
  /// Where power fails, by life.
  private var cuts: [Int: Int] = [:]
  /// The faults of each life.
  private var faults: [Int: [FaultRule]] = [:]

  /// The lives that have ended in which a fault has hit.
  private(set) var faultyLives: Set<Int> = []

  private static let openCount = Atomic<Int>(0)

  init(_ node: String) throws(LabError) {
    self.node = node
    fileSystem = try SimulatedFileSystem()
  }

  /// Whether power has failed.
  var hasNoPower: Bool { powerEnd.map { fileSystem.eventCount >= $0 } ?? false }

  /// The place of the present life's end by a power failure.
  var place: LabPlace? { powerEnd.map { LabPlace(node: node, life: lives.count, event: $0) } }

  /// Whether a fault of the present life has hit.
  var wasFaulty: Bool {
    faults[lives.count] != nil && fileSystem.ruleHits().contains { $0.hitCount > 0 }
  }

  /// Begins to record.
  /// - Parameters:
  ///   - disturbance: What disturbs the run.
  ///   - rules: Rules of all lives.
  /// - Throws: `LabError` when a rule needs a mount.
  func record(_ disturbance: LabDisturbance?, rules: [FaultRule]) throws(LabError) {
    isRecording = true
    self.rules = rules
    switch disturbance {
    case .cut(let place, _) where place.node == node: cuts = [place.life: place.event]
    case .fault(node, let rule): faults = [0: [rule]]
    case .accidents(let all, _):
      for accident in all where accident.place.node == node {
        switch accident.kind {
        case .fault(let rule): faults[accident.place.life, default: []].append(rule)
        default: cuts[accident.place.life] = accident.place.event
        }
      }
    default: break
    }
    try begin()
  }

  private func begin() throws(LabError) {
    guard isRecording else { return }
    fileSystem.beginRecording()
    try fileSystem.addRules(rules + (faults[lives.count] ?? []))
    if let event = cuts[lives.count] {
      powerEnd = event
      fileSystem.endPower(atEvent: event)
    }
  }

  func mark(_ text: String) { if isRecording { fileSystem.mark(Array(text.utf8)) } }

  /// Ends the present life; nothing may be open.
  /// - Parameter rest: What the next one begins with, after the recording of this one; nil for
  ///   what was written.
  /// - Throws: `LabError` when that does not fit in a file system.
  func restart(leaving rest: ((Trace) throws(LabError) -> TreeImage)?) throws(LabError) {
    let written = fileSystem.image
    var image = written
    if isRecording {
      if wasFaulty { faultyLives.insert(lives.count) }
      let trace = fileSystem.endRecording()
      if let rest { image = try rest(trace) }
      lives.append(trace)
    } else if let rest {
      image = try rest(Trace(initial: written))
    }
    powerEnd = nil
    fileSystem = try SimulatedFileSystem(image)
    try begin()
  }

  /// The same with an image.
  func restart(with image: TreeImage) throws(LabError) {
    try restart { (_) throws(LabError) in image }
  }

  /// Ends the recording.
  func finish() {
    guard isRecording else { return }
    if wasFaulty { faultyLives.insert(lives.count) }
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
