// EntropySource.swift: the source of salts. Salts do not affect anything that a reader of the
// database can see; they prevent using one key twice with one nonce. A lab passes its own source,
// so that a run can be repeated.

/// A source of unpredictable bytes.
package struct EntropySource: Sendable {
  private let draw: @Sendable (Int) throws(EngineError) -> [UInt8]

  /// Uses a function.
  /// - Parameter draw: Returns the requested number of bytes. Two sessions that write to one file
  ///   must never get the same bytes: they would seal two nodes under one nonce.
  package init(_ draw: @escaping @Sendable (Int) throws(EngineError) -> [UInt8]) {
    self.draw = draw
  }

  /// The kernel's source.
  package static let system = EntropySource { count throws(EngineError) in
    switch Syscalls.randomBytes(count) {
    case .success(let bytes): return bytes
    case .failure(let failure):
      throw .syscall("getentropy", "the kernel's source", errno: failure.number)
    }
  }

  /// That many bytes.
  package func bytes(_ count: Int) throws(EngineError) -> [UInt8] {
    let bytes = try draw(count)
    precondition(bytes.count == count, "a source gives as many bytes as it is asked for")
    return bytes
  }
}
