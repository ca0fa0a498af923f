// FileHistoryBuilder.swift: reads a trace once and keeps every content of every file it touches.

import CrashStates
import Recording

/// Builds the history of a trace's files.
struct FileHistoryBuilder {
  /// What is known of a file while it is followed.
  private struct Writer {
    var stream: Int
    /// No writer has begun since the last one ended.
    var isComplete: Bool
    /// Written in place: its bytes are followed by fingerprints at marks only.
    var isManaged = false
  }

  private var history = FileHistory()
  private var live: TreeImage
  private let trace: Trace
  private let names: PathIndex
  private var writers: [InodeNumber: Writer] = [:]
  private var initialStreams: [InodeNumber: Int] = [:]
  private var prints = Fingerprints()
  private var syncedDirectories: Set<String> = []
  /// Names that were given in a directory since its last sync.
  private var given: [String: [(path: String, isRename: Bool)]] = [:]
  private var hasSyncedSinceMark = false
  /// Whether the program did nothing since the last mark but close files.
  private var isIdle = false
  /// Writes of mapped pages since then, for which there was no sync.
  private var pendingLate: [(path: String, since: Int)] = []
  private var outputBytes = 0
  /// Crash point of the first operation that changes something.
  private var firstChange: Int?
  private var ahead = WritersAhead()
  /// What paths point to now.
  private var pointers: [String: FilePointer] = [:]
  /// Paths that an operation has changed.
  private var touched: [String] = []

  /// Reads a trace.
  /// - Complexity: O(events × log + bytes written), and of files written in place their bytes for
  ///   each mark.
  static func history(of trace: Trace) -> FileHistory {
    var builder = FileHistoryBuilder(trace)
    for (index, event) in trace.events.enumerated() { builder.read(event, at: index) }
    builder.history.journaled = JournalFinder.changes(in: trace)
    return builder.finished()
  }

  private init(_ trace: Trace) {
    self.trace = trace
    live = trace.initial
    names = PathIndex(trace)
    history.initial = trace.initial
  }

  private mutating func read(_ event: TraceEvent, at index: Int) {
    switch event.body {
    case .mark(let mark):
      outputBytes += mark.bytes.count
      prints.note(live, at: index + 1)
      history.marks.append(
        HistoryMark(
          crashPoint: index + 1, outputBytes: outputBytes, text: mark.text,
          promise: OutputPromise(mark.text), isAfterSync: hasSyncedSinceMark))
      ahead.mark(history.marks.count - 1)
      hasSyncedSinceMark = false
      isIdle = true
    case .operation(let operation):
      noteLate(operation, event.flags, at: index)
      noteChange(operation, event, at: index)
      let isVain = operation.isSync && event.flags.contains(.failed)
      if !isVain { before(operation, at: index) }
      live.apply(operation)
      if !isVain { after(operation, at: index + 1) }
      notePointers()
    }
  }

  private func finished() -> FileHistory {
    var result = self
    // A file's last close may come after the end, or a little late: nobody waits for it.
    for inode in writers.keys.sorted() { result.complete(inode, at: trace.events.count) }
    for (inode, writer) in writers where !writer.isManaged {
      result.capture(inode, writer.stream)
    }
    result.prints.note(live, at: trace.events.count)
    result.history.prints = result.prints.finished(result.history, trace.initial)
    for path in result.history.files.keys
    where result.syncedDirectories.contains(Self.directory(of: path)) {
      result.history.files[path]?.isSynced = true
    }
    result.history.lateMapped = result.pendingLate
    result.history.findAnnouncements(before: result.firstChange ?? trace.events.count)
    result.notePointers()
    for path in result.pointers.keys.sorted() { result.endPointer(result.pointers[path]) }
    result.history.final = live
    return result.history
  }

  /// What lines are about: whether something has changed yet, and who writes and syncs.
  private mutating func noteChange(_ operation: Operation, _ event: TraceEvent, at index: Int) {
    switch operation {
    case .write(let inode, _, _): ahead.write(inode, event.thread)
    case .sync(let inode, _):
      for (mark, count) in ahead.sync(inode, event.thread, live.inodes[inode]?.sizeBytes ?? 0) {
        for path in names.paths(of: inode, at: index) {
          history.marks[mark].synced[path] = count
        }
      }
    case .close: return
    default: if operation.isSync { return }
    }
    firstChange = firstChange ?? index
  }

  /// A write of mapped pages after the program's last call: they may have been stored long before.
  private mutating func noteLate(_ operation: Operation, _ flags: OperationFlags, at index: Int) {
    switch operation {
    case .write(let inode, _, _) where flags.contains(.writeBack):
      guard isIdle, let path = names.paths(of: inode, at: index).first else { return }
      pendingLate.append((path, index + 1))
    case .close: break
    default:
      // The pages of an msync come before it.
      if operation.isSync { pendingLate = [] }
      isIdle = false
    }
  }

  static func directory(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
  }

  /// A name in the directory of a path.
  static func directory(of path: String, with name: String) -> String {
    let directory = directory(of: path)
    return directory.isEmpty ? name : "\(directory)/\(name)"
  }

  // MARK: Contents

  /// The writer of a file, from the content that it has before it is touched first.
  private mutating func writer(of inode: InodeNumber) -> Writer? {
    if let writer = writers[inode] { return writer }
    guard let image = live.inodes[inode], image.type == .regular || image.type == .symbolicLink
    else { return nil }
    var stream = FileStream()
    stream.isInitial = true
    stream.bytes = image.visibleBytes ?? []
    stream.firstCompleteBytes = stream.bytes.count
    history.streams.append(stream)
    let isTooLarge = image.visibleBytes == nil
    initialStreams[inode] = history.streams.count - 1
    writers[inode] = Writer(
      stream: history.streams.count - 1, isComplete: true, isManaged: isTooLarge)
    return writers[inode]
  }

  private mutating func newStream() -> Int {
    history.streams.append(FileStream())
    return history.streams.count - 1
  }

  private mutating func capture(_ inode: InodeNumber, _ stream: Int) {
    guard let bytes = live.inodes[inode]?.visibleBytes else { return }
    if bytes.count >= history.streams[stream].bytes.count { history.streams[stream].bytes = bytes }
  }

  private func content(of inode: InodeNumber) -> FileEntry.Content {
    guard let writer = writers[inode], let image = live.inodes[inode] else { return .other }
    if writer.isManaged { return .managed }
    let count = image.type == .symbolicLink ? image.target.count : Int(image.sizeBytes)
    return .stream(writer.stream, count: count, isComplete: writer.isComplete)
  }

  /// The record of a path, begun with what was there before the run.
  private mutating func record(_ path: String) {
    guard history.files[path] == nil else { return }
    var record = FileRecord(path: path)
    var first = FileEntry.Content.absent
    if let inode = trace.initial.inode(at: path) {
      let image = trace.initial.inodes[inode]
      if image?.type != .regular && image?.type != .symbolicLink {
        first = .other
      } else if writer(of: inode)?.isManaged == true, initialStreams[inode] == nil {
        first = .managed
      } else if let stream = initialStreams[inode] {
        let count = history.streams[stream].firstCompleteBytes ?? 0
        first = .stream(stream, count: count, isComplete: true)
      }
    }
    record.entries = [FileEntry(since: 0, content: first, arrival: .initial)]
    history.files[path] = record
    pointers[path] = FilePointer(path, in: trace.initial)
  }

  private mutating func note(
    _ path: String, _ content: FileEntry.Content, _ arrival: FileEntry.Arrival, at point: Int
  ) {
    record(path)
    history.files[path]?.entries.append(
      FileEntry(since: point, content: content, arrival: arrival))
    if content == .managed { history.files[path]?.isManaged = true }
    touched.append(path)
    if arrival == .renamed { history.files[path]?.isRenameTarget = true }
    if arrival == .renamed || arrival == .created {
      given[Self.directory(of: path), default: []].append((path, arrival == .renamed))
    }
  }

  /// Ends what paths pointed to, and notes what they point to from now on.
  private mutating func notePointers() {
    for path in touched {
      let next = FilePointer(path, in: live)
      if let pointer = pointers[path] {
        if pointer.content == next?.content { continue }
        endPointer(pointer)
        pointers[path] = nil
      }
      if let next, pointers.count < Self.pointersMax { pointers[path] = next }
    }
    touched = []
  }

  private mutating func endPointer(_ pointer: FilePointer?) {
    guard var pointer, history.pointers.count < Self.pointersMax else { return }
    pointer.keep(live)
    let known = history.pointers.firstIndex {
      $0.path == pointer.path && $0.content == pointer.content
    }
    if let known { return history.pointers[known].keep(pointer) }
    history.pointers.append(pointer)
  }

  /// More are not looked at.
  private static let pointersMax = 1_000

  /// Notes what a file is now at all its paths.
  private mutating func noteAll(
    _ inode: InodeNumber, _ arrival: FileEntry.Arrival, at point: Int
  ) {
    let content = content(of: inode)
    guard content != .other else { return }
    for path in names.paths(of: inode, at: point) { note(path, content, arrival, at: point) }
  }

  /// A writer has ended: what is there now is a whole content.
  private mutating func complete(_ inode: InodeNumber, at point: Int) {
    guard var writer = writer(of: inode), !writer.isManaged, !writer.isComplete else { return }
    let stream = history.streams[writer.stream]
    // Who empties a file and closes it is about to write it.
    if stream.isTruncation, !stream.isSyncedEmpty, live.inodes[inode]?.sizeBytes == 0,
      point < trace.events.count
    {
      return
    }
    writer.isComplete = true
    writers[inode] = writer
    if history.streams[writer.stream].firstCompleteBytes == nil {
      history.streams[writer.stream].firstCompleteBytes = Int(live.inodes[inode]?.sizeBytes ?? 0)
    }
    noteAll(inode, .written, at: point)
  }

  private mutating func becomeManaged(_ inode: InodeNumber) {
    guard let writer = writer(of: inode), !writer.isManaged else { return }
    capture(inode, writer.stream)
    writers[inode]?.isManaged = true
  }

  // MARK: Operations

  /// What has to be looked at before an operation is done.
  private mutating func before(_ operation: Operation, at index: Int) {
    switch operation {
    case .write(let inode, let offset, let payload):
      if offset == 0, isRewrite(inode, from: index) { beginRewrite(inode, at: index) }
      beginWrite(inode, isAtEnd: offset == live.inodes[inode]?.sizeBytes, payload.countBytes)
    case .truncate(let inode, let old, let new): beginTruncate(inode, old, new)
    case .allocate(let inode, _, _, let zeroes, let old, let new):
      if zeroes || old != new { beginWrite(inode, isAtEnd: false, 1) }
    case .remove(let inode, let parent, let name, isDirectory: false):
      _ = writer(of: inode)
      if let writer = writers[inode], !writer.isManaged { capture(inode, writer.stream) }
      for path in paths(parent, name, at: index) { note(path, .absent, .removed, at: index + 1) }
    case .rename(let inode, let from, let name, let to, let newName, let replaced),
      .renameWithWhiteout(
        let inode, let from, let name, let to, let newName, let replaced, _, _):
      if let replaced, let writer = writer(of: replaced), !writer.isManaged {
        capture(replaced, writer.stream)
      }
      move(inode, paths(from, name, at: index), paths(to, newName, at: index), at: index + 1)
    case .exchange(let inode, let parent, let name, let other, let otherParent, let otherName):
      let (here, there) = (
        paths(parent, name, at: index), paths(otherParent, otherName, at: index)
      )
      let targets = (here + there).filter { history.files[$0]?.isRenameTarget == true }
      move(inode, [], there, at: index + 1)
      move(other, [], here, at: index + 1)
      // One of them has the old content now, often to be removed at once: neither counts for that.
      for path in here + there where !targets.contains(path) {
        history.files[path]?.isRenameTarget = false
      }
    case .link(let inode, let parent, let name):
      complete(inode, at: index)
      for path in paths(parent, name, at: index) {
        if writer(of: inode) != nil { note(path, content(of: inode), .renamed, at: index + 1) }
      }
    default: break
    }
  }

  /// The path of a name in a directory.
  private func paths(_ parent: InodeNumber, _ name: FileName, at point: Int) -> [String] {
    names.paths(of: parent, at: point).prefix(1).map { $0.isEmpty ? "\(name)" : "\($0)/\(name)" }
  }

  /// A file, or all that a directory holds, has other paths from now on.
  private mutating func move(
    _ inode: InodeNumber, _ old: [String], _ new: [String], at point: Int
  ) {
    var open: [(inode: InodeNumber, suffix: String)] = [(inode, "")]
    while let (number, suffix) = open.popLast() {
      for (name, child) in (live.inodes[number]?.entries ?? [:]).sorted(by: { $0.key < $1.key }) {
        open.append((child, "\(suffix)/\(name)"))
      }
      guard writer(of: number) != nil else { continue }
      complete(number, at: point - 1)
      for path in old { record(path + suffix) }
      for path in new { note(path + suffix, content(of: number), .renamed, at: point) }
      for path in old { note(path + suffix, .absent, .moved, at: point) }
    }
  }

  private mutating func beginWrite(_ inode: InodeNumber, isAtEnd: Bool, _ count: Int) {
    guard count > 0, var writer = writer(of: inode), !writer.isManaged else { return }
    let isFresh = history.streams[writer.stream].firstCompleteBytes == nil
    if !isAtEnd {
      guard isFresh else { return becomeManaged(inode) }
      history.streams[writer.stream].isSequential = false
    }
    writer.isComplete = false
    writers[inode] = writer
  }

  private mutating func beginTruncate(_ inode: InodeNumber, _ old: UInt64, _ new: UInt64) {
    guard old != new, let writer = writer(of: inode), !writer.isManaged else { return }
    guard new == 0 else { return beginWrite(inode, isAtEnd: false, 1) }
    capture(inode, writer.stream)
    writers[inode] = Writer(stream: newStream(), isComplete: false)
    history.streams[history.streams.count - 1].isTruncation = true
  }

  // MARK: Rewriting

  /// Whether the write of an event is the first of those that write a whole file anew without
  /// emptying it first: from its beginning on, one behind the other, until it is cut where they
  /// end; or one that reaches behind its old end, or just to it where that was done before.
  ///
  /// Files of whole sectors do not count: they have pages, which belong together in other ways. Nor
  /// do those of one sector, which is never torn.
  private mutating func isRewrite(_ inode: InodeNumber, from first: Int) -> Bool {
    guard let writer = writer(of: inode), !writer.isManaged,
      history.streams[writer.stream].firstCompleteBytes != nil,
      let size = live.inodes[inode]?.sizeBytes, size > 0
    else { return false }
    func isTorn(_ end: UInt64) -> Bool { end > Self.sectorBytes && end % Self.sectorBytes != 0 }
    var end: UInt64 = 0
    for event in trace.events[first...].prefix(Self.rewriteEventsMax) {
      guard case .operation(let operation) = event.body else { continue }
      switch operation {
      case .write(inode, let offset, let payload):
        guard offset == end, !event.flags.contains(.writeBack) else { return false }
        end += UInt64(payload.countBytes)
        let isWhole = end > size || end == size && history.streams[writer.stream].isRewritten
        if offset == 0, isWhole { return isTorn(end) }
      case .truncate(inode, _, let new): return new == end && isTorn(end)
      case .close(inode), .sync(inode, _), .allocate(inode, _, _, _, _, _): return false
      default: break
      }
    }
    return false
  }

  /// A new content is about to be written over the old one: as if that had been emptied.
  private mutating func beginRewrite(_ inode: InodeNumber, at index: Int) {
    beginTruncate(inode, live.inodes[inode]?.sizeBytes ?? 0, 0)
    history.streams[history.streams.count - 1].isRewritten = true
    noteAll(inode, .truncated, at: index + 1)
  }

  /// So many events are looked at for the end of a rewriting.
  private static let rewriteEventsMax = 1_000
  private static let sectorBytes: UInt64 = 512

  /// What has to be noted once an operation is done.
  private mutating func after(_ operation: Operation, at point: Int) {
    switch operation {
    case .create(let inode, _, _, let type, _, let target, _):
      guard type == .regular || type == .symbolicLink else { return }
      let stream = newStream()
      writers[inode] = Writer(stream: stream, isComplete: type == .symbolicLink)
      if type == .symbolicLink {
        history.streams[stream].bytes = target
        history.streams[stream].firstCompleteBytes = target.count
      }
      noteAll(inode, .created, at: point)
    case .createNameless(let inode, _):
      writers[inode] = Writer(stream: newStream(), isComplete: false)
    case .write(let inode, _, _), .allocate(let inode, _, _, _, _, _):
      noteAll(inode, .written, at: point)
    case .truncate(let inode, _, let new):
      noteAll(inode, new == 0 ? .truncated : .written, at: point)
    case .close(let inode): complete(inode, at: point)
    case .sync(let inode, _): sync(inode, at: point)
    case .syncDirectory(let inode):
      noteSync()
      noteSync(ofDirectory: inode, at: point)
    case .syncAll:
      noteSync()
      for inode in writers.keys { secure(inode, at: point) }
    default: break
    }
  }

  private mutating func noteSync() {
    history.syncsAnywhere = true
    hasSyncedSinceMark = true
  }

  private mutating func noteSync(ofDirectory inode: InodeNumber, at point: Int) {
    for path in names.paths(of: inode, at: point) {
      syncedDirectories.insert(path)
      guard let all = given.removeValue(forKey: path), let last = all.last else { continue }
      // What replaces a file is synced so; what was renamed before may matter to nobody.
      for name in last.isRename ? [last] : all { history.files[name.path]?.isSyncedItself = true }
    }
  }

  private mutating func sync(_ inode: InodeNumber, at point: Int) {
    noteSync()
    if live.inodes[inode]?.type == .directory {
      noteSync(ofDirectory: inode, at: point)
      return
    }
    if let writer = writer(of: inode), live.inodes[inode]?.sizeBytes == 0 {
      history.streams[writer.stream].isSyncedEmpty = true
    }
    complete(inode, at: point)
    secure(inode, at: point)
  }

  private mutating func secure(_ inode: InodeNumber, at point: Int) {
    guard let writer = writer(of: inode) else { return }
    let count = Int(clamping: live.inodes[inode]?.sizeBytes ?? 0)
    history.streams[writer.stream].syncedBytes = max(
      history.streams[writer.stream].syncedBytes, count)
    for path in names.paths(of: inode, at: point) {
      history.files[path]?.isSynced = true
      history.files[path]?.isSyncedItself = true
    }
  }
}
