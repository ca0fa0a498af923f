// ProgressJournal.swift: saves a run's verdicts in a file, so that the same command can resume
// after the run was stopped or killed (docs/reference/reports.md).
// Format: lines. Each is 16 hexadecimal digits, the checksum of the text after the following space,
// and that text, a JSON entry.
// Invariants: the first entry identifies the run; the journal is read up to the first damaged line;
// a recording is named only after it is complete.

import CrashStates
import Foundation
import LabCore
import Recording
import Synchronization

/// The verdicts of one run, in order.
public final class ProgressJournal: Sendable {
  private enum Entry: Codable {
    /// Always first: the run's identity, each part as `name=value`.
    case run([String])
    /// A program's recording, in a file next to the journal.
    case recording(name: String, file: String, notes: RecordingNotes)
    /// A judged state; no failure means that it keeps its promises, and that nothing was noticed.
    case verdict(target: String, ordinal: Int, failure: CheckResult?)
    /// A completed scenario.
    case finished(name: String, content: String, report: CaseReport)
  }

  private struct State {
    var file: FileHandle
    var recordings: [String: (file: String, notes: RecordingNotes)] = [:]
    var verdicts: [String: [Int: CheckResult?]] = [:]
    var finished: [String: CaseReport] = [:]
    /// Why nothing is saved any more.
    var failure: String?
  }

  static let fileName = "progress.journal"

  private let directory: String
  private let state: Mutex<State>
  /// Number of verdicts that existed already.
  public let resumedCount: Int

  private init(_ directory: String, _ file: FileHandle, _ entries: [Entry]) {
    self.directory = directory
    var state = State(file: file)
    for entry in entries {
      switch entry {
      case .run: break
      case .recording(let name, let file, let notes): state.recordings[name] = (file, notes)
      case .verdict(let target, let ordinal, let failure):
        state.verdicts[target, default: [:]][ordinal] = .some(failure)
      case .finished(let name, let content, let report):
        state.finished["\(name)\n\(content)"] = report
      }
    }
    resumedCount = state.finished.count + state.verdicts.values.reduce(0) { $0 + $1.count }
    self.state = Mutex(state)
  }

  deinit {
    state.withLock { try? $0.file.close() }
  }

  /// Opens the journal in a directory, which is created if necessary.
  /// - Parameters:
  ///   - directory: The directory.
  ///   - identity: What identifies the run, each part as `name=value`, in a fixed order.
  ///   - resumes: Whether to resume an existing journal; otherwise it is deleted.
  /// - Returns: The journal.
  /// - Throws: `LabError` with code `.usage` when the existing journal belongs to another run,
  ///   `.lab` when the file cannot be written.
  public static func open(
    in directory: String, _ identity: [String], resumes: Bool
  ) throws(LabError) -> ProgressJournal {
    let path = "\(directory)/\(fileName)"
    let identity = identity + ["program=\(programIdentity)"]
    do {
      try FileManager.default.createDirectory(
        atPath: directory, withIntermediateDirectories: true)
      var (entries, size): ([Entry], Int) = ([], 0)
      if resumes, let data = FileManager.default.contents(atPath: path) {
        (entries, size) = read(data)
        if case .run(let previous)? = entries.first, previous != identity {
          throw otherRun(previous, identity, directory)
        }
        if case .run? = entries.first {} else { (entries, size) = ([], 0) }
      }
      if size == 0 { try Data().write(to: URL(fileURLWithPath: path)) }
      let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
      try file.truncate(atOffset: UInt64(size))
      let journal = ProgressJournal(directory, file, entries)
      if entries.isEmpty { journal.append(.run(identity)) }
      return journal
    } catch let error as LabError {
      throw error
    } catch {
      throw .lab("cannot keep the progress in \(path): \(error.localizedDescription)")
    }
  }

  private static func otherRun(
    _ previous: [String], _ present: [String], _ directory: String
  ) -> LabError {
    let pairs = zip(previous, present).first { $0 != $1 }
    let difference = pairs.map { "'\($0.prefix(200))' there, '\($1.prefix(200))' now" }
    return .usage(
      "--resume: \(directory) has the progress of another run (\(difference ?? "other options")); "
        + "repeat that command, or leave out --resume to start again")
  }

  /// Identifies Faultline's own program: verdicts of another build are not reused.
  private static var programIdentity: String {
    guard let path = PathCalls.executable(),
      let attributes = try? FileManager.default.attributesOfItem(atPath: path),
      let size = attributes[.size] as? NSNumber, let date = attributes[.modificationDate] as? Date
    else { return "unknown" }
    return "\(size)-\(Int64(date.timeIntervalSince1970 * 1e6))"
  }

  /// The complete lines at the start of some bytes, and where they end.
  private static func read(_ data: Data) -> (entries: [Entry], sizeBytes: Int) {
    let bytes = [UInt8](data)
    var entries: [Entry] = []
    var start = 0
    while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
      let line = bytes[start..<end]
      guard line.count > 17, line[start + 16] == UInt8(ascii: " ") else { break }
      let text = [UInt8](line.dropFirst(17))
      guard [UInt8](line.prefix(16)) == Array(checksum(text).utf8),
        let entry = try? JSONDecoder().decode(Entry.self, from: Data(text))
      else { break }
      entries.append(entry)
      start = end + 1
    }
    return (entries, start)
  }

  private static func checksum(_ text: [UInt8]) -> String {
    String(ContentHash.of(text).description.suffix(16))
  }

  private func append(_ entry: Entry) {
    state.withLock { state in
      guard state.failure == nil else { return }
      do {
        let text = [UInt8](try JSONEncoder().encode(entry))
        try state.file.seekToEnd()
        try state.file.write(contentsOf: Array("\(Self.checksum(text)) ".utf8) + text + [0x0A])
      } catch {
        state.failure = error.localizedDescription
      }
    }
  }

  // MARK: states

  /// The known verdicts on states of one target, by ordinal; nil is a state that held.
  package func verdicts(of target: String) -> [Int: CheckResult?] {
    state.withLock { $0.verdicts[target] ?? [:] }
  }

  /// Saves the verdict on a state.
  package func note(_ result: CheckResult, ordinal: Int, of target: String) {
    // Warnings and notes about a state that held are in its result.
    let failure = result.ending.isSuccess && result.rule == nil ? nil : result
    append(.verdict(target: target, ordinal: ordinal, failure: failure))
  }

  // MARK: recordings

  /// A program's recording in the run that is resumed.
  ///
  /// A new recording might differ, and then have other states.
  /// - Throws: `LabError` with code `.usage` when the file is damaged.
  package func recording(
    _ name: String
  ) throws(LabError) -> (trace: Trace, notes: RecordingNotes)? {
    guard let (file, notes) = state.withLock({ $0.recordings[name] }) else { return nil }
    do throws(LabError) { return (try TraceFile.load("\(directory)/\(file)"), notes) } catch {
      throw .usage("--resume: \(error.message); leave out --resume to start again")
    }
  }

  /// Saves a program's recording.
  package func keep(
    _ trace: Trace, _ notes: RecordingNotes = RecordingNotes(), as name: String
  ) throws(LabError) {
    let file = "progress-\(state.withLock { $0.recordings.count }).trace"
    try TraceFile.save(trace, to: "\(directory)/\(file)")
    state.withLock { $0.recordings[name] = (file, notes) }
    append(.recording(name: name, file: file, notes: notes))
  }

  // MARK: scenarios

  /// The report of a completed scenario, if its content was the same.
  package func finished(_ name: String, content: String) -> CaseReport? {
    state.withLock { $0.finished["\(name)\n\(content)"] }
  }

  /// Saves the report of a completed scenario.
  package func note(_ report: CaseReport, content: String) {
    append(.finished(name: report.name, content: content, report: report))
  }

  // MARK: the end

  /// How to resume a stopped run, or why that is impossible.
  public var remedy: String {
    if let failure = state.withLock({ $0.failure }) {
      return "the progress could not be kept in \(directory): \(failure)"
    }
    return "to continue: the same command with --resume"
  }

  /// Deletes the journal: the run is complete.
  public func remove() {
    let files = state.withLock { state in
      try? state.file.close()
      return state.recordings.values.map(\.file)
    }
    for file in files + [Self.fileName] { PathCalls.removeFile("\(directory)/\(file)") }
  }
}
