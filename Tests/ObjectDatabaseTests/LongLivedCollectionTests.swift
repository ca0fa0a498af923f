// LongLivedCollectionTests.swift: collections that are held for long, whatever happens to their
// realm: each shows what one made afresh shows at the same moment, and what a model of plain arrays
// and dictionaries holds. Random sequences of begin, change, cancel, commit, asynchronous commits
// and their ends, refresh, invalidation, freezing and thawing, and of writes by others.
// COLLECTION_SEQUENCES=20000 in the environment asks for that many, COLLECTION_SEED for others; a
// sequence that fails is drawn alone by its own seed: COLLECTION_SEED=… COLLECTION_SEQUENCES=1.

import Foundation
import Requirements
import Synchronization
import Testing

@testable import ObjectDatabase

/// What became of a sequence.
struct LibraryOutcome: Sendable {
  var moves: [LibraryMove] = []
  var features = ""
  var failure: String?
  var comparisons = 0
  var updates = 0
  var compactions = 0
  /// A trap that was waited for.
  var isTrapped = false
}

/// Runs sequences, each on a thread of its own, whose traps are looked at.
enum LibrarySequence {
  /// Draws a sequence and runs it.
  static func run(seed: UInt64, count: Int, endsInTrap: Bool = false) throws -> LibraryOutcome {
    try run { runner, outcome in
      var script = LibraryScript(seed)
      outcome.withLock { $0.features = script.text }
      for _ in 0..<count where runner.failure == nil {
        let move = script.next(runner)
        outcome.withLock { $0.moves.append(move) }
        runner.perform(move)
      }
      if runner.failure == nil { runner.end() }
      if endsInTrap, runner.failure == nil { try runner.useWhatIsGone(outcome) }
    }
  }

  /// Runs a sequence again.
  static func run(_ moves: [LibraryMove]) throws -> LibraryOutcome {
    try run { runner, outcome in
      for move in moves where runner.failure == nil {
        outcome.withLock { $0.moves.append(move) }
        runner.perform(move)
      }
      if runner.failure == nil { runner.end() }
    }
  }

  private final class Shared: Sendable {
    let outcome = Mutex(LibraryOutcome())
  }

  private static func run(
    _ body: @escaping @Sendable (LibraryRunner, borrowing Mutex<LibraryOutcome>) throws -> Void
  ) throws -> LibraryOutcome {
    let folder = try Folder()
    let configuration = folder.configuration(LibraryRunner.types)
    let shared = Shared()
    let trap = MisuseProbe.message {
      do {
        let runner = try LibraryRunner(configuration)
        try body(runner, shared.outcome)
        shared.outcome.withLock { outcome in
          outcome.failure = runner.failure
          outcome.comparisons = runner.comparisons
          outcome.updates = runner.updates
          outcome.compactions = runner.compactions
        }
      } catch { shared.outcome.withLock { $0.failure = "\(error)" } }
    }
    var outcome = shared.outcome.withLock { $0 }
    guard let trap else { return outcome }
    let isExpected =
      outcome.isTrapped && trap.contains("was deleted, or its realm was invalidated")
    if !isExpected { outcome.failure = "trap: \(trap)" }
    return outcome
  }

  /// The fewest steps that are found to fail, by leaving out ever fewer of them.
  static func shrunk(_ moves: [LibraryMove]) throws -> LibraryOutcome {
    var best = try run(moves)
    var size = max(1, moves.count / 2)
    var runs = 0
    while best.failure != nil, runs < 400 {
      var start = 0
      var isSmaller = false
      while start < best.moves.count, runs < 400 {
        var shorter = best.moves
        shorter.removeSubrange(start..<min(start + size, shorter.count))
        runs += 1
        let outcome = try run(shorter)
        if outcome.failure != nil {
          best = outcome
          isSmaller = true
        } else {
          start += size
        }
      }
      if size == 1, !isSmaller { break }
      size = max(1, size / 2)
    }
    return best
  }
}

@Suite("collections that are held for long", .timeLimit(.minutes(60)))
struct LongLivedCollectionTests {
  private static func text(_ moves: [LibraryMove]) -> String {
    moves.enumerated().map { number, move in
      let step = "\(move.step)".replacingOccurrences(of: "ObjectDatabaseTests.Library", with: "")
        .replacingOccurrences(of: "Edit.", with: ".")
      let reads = String(move.slots, radix: 16) + " \(String(move.look.parts, radix: 2))"
      return "  \(number): \(step)  [reads \(reads)]"
    }.joined(separator: "\n")
  }

  @Test("show what new ones show, and what the model holds, after every step")
  func random() throws {
    let count = Int(clamping: FullSize.setting("COLLECTION_SEQUENCES", 60))
    let seed = FullSize.setting("COLLECTION_SEED", 20_261_126)
    print("collections: \(count) sequences from seed \(seed)")
    var total = LibraryOutcome()
    for number in 0..<count {
      let own = seed &+ UInt64(number)
      // A trap costs a thread for good.
      let outcome = try LibrarySequence.run(seed: own, count: 40, endsInTrap: number < 12)
      total.comparisons += outcome.comparisons
      total.updates += outcome.updates
      total.compactions += outcome.compactions
      guard let failure = outcome.failure else { continue }
      let shrunk = try LibrarySequence.shrunk(outcome.moves)
      Issue.record(
        """
        sequence \(number), \(outcome.features): \(failure)
        again: COLLECTION_SEED=\(own) COLLECTION_SEQUENCES=1
        \(Self.text(outcome.moves))
        \(shrunk.moves.count) steps are enough: \(shrunk.failure ?? "not this time")
        \(Self.text(shrunk.moves))
        """)
      return
    }
    print("collections: \(total)")
    #expect(total.comparisons > count * 20 && total.updates > count / 2)
  }
}

extension LibraryRunner {
  /// Reads a list whose owner is gone, or that was invalidated, which stops the process.
  func useWhatIsGone(_ outcome: borrowing Mutex<LibraryOutcome>) throws {
    for number in slotNumbers {
      guard let slot = slots[number], slot.view.books != nil,
        slot.isCutOff || slot.view.kind.expected(slot.kept ?? current) == nil
      else { continue }
      outcome.withLock { $0.isTrapped = true }
      _ = slot.view.read(LibraryLook())
      throw Failure("a list that is gone was read: slot \(number), \(slot.view.kind)")
    }
  }
}
