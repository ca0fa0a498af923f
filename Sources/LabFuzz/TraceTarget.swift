// TraceTarget.swift: [U] bytes are a trace file, an SQLite database: loaded, saved, loaded again.
// Invariants checked: nothing in the file is trusted; a trace that loads is saved to a file that
// loads to the same events, and splits into a model's units, or gives an error.

import CrashStates
import Engine
import Fuzz
import Glibc
import LabCore
import Recording
import Scenarios

enum TraceTarget {
  static let target = FuzzTarget(
    name: "trace", judges: "trace files (SQLite): what loads is saved and loads the same",
    smokeCount: 60, seeds: { [sample] }, run: { run($0) }
  ).with {
    $0.mutate = { input, _, choices in mutated(input, &choices) }
    $0.sizeMax = 1 << 18
    $0.dictionary = [
      "write", "create", "rename", "truncate", "sync", "mark", "data.realm", "faultline trace",
      "regular", "directory", "SQLite format 3",
    ]
  }

  /// A short run of the engine, without times and process numbers.
  private static let sample: [UInt8] = {
    do {
      let disk = try FuzzedDisk()
      let database = try disk.open(LabRun.options(isOneSync: false))
      disk.mark("made")
      try database.close()
      var trace = disk.endRecording()
      trace.events = trace.events.map {
        TraceEvent($0.body, flags: $0.flags, process: 7, thread: 7)
      }
      trace.phases = []
      let path = temporaryPath()
      defer { unsafe _ = unlink(path) }
      try TraceFile.save(trace, to: path)
      return contents(of: path) ?? []
    } catch { preconditionFailure("a trace of a new database cannot be made: \(error)") }
  }()

  /// Cells and headers of pages have no checksums: SQLite accepts changed numbers in them.
  private static func mutated(_ input: [UInt8], _ choices: inout MutantChoices) -> [UInt8]? {
    let kind = choices.below(4)
    guard input.count >= 4096, kind > 0 else { return kind == 0 ? nil : sample }
    var bytes = input
    for _ in 0...choices.below(4) {
      let page = choices.below(bytes.count / 4096) * 4096
      // Cells are at a page's end, its header and the cell pointers at its start.
      let inPage = choices.below(3) == 0 ? choices.below(64) : 4095 - choices.below(1500)
      let number = choices.interesting()
      for index in 0..<[1, 1, 2, 4, 8][choices.below(5)] where page + inPage + index < bytes.count {
        bytes[page + inPage + index] = UInt8(truncatingIfNeeded: number >> UInt64(8 * index))
      }
    }
    return bytes
  }

  private static func temporaryPath() -> String { "/tmp/faultline-fuzz-\(getpid()).trace" }

  private static func contents(of path: String) -> [UInt8]? {
    guard let file = unsafe fopen(path, "rb") else { return nil }
    defer { _ = unsafe fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let count = unsafe fread(&bytes, 1, bytes.count, file)
    return Array(bytes[..<count])
  }

  private static func run(_ input: [UInt8]) -> FuzzOutcome {
    let path = temporaryPath()
    defer { unsafe _ = unlink(path) }
    guard let file = unsafe fopen(path, "wb") else { return .refused }
    _ = unsafe fwrite(input, 1, input.count, file)
    _ = unsafe fclose(file)
    guard let trace = try? TraceFile.load(path) else { return .refused }
    let model = PersistenceModel.stock[Int(input.last ?? 0) % PersistenceModel.stock.count]
    if let crash = try? FuzzedDisk.crash(
      of: trace, model: model, afterEvents: trace.events.count, seed: UInt64(input.count))
    {
      guard StateKey(parsing: crash.key) != nil else {
        return .finding("the key of a state does not read: \(crash.key)")
      }
    }
    do throws(LabError) {
      try TraceFile.save(trace, to: path)
      guard try TraceFile.load(path).events == trace.events else {
        return .finding("a saved trace has other events")
      }
      return .accepted
    } catch { return .finding("a trace that loads cannot be saved and loaded: \(error)") }
  }
}
