// EntropySource.swift: where salts come from. Salts decide nothing that a reader of the database
// can see; they keep one key from being used twice with one nonce. A lab passes a source of its
// own, so that a run can be repeated.

/// Gives bytes that nobody can foresee.
package struct EntropySource: Sendable {
  private let draw: @Sendable (Int) throws(EngineError) -> [UInt8]

  /// Uses a function.
  /// - Parameter draw: Returns as many bytes as it is asked for. Two sessions that write to one
  ///   file must never be given the same bytes: they would seal two nodes under one nonce.
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
