// KeptRound.swift: a failing round saved in a directory, so that it can be judged without running
// it again. Layout: trace.sqlite (docs/reference/trace-format.md), image/ (the crashed directory as
// drawn), acknowledged (of all rounds of its life), state/ (the checker's files; for the built-in
// workload also history-N.jsonl, the history of transactions), token, options.json (of a swarm's
// life) and options-thinned.json (the fewest with which it still failed).

import CrashStates
import Foundation
import LabCore
import Recording

/// A round in a directory.
package struct KeptRound: Sendable {
  /// The directory.
  package let directory: String

  /// Makes a round in a directory.
  package init(directory: String) { self.directory = directory }

  var tracePath: String { "\(directory)/trace.sqlite" }
  private var acknowledgedPath: String { "\(directory)/acknowledged" }
  private var statePath: String { "\(directory)/state" }

  func save(
    trace: Trace, image: TreeImage, acknowledged: [UInt8], state: String, token: String
  ) throws(LabError) {
    do {
      try FileManager.default.createDirectory(
        atPath: directory, withIntermediateDirectories: true)
      try Data(acknowledged).write(to: URL(fileURLWithPath: acknowledgedPath))
      try Data((token + "\n").utf8).write(to: URL(fileURLWithPath: "\(directory)/token"))
      try FileManager.default.copyItem(atPath: state, toPath: statePath)
    } catch {
      throw .lab("cannot keep the round in \(directory): \(error.localizedDescription)")
    }
    try TraceFile.save(trace, to: tracePath)
    try CrashDirectory.keep(image, in: "\(directory)/image")
  }

  /// The options of the life, and the fewest with which it still failed.
  static let optionsName = "options.json"
  static let thinnedName = "options-thinned.json"

  func save(_ options: StressLifeOptions, as name: String) throws(LabError) {
    do {
      try Data(try options.json().utf8).write(to: URL(fileURLWithPath: "\(directory)/\(name)"))
    } catch let error as LabError {
      throw error
    } catch {
      throw .lab("cannot keep the options in \(directory): \(error.localizedDescription)")
    }
  }

  func acknowledged() throws(LabError) -> [UInt8] {
    guard let bytes = FileManager.default.contents(atPath: acknowledgedPath) else {
      throw .usage("\(acknowledgedPath) cannot be read; give the directory of a kept round")
    }
    return Array(bytes)
  }

  /// Copies the checker's files to an empty directory.
  func copyState(to path: String) throws(LabError) {
    do {
      for name in try FileManager.default.contentsOfDirectory(atPath: statePath).sorted() {
        try FileManager.default.copyItem(atPath: "\(statePath)/\(name)", toPath: "\(path)/\(name)")
      }
    } catch {
      throw .usage("\(statePath) cannot be copied: \(error.localizedDescription)")
    }
  }
}
