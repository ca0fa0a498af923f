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
    /// Whether only the recovery writes it.
    var isOfRecovery = false
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
  /// Files that nothing here reads.
  private var unread: [KnownFormat: [String]] = [:]

  /// Learns from a recording.
  /// - Throws: `LabError` when a reader cannot be asked.
  init(_ trace: Trace, _ options: JudgingOptions, _ reader: FormatReader) throws(LabError) {
    history = FileHistoryBuilder.history(of: trace)
    self.options = options
    for record in history.counted(options) where record.isManaged {
      try learn(record.path, reader)
    }
    for path in history.knownDirectories() where !options.ignores(path) {
      try learn(path, reader)
    }
    skipped += KnownFormat.allCases.compactMap { unread[$0].map($0.unreadText) }
    let outputBytes = history.marks.last?.outputBytes ?? 0
    for (tree, bytes) in [(history.initial, 0), (history.final, outputBytes)] {
      try leaveOutBroken(tree, outputBytes: bytes, reader)
    }
  }

  /// Leaves out what fails in a state without any crash.
  /// - Throws: `LabError` when a reader cannot be asked.
  mutating func leaveOutBroken(
    _ tree: TreeImage, outputBytes: Int, _ reader: FormatReader, before: TreeImage? = nil
  ) throws(LabError) {
    for complaint in try complaints(
      about: tree, outputBytes: outputBytes, reader, before: before)
    where complaint.level == .error {
      options.ignored.append(complaint.path)
      skipped.append(
        "judging '\(complaint.path)': without any crash it fails already (\(complaint.text))")
    }
  }

  /// Files that only a recovery writes, from what it leaves where there was no crash.
  ///
  /// What it could be opened as then it can be opened as after each recovery that succeeds.
  /// - Throws: `LabError` when a reader cannot be asked.
  mutating func learnRecovered(
    _ tree: TreeImage, before: TreeImage, _ reader: FormatReader
  ) throws(LabError) {
    let known = Set(opened.map(\.path))
    for (path, image) in tree.regularFiles()
    where history.files[path] == nil && !known.contains(path) && !FileNames.isPassing(path) {
      guard !options.ignores(path), before.bytes(at: path) != image.visibleBytes,
        let format = tree.format(at: path),
        try reader.verdict(format, of: path, in: tree)?.isReadable == true
      else { continue }
      opened.append(
        Opened(path: path, format: format, wasReadableBefore: true, isOfRecovery: true))
    }
  }

  private mutating func learn(_ path: String, _ reader: FormatReader) throws(LabError) {
    var verdicts: [ReadVerdict] = []
    var known: KnownFormat?
    for tree in [history.initial, history.final] {
      guard let format = tree.format(at: path) else {
        verdicts.append(.unknown)
        continue
      }
      known = format
      verdicts.append(try reader.verdict(format, of: path, in: tree) ?? .unknown)
    }
    guard let known else { return }
    if verdicts.contains(where: \.isReadable) {
      var file = Opened(path: path, format: known, wasReadableBefore: verdicts[0].isReadable)
      let trees = [(crashPoint: 0, tree: history.initial)] + history.prints.trees
      if known.hasRows, trees.count <= Self.marksMax {
        for (point, tree) in trees {
          guard case .readable(let rows?) = try reader.verdict(known, of: path, in: tree) else {
            continue
          }
          file.rows.append((point, rows))
        }
      }
      opened.append(file)
    } else if verdicts.allSatisfy({ $0 == .unknown }) {
      unread[known, default: []].append(path)
    }
  }

  /// All that is wrong with a state, the worst first.
  /// - Parameters:
  ///   - tree: The state.
  ///   - outputBytes: How much of the workload's output was printed before the crash.
  ///   - reader: Opens files.
  ///   - before: The state before its recovery; nil without one. What a recovery wrote itself may
  ///     be a content that the workload never had.
  /// - Returns: The complaints.
  /// - Throws: `LabError` when a reader cannot be asked.
  func complaints(
    about tree: TreeImage, outputBytes: Int, _ reader: FormatReader, before: TreeImage? = nil
  ) throws(LabError) -> [Complaint] {
    var judge = FileJudge(history, options, tree: tree, outputBytes: outputBytes)
    judge.readFiles = Set(opened.filter { !$0.rows.isEmpty }.map(\.path))
    var complaints = judge.complaints()
    if let before {
      complaints.removeAll { complaint in
        complaint.rule == .halfWritten
          && before.bytes(at: complaint.path) != tree.bytes(at: complaint.path)
      }
    }
    for file in opened where !options.ignores(file.path) {
      guard let verdict = try reader.verdict(file.format, of: file.path, in: tree) else {
        continue
      }
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
      // Until it has all that it needs, or was synced first, it is being made.
      let isSynced = history.files[file.path]?.isSynced ?? false
      let mild = file.format.isDirectory || isSynced ? ComplaintLevel.note : .warning
      let what =
        file.isOfRecovery
        ? ", which the recovery wrote, cannot be opened" : " cannot be opened any more"
      return Complaint(
        level: isBad ? .error : mild, rule: .unreadable, path: file.path,
        text: "'\(file.path)'\(what) as \(file.format.title)", detail: reason)
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

extension KnownFormat {
  /// What is not opened for lack of a reader, and what mends it.
  fileprivate func unreadText(_ paths: [String]) -> String {
    let more = paths.count > 1 ? " and \(paths.count - 1) more" : ""
    return "opening '\(paths[0])'\(more): \(title), which nothing here reads; install "
      + packages.joined(separator: " or ")
  }
}

extension FormatReader {
  /// Says whether what is at a path can be opened; nil when it is not there.
  /// - Throws: `LabError` when a copy cannot be written, or the lab is asked to stop.
  fileprivate func verdict(
    _ format: KnownFormat, of path: String, in tree: TreeImage
  ) throws(LabError) -> ReadVerdict? {
    if format.isDirectory {
      guard let inside = tree.subtree(at: path) else { return nil }
      return try verdict(format, inside)
    }
    guard let bytes = tree.bytes(at: path) else { return nil }
    return try verdict(format, bytes, companions: tree.companions(of: path, format))
  }
}

extension FileHistory {
  /// Directories of known formats in which the run changed something.
  fileprivate func knownDirectories() -> [String] {
    var found: Set<String> = []
    for tree in [initial, final] {
      var open: [(path: String, inode: InodeNumber)] = [("", .root)]
      while let (path, number) = open.popLast() {
        guard let image = tree.inodes[number], image.type == .directory else { continue }
        if KnownFormat(entries: image.entries) != nil { found.insert(path) }
        for (name, child) in image.entries {
          open.append((path.isEmpty ? "\(name)" : "\(path)/\(name)", child))
        }
      }
    }
    return found.sorted().filter { path in
      path.isEmpty ? !files.isEmpty : files.keys.contains { $0.hasPrefix(path + "/") }
    }
  }
}

extension TreeImage {
  /// What is at a path, if it is known.
  fileprivate func format(at path: String) -> KnownFormat? {
    if let inode = inode(at: path), let image = inodes[inode], image.type == .directory {
      return KnownFormat(entries: image.entries)
    }
    guard let bytes = bytes(at: path), !bytes.isEmpty else { return nil }
    return KnownFormat(path: path, bytes: bytes)
  }

  /// What a directory holds, as a tree of its own.
  func subtree(at path: String) -> TreeImage? {
    guard let top = inode(at: path), let root = inodes[top], root.type == .directory else {
      return nil
    }
    var result = TreeImage()
    result.inodes[.root] = root
    var open = Array(root.entries.values)
    while let number = open.popLast() {
      guard let image = inodes[number] else { continue }
      result.inodes[number] = image
      open += image.entries.values
    }
    return result
  }

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
    // A copy is elsewhere, where the name that a journal holds leads nowhere.
    if let journal = result["-journal"], let name = SuperJournal.name(in: journal),
      inode(at: FileHistoryBuilder.directory(of: path, with: name)) != nil
    {
      result["-journal"] = SuperJournal.removed(from: journal)
    }
    return result
  }
}

extension JudgingOptions {
  /// Whether a path is left out.
  func ignores(_ path: String) -> Bool {
    ignored.contains { $0 == path || Glob($0).matches(Array(path.utf8)) }
  }
}
