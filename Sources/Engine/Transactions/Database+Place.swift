// Database+Place.swift: whether the path of an open database still leads to its file.

extension Database {
  /// Checks whether the path leads to the open file.
  ///
  /// A file that was removed, renamed or replaced stays usable for handles that have it open, but
  /// later opens do not reach it.
  /// - Returns: False when it leads to nothing or to another file; true for a database without one.
  /// - Throws: `EngineError` with code `.forked` in a child.
  /// - Complexity: Two system calls.
  package func isInPlace() throws(EngineError) -> Bool { try elsewhere() == nil }

  /// Demands that the path leads to the file that is open.
  /// - Throws: `EngineError` with code `.io`, and ENOENT when the path does not exist; `.forked` in
  ///   a child.
  /// - Complexity: Two system calls.
  package func checkPlace() throws(EngineError) {
    guard let place = try elsewhere() else { return }
    throw EngineError(
      code: .io,
      message: "\(place.path) leads to \(place.isEmpty ? "nothing" : "another file"): the file was "
        + "removed, renamed or replaced while it was open, and what is committed to it is not what "
        + "others open; close it everywhere and open again", errno: place.isEmpty ? 2 : nil)
  }

  /// The path when it no longer leads to the open file, and whether it is missing.
  private func elsewhere() throws(EngineError) -> (path: String, isEmpty: Bool)? {
    try checkForked()
    guard let file else { return nil }
    // Under the lock: a compaction renames the new file and switches to it within one hold.
    let (own, there) = state.withLock { state -> (FileIdentity?, FileIdentity??) in
      state.isClosed ? (nil, nil) : (try? file.identity(), try? FileIdentity.at(file.path))
    }
    guard let own, let there, own != there else { return nil }
    return (file.path, there == nil)
  }
}

extension ChangeWatcher {
  /// Checks whether the path of the database leads to the open file.
  /// - Throws: As `Database.checkPlace`.
  package func checkPlace() throws(EngineError) { try database.checkPlace() }
}
