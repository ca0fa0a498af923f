// Possible.swift: what a trace may leave under a model, in a form that tests can read.

import CrashStates
import LabCore

/// All outcomes of a trace under a model: one line per distinct tree and number of acknowledged
/// marks.
struct Possible {
  /// For example `0 marks: a=new b=`; names in order, directories with a slash.
  private(set) var outcomes: Set<String> = []
  let table: UnitTable

  /// Explores a recording.
  /// - Parameters:
  ///   - recording: What was done.
  ///   - model: The model.
  ///   - torn: With torn writes.
  ///   - exhaustiveUpTo: Crash points with more pending units are explored by strategies (nothing
  ///     kept, everything, all but one and so on) instead of by all sets of units.
  /// - Throws: `LabError` when the recording is broken.
  init(
    _ recording: Recording, _ model: PersistenceModel, torn: Bool = false, exhaustiveUpTo: Int = 20
  ) throws {
    let enumerator = try CrashStateEnumerator(
      trace: recording.trace, model: model, seed: Seed(rawValue: 1),
      options: ExplorationOptions(exhaustiveUpTo: exhaustiveUpTo, tornUnits: torn ? 4 : 0))
    table = enumerator.table
    var found: Set<String> = []
    try enumerator.visit(enumerator.plan()) { (state, image) throws(LabError) in
      found.insert("\(state.state.acknowledgedMarks): \(try image.line())")
      return .goOn
    }
    outcomes = found
  }

  /// Outcomes once all marks are acknowledged.
  var final: Set<String> {
    let marks = table.acknowledgedMarks(at: table.crashPointCount - 1)
    return Set(
      outcomes.filter { $0.hasPrefix("\(marks): ") }.map {
        String($0.dropFirst("\(marks): ".count))
      })
  }
}

extension CrashImage {
  /// The tree in one line: `name=text`, directories as `name/`, zero bytes as `.`, long content by
  /// its first bytes and its size, and modes other than the usual.
  func line() throws(LabError) -> String {
    var words: [String] = []
    try forEachEntry { (entry) throws(LabError) in
      guard !entry.path.isEmpty else { return }
      let path = String(decoding: entry.path, as: UTF8.self)
      let mode = entry.ownership.mode
      let suffix = mode == 0o644 || mode == 0o755 ? "" : "(0\(String(mode, radix: 8)))"
      guard entry.type == .regular else {
        words.append(path + "/" + suffix)
        return
      }
      let bytes = content(at: path) ?? []
      let shown = bytes.prefix(16).map { $0 == 0 ? UInt8(ascii: ".") : $0 }
      let rest = bytes.count > 16 ? "…\(bytes.count)" : ""
      let attributes = entry.extendedAttributes.sorted { $0.key < $1.key }
        .map { "[\($0.key)=\(String(decoding: $0.value, as: UTF8.self))]" }.joined()
      words.append(path + "=" + String(decoding: shown, as: UTF8.self) + rest + suffix + attributes)
    }
    return words.joined(separator: " ")
  }
}
