// Compacting.swift: compactions and copies that die, or wait, before one of their steps.

import Engine
import Synchronization

/// Counts steps.
final class StepCount: Sendable {
  private let count = Atomic<Int>(0)
  func next() -> Int { count.add(1, ordering: .relaxed).oldValue }
}

/// Compacts, and dies before the numbered step.
func compact(_ path: String, dyingAt number: Int) throws {
  let steps = StepCount()
  var options = Database.Options()
  options.newFileFailpoint = { _ throws(EngineError) in if steps.next() == number { die() } }
  say("compacted \(try Database.open(path: path, options: options).compact())")
}

/// Writes a copy beside the file, and dies before the numbered step.
func copy(_ path: String, dyingAt number: Int) throws {
  let steps = StepCount()
  var options = Database.Options()
  options.newFileFailpoint = { _ throws(EngineError) in if steps.next() == number { die() } }
  let database = try Database.open(path: path, options: options)
  try database.writeCopy(to: path + ".copy", encryptionKey: nil)
  say("copied")
}

/// Compacts, and waits before the rename for the end of standard input.
func compactSlowly(_ path: String) throws {
  var options = Database.Options()
  options.newFileFailpoint = { step throws(EngineError) in
    guard step == .name else { return }
    say("waiting")
    waitForEnd()
  }
  let database = try Database.open(path: path, options: options)
  say("compacted \(try database.compact())")
  try database.close()
}
