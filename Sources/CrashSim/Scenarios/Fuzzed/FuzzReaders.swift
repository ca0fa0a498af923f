// FuzzReaders.swift: Faultline's parsers of external bytes, for fuzzing, where they are not
// accessible outside of the library. Each parses its input and checks the result for consistency.

import CrashStates
import FaultFS
import Foundation
import LabCore
import Recording

/// Parsers of external bytes.
package enum FuzzReaders {
  /// The result of a parser.
  package enum Reading: Equatable, Sendable {
    case accepted
    case refused
    case wrong(String)
  }

  /// Control messages as a socket delivers them, some bytes at a time; valid rules are added.
  /// - Complexity: O(bytes² / piece) at most, and the bytes are bounded by a message's limit.
  package static func controlMessages(_ bytes: [UInt8], pieceBytes: Int) -> Reading {
    var (frames, understood, rest) = (ControlFrames(), 0, bytes[...])
    do throws(LabError) {
      let fileSystem = try SimulatedFileSystem(quotaBytes: 1 << 20)
      while !rest.isEmpty {
        frames.add(Array(rest.prefix(max(1, pieceBytes))))
        rest = rest.dropFirst(max(1, pieceBytes))
        while let data = try frames.next() {
          guard let request = try? ControlFrames.decode(ControlRequest.self, from: data) else {
            continue
          }
          understood += 1
          if let wrong = try perform(request, on: fileSystem) { return .wrong(wrong) }
        }
      }
    } catch {
      return error.code == .usage ? .refused : .wrong("a message ends in \(error)")
    }
    return understood > 0 ? .accepted : .refused
  }

  /// The JSON of a request that adds rules.
  package static func request(adding rules: [FaultRule]) -> String? {
    guard let frame = try? ControlFrames.encode(ControlRequest.addRules(rules)) else { return nil }
    return String(decoding: frame.dropFirst(4), as: UTF8.self)
  }

  private static func perform(
    _ request: ControlRequest, on fileSystem: SimulatedFileSystem
  ) throws(LabError) -> String? {
    var frames = ControlFrames()
    let again: Data?
    do throws(LabError) {
      frames.add(try ControlFrames.encode(request))
      again = try frames.next()
    } catch {
      // A message that was short enough as received may be too long in our encoding.
      return error.code == .usage ? nil : "a message that was read cannot be written: \(error)"
    }
    guard let again else { return "a message that was written is not whole" }
    guard (try? ControlFrames.decode(ControlRequest.self, from: again)) != nil else {
      return "a message that was written cannot be read"
    }
    switch request {
    case .addRules(let rules): return addRules(rules, to: fileSystem)
    case .mark(let bytes): fileSystem.mark(Array(bytes))
    case .clearRules: fileSystem.clearRules()
    case .ruleHits: _ = fileSystem.ruleHits()
    case .phase(let process): _ = fileSystem.phase(of: process)
    default: break
    }
    return nil
  }

  /// Adds rules and performs operations on files under them.
  package static func addRules(_ rules: [FaultRule]) throws(LabError) -> String? {
    addRules(rules, to: try SimulatedFileSystem(quotaBytes: 1 << 20))
  }

  private static func addRules(
    _ rules: [FaultRule], to fileSystem: SimulatedFileSystem
  ) -> String? {
    for rule in rules where rule.description.isEmpty { return "a rule has no description" }
    guard (try? fileSystem.addRules(rules)) != nil else { return nil }
    let ownership = Ownership(mode: 0o644, user: 0, group: 0)
    for name in ["data.realm", "a.db"] {
      fileSystem.withFileSystem { fileSystem in
        let root = fileSystem.tree.root
        guard
          let inode = try? fileSystem.create(
            FileName(name), in: root, type: .regular, ownership: ownership,
            by: SimulatedFileSystem.caller)
        else { return }
        for _ in 0..<3 {
          try? fileSystem.sync(inode, dataOnly: true, by: SimulatedFileSystem.caller)
          try? fileSystem.sync(root, dataOnly: false, by: SimulatedFileSystem.caller)
        }
        try? fileSystem.rename(
          FileName(name), from: root, to: root, FileName(name + "2"), flags: 0,
          by: SimulatedFileSystem.caller)
      }
    }
    return fileSystem.ruleHits().count == rules.count ? nil : "rules are lost"
  }

  /// Parses and writes the text of a schedule.
  package static func schedule(_ text: String) -> Reading {
    guard let schedule = try? Schedule.parse(text) else { return .refused }
    guard schedule.decisionCount >= schedule.turns.count else { return .wrong("turns are lost") }
    guard let again = try? Schedule.parse(schedule.text) else {
      return .wrong("its own text is refused")
    }
    return again == schedule ? .accepted : .wrong("its own text reads otherwise")
  }

  /// Parses, writes and parses a replay token's recipe, and the meaningful words in it.
  package static func token(_ text: String) -> Reading {
    guard let recipe = try? ReplayRecipe(token: text) else { return .refused }
    let written = recipe.token
    guard let again = try? ReplayRecipe(token: written) else {
      return .wrong("its own token is refused")
    }
    guard again == recipe else { return .wrong("its own token reads otherwise") }
    for word in words(of: recipe) {
      _ = StateKey(parsing: word)
      _ = try? RecoveryPath(parsing: word)
      _ = try? Schedule.parse(word)
      _ = try? PersistenceModel.chosen(word)
    }
    return .accepted
  }

  private static func words(of recipe: ReplayRecipe) -> [String] {
    switch recipe {
    case .explore(let recipe): return [recipe.state, recipe.model, recipe.shape]
    case .stress(let recipe): return [recipe.state].compactMap { $0 }
    case .scenario(let recipe):
      switch recipe.place {
      case .crash(let model, let state, _): return [model, state]
      case .recovery(let model, let state, _, let second): return [model, state, second]
      case .schedule(let text): return [text]
      case .scheduledCrash(let schedule, let model, let state, _, let second):
        return [schedule, model, state] + [second].compactMap { $0 }
      default: return []
      }
    }
  }
}
