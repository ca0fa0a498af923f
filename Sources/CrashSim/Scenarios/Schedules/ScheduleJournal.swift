// ScheduleJournal.swift [U]: the choices of the current run, in a file, one byte per decision.
// Invariant: a choice is in the file before the actor continues, so the file of a process that died
// has the schedule under which it died.

import CSystem
import Foundation
import Glibc
import LabCore

/// The choices of the current run, for one run after the other.
final class ScheduleJournal: Sendable {
  private let descriptor: Int32

  /// Makes the file, empty.
  /// - Throws: `LabError` with code `.lab` when it cannot be created.
  init(path: String) throws(LabError) {
    descriptor = Descriptors.create(path)
    guard descriptor >= 0 else { throw .lab("open \(path): \(describe(errno: errno))") }
  }

  deinit { Glibc.close(descriptor) }

  /// Clears the choices of the previous run.
  func begin() { _ = ftruncate(descriptor, 0) }

  /// Records the choice of a decision.
  fileprivate func note(_ actor: Int, at step: Int) {
    var byte = UInt8(actor)
    // Safety: pwrite(2) reads one byte.
    _ = unsafe pwrite(descriptor, &byte, 1, off_t(step))
  }

  /// Reads the schedule in a file.
  /// - Parameters:
  ///   - path: The file.
  ///   - actors: Names of the actors.
  /// - Returns: The schedule up to the last recorded decision; one without turns when the file does
  ///   not exist, or does not fit these actors.
  static func read(_ path: String, actors: [String]) -> Schedule {
    let bytes = FileManager.default.contents(atPath: path) ?? Data()
    guard bytes.allSatisfy({ Int($0) < actors.count }) else {
      return Schedule(actors: actors, turns: [])
    }
    return Schedule(actors: actors, choices: bytes.lazy.map { Int($0) })
  }
}

/// Chooses like another chooser, and records the choices.
struct JournaledChooser: ScheduleChooser {
  private var chooser: any ScheduleChooser
  private let journal: ScheduleJournal

  /// Starts a run.
  init(_ chooser: any ScheduleChooser, in journal: ScheduleJournal) {
    self.chooser = chooser
    self.journal = journal
    journal.begin()
  }

  mutating func choose(_ decision: ScheduleDecision) -> ScheduleChoice {
    let choice = chooser.choose(decision)
    if case .actor(let actor) = choice { journal.note(actor, at: decision.step) }
    return choice
  }

  func complaint() -> String? { chooser.complaint() }
}
