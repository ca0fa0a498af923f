// TraceKnowledge.swift: all that judging without a checker knows of one recording, made once.
// Invariant: the states without any crash, before the run and after it, have no complaint: files
// that would have one are not judged.

import Findings
import LabCore
import Recording

/// What is known of one recording.
struct TraceKnowledge: Sendable {
  /// A file that is opened to see whether it is whole.
  struct Opened: Sendable {
    let path: String
    let format: KnownFormat
    let wasReadableBefore: Bool
    /// Which rows it had before the run and at marks.
    var rows: [(crashPoint: Int, rows: String)] = []

    /// Whether rows are those of a time before a promise, and of none since.
    func wentBack(_ rows: String, before promise: Int) -> Bool {
      let isLater = self.rows.contains { $0.crashPoint >= promise && $0.rows == rows }
      return !isLater && self.rows.contains { $0.crashPoint < promise && $0.rows == rows }
    }
  }

  /// More marks than these are not looked at.
  private static let marksMax = 500

  let history: FileHistory
  private(set) var options: JudgingOptions
  private(set) var opened: [Opened] = []
  /// What could not be judged, and why.
  private(set) var skipped: [String] = []

  /// Learns from a recording.
  /// - Throws: `LabError` when a reader cannot be asked.
  init(_ trace: Trace, _ options: JudgingOptions, _ reader: FormatReader) throws(LabError) {
    history = FileHistoryBuilder.history(of: trace)
    self.options = options
    for record in history.counted(options) where record.isManaged {
      try learn(record.path, reader)
    }
    let outputBytes = history.marks.last?.outputBytes ?? 0
    for (tree, bytes) in [(history.initial, 0), (history.final, outputBytes)] {
      for complaint in try complaints(about: tree, outputBytes: bytes, reader)
      where complaint.level == .error {
        self.options.ignored.append(complaint.path)
        skipped.append(
          "judging '\(complaint.path)': without any crash it fails already (\(complaint.text))")
      }
    }
  }

  private mutating func learn(_ path: String, _ reader: FormatReader) throws(LabError) {
    var verdicts: [ReadVerdict] = []
    var known: KnownFormat?
    for tree in [history.initial, history.final] {
      guard let bytes = tree.bytes(at: path), !bytes.isEmpty,
        let format = KnownFormat(path: path, bytes: bytes)
      else {
        verdicts.append(.unknown)
        continue
      }
      known = format
      verdicts.append(
        try reader.verdict(format, bytes, companions: tree.companions(of: path, format)))
    }
    guard let known else { return }
    if verdicts.contains(where: \.isReadable) {
      var file = Opened(path: path, format: known, wasReadableBefore: verdicts[0].isReadable)
      let trees = [(crashPoint: 0, tree: history.initial)] + history.prints.trees
      if known == .sqlite, trees.count <= Self.marksMax {
        for (point, tree) in trees {
          guard let bytes = tree.bytes(at: path),
            case .readable(let rows?) = try reader.verdict(
              known, bytes, companions: tree.companions(of: path, known))
          else { continue }
          file.rows.append((point, rows))
        }
      }
      opened.append(file)
    } else if verdicts.allSatisfy({ $0 == .unknown }) {
      skipped.append(
        "opening '\(path)': it is \(known.title), and Python here has no module that reads it")
    }
  }

  /// All that is wrong with a state, the worst first.
  /// - Throws: `LabError` when a reader cannot be asked.
  func complaints(
    about tree: TreeImage, outputBytes: Int, _ reader: FormatReader
  ) throws(LabError) -> [Complaint] {
    var judge = FileJudge(history, options, tree: tree, outputBytes: outputBytes)
    judge.readFiles = Set(opened.filter { !$0.rows.isEmpty }.map(\.path))
    var complaints = judge.complaints()
    for file in opened where !options.ignores(file.path) {
      guard let bytes = tree.bytes(at: file.path) else { continue }
      let verdict = try reader.verdict(
        file.format, bytes, companions: tree.companions(of: file.path, file.format))
      if let complaint = self.judge(file, verdict, judge.promise) { complaints.append(complaint) }
    }
    // The order among complaints of one level is that of the rules and paths.
    return [ComplaintLevel.error, .warning, .note].flatMap { level in
      complaints.filter { $0.level == level }
    }
  }
}

extension TraceKnowledge {
  /// What a reader's verdict means.
  private func judge(
    _ file: Opened, _ verdict: ReadVerdict, _ promise: HistoryMark?
  ) -> Complaint? {
    switch verdict {
    case .unknown: return nil
    case .unreadable(let reason):
      let isBad = file.format.isWholeWhileMade || file.wasReadableBefore || promise != nil
      return Complaint(
        level: isBad ? .error : .warning, rule: .unreadable, path: file.path,
        text: "'\(file.path)' cannot be opened any more as \(file.format.title)", detail: reason)
    case .readable(let rows):
      guard let promise, let rows, file.wentBack(rows, before: promise.crashPoint) else {
        return nil
      }
      return Complaint(
        level: .error, rule: .wentBack, path: file.path,
        text: "'\(file.path)' has the rows that it had before \(promise.quoted) was printed")
    }
  }
}

extension TreeImage {
  /// A regular file's bytes, if it is not too large.
  func bytes(at path: String) -> [UInt8]? {
    guard let inode = inode(at: path), let image = inodes[inode], image.type == .regular else {
      return nil
    }
    return image.visibleBytes
  }

  /// What lies beside a file that its reader needs.
  func companions(of path: String, _ format: KnownFormat) -> [String: [UInt8]] {
    var result: [String: [UInt8]] = [:]
    for name in format.companions { result[name] = bytes(at: path + name) }
    return result
  }
}

extension JudgingOptions {
  /// Whether a path is left out.
  func ignores(_ path: String) -> Bool {
    ignored.contains { $0 == path || Glob($0).matches(Array(path.utf8)) }
  }
}
