// NodeAccident.swift: one of several disturbances of a synchronized realm, as drawn by a stress run
// and kept in a replay token.

import FaultFS
import LabCore
import SyncLab

/// A power failure, a kill or a fault of a disk, in one life of a node.
package struct NodeAccident: Codable, Sendable, Hashable {
  /// What happens.
  package enum Kind: Codable, Sendable, Hashable {
    /// Power fails after this many events; what is left is a state of a model, by its key, or is
    /// drawn without one.
    case power(event: Int, model: String, state: String?)
    /// The process is killed after this many events, and all that it has written is there.
    case kill(event: Int)
    /// An operation of the disk fails.
    case fault(FaultRule)
  }

  /// The node.
  package var node: String
  /// Number of the life, from 0.
  package var life: Int
  /// What happens.
  package var kind: Kind

  /// The life's end, if this ends it at a place.
  var event: Int? {
    switch kind {
    case .power(let event, _, _), .kill(let event): event
    case .fault: nil
    }
  }

  var isPowerFailure: Bool { if case .power = kind { true } else { false } }

  /// How the world takes it.
  var inWorld: LabAccident {
    let place = LabPlace(node: node, life: life, event: event ?? 0)
    guard case .fault(let rule) = kind else { return LabAccident(place, .cut) }
    return LabAccident(place, .fault(rule))
  }

  /// In words.
  var text: String {
    let name = node + (life > 0 ? ", life \(life)" : "")
    return switch kind {
    case .power(let event, _, _): "power of \(name) fails after event \(event)"
    case .kill(let event): "\(name) is killed after event \(event)"
    case .fault(let rule): "the disk of \(name) has a fault (\(rule))"
    }
  }

  // MARK: drawing

  /// What the accidents of a round are drawn from.
  struct Choices {
    let nodes: [String]
    let model: String
    /// Most kills.
    let kills: Int
    /// Events within which a life ends.
    let within: Int
  }

  /// Most accidents of a round.
  static let countMax = 4

  /// Draws the accidents of a round, each in a life of its own.
  /// - Throws: `LabError` when a predefined rule cannot be parsed.
  static func drawn(_ choices: Choices, _ random: inout PRNG) throws(LabError) -> [NodeAccident] {
    var accidents: [NodeAccident] = []
    var lives: [String: Int] = [:]
    var killsLeft = choices.kills
    for _ in 0...random.below(countMax) {
      let node = choices.nodes[random.below(choices.nodes.count)]
      let life = lives[node, default: 0]
      lives[node] = life + 1
      // A quarter of them are early, while a file is opened.
      let isEarly = random.chance(Ratio(1, in: 4))
      let event = 1 + random.below(isEarly ? max(2, choices.within / 16) : choices.within)
      let kind = random.below(10)
      let fault = faults[random.below(faults.count)]
      let number = 1 + random.below(1 + choices.within / 8)
      if kind < 2 {
        accidents.append(
          NodeAccident(node: node, life: life, kind: .fault(try rule(fault, number))))
      } else if kind < 4, killsLeft > 0 {
        killsLeft -= 1
        accidents.append(NodeAccident(node: node, life: life, kind: .kill(event: event)))
      } else {
        let power = Kind.power(event: event, model: choices.model, state: nil)
        accidents.append(NodeAccident(node: node, life: life, kind: power))
      }
    }
    return accidents
  }

  private static let faults = [
    "on: sync, error: EIO", "on: write, error: EIO", "on: write, error: ENOSPC",
  ]

  private static func rule(_ fault: String, _ number: Int) throws(LabError) -> FaultRule {
    let rules = try FaultFile.parse(
      commandLine: "\(fault), nth: \(number)", file: "a drawn fault", allowsAnyErrno: false)
    guard let rule = rules.first else { throw .internalError("a drawn fault has no rule") }
    return rule
  }
}
