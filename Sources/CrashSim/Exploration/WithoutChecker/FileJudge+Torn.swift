// FileJudge+Torn.swift: files that hold none of their contents, and sources that were removed
// before the copy was durable.

import Recording

extension FileJudge {
  func judgeTorn(
    _ record: FileRecord, _ bytes: [UInt8], from start: Int?
  ) -> Complaint? {
    let fresh = record.entries.indices.filter { index in
      guard let number = record.entries[index].stream else { return false }
      return record.entries[..<index].allSatisfy { $0.stream != number }
    }
    // What was there before the run is durable: what is torn came later.
    let possible = fresh.filter { index in
      (index >= (start ?? 0) || record.entries[start ?? 0].stream == record.entries[index].stream)
        && (index > 0 || fresh.count == 1)
    }
    let isAnything = !possible.contains { index in
      record.entries[index].stream.map { isDamaged(bytes, $0) } ?? false
    }
    for index in possible where index > (start ?? 0) {
      guard let number = record.entries[index].stream,
        isAnything || isDamaged(bytes, number) || isBetween(bytes, record, index)
      else { continue }
      if let excused = excused(record, at: index, from: start) { return excused }
    }
    guard
      let first = possible.first(where: { index in
        record.entries[index].stream.map { isDamaged(bytes, $0) } ?? false
      }) ?? possible.first,
      let number = record.entries[first].stream
    else { return nil }
    let stream = history.streams[number]
    let what = "'\(record.path)' is half-written: \(Damage(bytes, of: stream.bytes).text)"
    if let promise, let start, first <= start, !record.entries[start].isEmpty {
      return broken(
        record, .halfWritten, "\(what), although \(promise.quoted) was printed after that")
    }
    let isPublished = record.entries[first].arrival == .renamed
    if hasOld(record, before: first) {
      if isRescued(record) {
        return Complaint(
          level: .warning, rule: .halfWritten, path: record.path,
          text: "\(what); a whole content has another name")
      }
      if isJournaled(record) {
        return Complaint(
          level: .note, rule: .halfWritten, path: record.path,
          text: "'\(record.path)' is half-written; another file holds a whole content")
      }
      let isRecreated = record.entries[..<first].last?.isAbsent ?? false
      let isLax = isRecreated && !history.syncsAnywhere
      return Complaint(
        level: isLax || isSpared(record) ? .warning : .error, rule: .halfWritten, path: record.path,
        text: "\(what), and the old content is gone")
    }
    if isPublished {
      return Complaint(
        level: history.syncsAnywhere && !isSpared(record) ? .error : .warning, rule: .halfWritten,
        path: record.path,
        text: "\(what), and has the name already that it got when it was whole")
    }
    guard !isSynced(record) else { return nil }
    return Complaint(
      level: .note, rule: .halfWritten, path: record.path,
      text: "'\(record.path)' may be half-written: it is new, and the program never syncs it")
  }

  /// A file that was emptied after what was promised, on its way to the next content: what is said
  /// of it when that, or what makes up for it, is elsewhere in the state.
  func excused(_ record: FileRecord, at index: Int, from start: Int?) -> Complaint? {
    guard record.entries[index].arrival == .truncated else { return nil }
    func complaint(_ level: ComplaintLevel, _ where: String) -> Complaint {
      Complaint(
        level: level, rule: .halfWritten, path: record.path,
        text: "'\(record.path)' is half-written; \(`where`)")
    }
    if let other = successor(of: record, at: index) {
      return complaint(.note, "'\(other)' is there, which makes up for it")
    }
    guard promise != nil, let start, !record.entries[start].isAbsent else { return nil }
    if isRescued(record, from: start) {
      return complaint(.warning, "a whole content has another name")
    }
    return isJournaled(record, from: start)
      ? complaint(.note, "another file holds a whole content") : nil
  }

  /// Whether bytes may be what is left of a stream: each is its own, or zero.
  private func isDamaged(_ bytes: [UInt8], _ number: Int) -> Bool {
    let whole = history.streams[number].bytes
    guard bytes.count <= whole.count else { return false }
    return zip(bytes, whole).allSatisfy { $0 == $1 || $0 == 0 }
  }

  /// Whether bytes are on the way from a content that was durable to the one that was begun by
  /// emptying it, when the emptying itself may be lost: the old bytes, but where the new ones came
  /// or were to come.
  private func isBetween(_ bytes: [UInt8], _ record: FileRecord, _ index: Int) -> Bool {
    guard index > 0, record.entries[index].arrival == .truncated,
      case .stream(let number, let count, _) = record.entries[index - 1].content,
      let next = record.entries[index].stream,
      history.streams[number].isInitial || history.streams[number].syncedBytes >= count
    else { return false }
    let old = history.streams[number].bytes.prefix(count)
    let new = history.streams[next].bytes
    guard bytes.count <= max(old.count, new.count) else { return false }
    return bytes.indices.allSatisfy { place in
      (place < old.count && bytes[place] == old[place])
        || (place < new.count && (bytes[place] == new[place] || bytes[place] == 0))
    }
  }

  /// Whether there was something to lose before an entry.
  private func hasOld(_ record: FileRecord, before index: Int) -> Bool {
    record.entries[..<index].contains { entry in
      guard case .stream(let number, let count, true) = entry.content, count > 0 else {
        return entry.content == .managed
      }
      let stream = history.streams[number]
      let isPromised = promise.map { entry.since <= $0.crashPoint } ?? false
      return stream.isInitial || stream.syncedBytes >= 0 || isPromised
    }
  }

  /// Whether a whole content that the path had, or gets, is there under another name.
  func isRescued(_ record: FileRecord, from start: Int = 0) -> Bool {
    var wholes: Set<[UInt8]> = []
    for case .stream(let number, let count, true) in record.entries[start...].map(\.content)
    where count > 0 {
      wholes.insert(Array(history.streams[number].bytes.prefix(count)))
    }
    let sizes = Set(wholes.map { UInt64($0.count) })
    return tree.regularFiles().contains { path, image in
      guard path != record.path, sizes.contains(image.sizeBytes) else { return false }
      return image.visibleBytes.map { wholes.contains($0) } ?? false
    }
  }

  /// Whether a whole content is a part of another file: a journal, perhaps as a text of JSON.
  private func isJournaled(_ record: FileRecord, from start: Int = 0) -> Bool {
    var wholes: [[UInt8]] = []
    for case .stream(let number, let count, true) in record.entries[start...].map(\.content)
    where (Self.journaledBytesMin...Self.journaledBytesMax).contains(count) {
      let whole = Array(history.streams[number].bytes.prefix(count))
      if !wholes.contains(whole) { wholes += [whole, whole.escapedAsJSON] }
    }
    if wholes.isEmpty { return false }
    return tree.regularFiles().contains { path, image in
      guard path != record.path, image.sizeBytes <= Self.journaledBytesMax else { return false }
      return image.visibleBytes.map { bytes in wholes.contains { bytes.contains(bytes: $0) } }
        ?? false
    }
  }

  /// Shorter ones are anywhere by chance.
  private static let journaledBytesMin = 4
  private static let journaledBytesMax = 1 << 20

  // MARK: Sources

  /// A file that the program removed, once another had its content.
  func judgeSource(_ record: FileRecord) -> Complaint? {
    guard let removal = record.entries.lastIndex(where: { !$0.isAbsent }),
      removal + 1 < record.entries.count, !isRescued(record)
    else { return nil }
    let point = record.entries[removal + 1].since
    for copy in history.counted(options) where copy.path != record.path && !copy.isManaged {
      let index = copy.index(at: point)
      guard case .stream(let number, let count, _) = copy.entries[index].content,
        count > 0, count == history.streams[number].bytes.count,
        !history.streams[number].isInitial || copy.entries[index].arrival == .renamed,
        isCopy(copy, history.streams[number].bytes.prefix(count), of: record)
      else { continue }
      let inode = tree.inode(at: copy.path)
      if let bytes = inode.flatMap({ tree.inodes[$0]?.visibleBytes }),
        accepts(bytes, copy, from: index)
      {
        continue
      }
      let isMoved = record.entries[removal + 1].arrival == .moved && inode == nil
      return Complaint(
        level: isMoved ? .warning : .error, rule: .neither, path: record.path,
        text: "'\(record.path)' is gone, and '\(copy.path)', which replaced it, is "
          + (inode == nil ? "not there" : "half-written"))
    }
    return nil
  }

  /// Whether a file has another's content, alone or as a part, or its name with something at the
  /// end.
  private func isCopy(
    _ copy: FileRecord, _ content: ArraySlice<UInt8>, of source: FileRecord
  ) -> Bool {
    if copy.path.hasPrefix(source.path + ".") || source.path.hasPrefix(copy.path + ".") {
      return true
    }
    // Done with `todo/7`, a program has `done/7`.
    let names = [source.path, copy.path].map { $0.split(separator: "/").last ?? "" }
    if names[0] == names[1], !copy.existedBefore { return true }
    guard
      case .stream(let number, let count, _)? = source.entries.last(where: { !$0.isAbsent })?
        .content
    else { return false }
    let removed = history.streams[number].bytes.prefix(count)
    if content.elementsEqual(removed) { return true }
    // Parts that were joined, and then removed.
    return !copy.existedBefore && count >= Self.joinedBytesMin
      && content.count <= Self.journaledBytesMax && Array(content).contains(bytes: Array(removed))
  }

  /// Shorter ones may be in a larger file by chance.
  private static let joinedBytesMin = 64
}
