// Misuse.swift [U]: what happens on misuse: a message, printed in release builds too, and a trap.
// Wrong bytes and failing calls are errors where a call can throw; a getter cannot, so a failed
// read stops the process with the engine's error, and never returns a wrong value.

import Engine
import Glibc

enum Misuse {
  /// Stops the process with a message.
  static func stop(_ message: String) -> Never {
    MisuseProbe.stopThread(message)
    let line = Array("ObjectDatabase: \(message)\n".utf8)
    // Safety: the array outlives the call, which reads no more than its count.
    _ = unsafe line.withUnsafeBytes { bytes in unsafe Glibc.write(2, bytes.baseAddress, bytes.count)
    }
    preconditionFailure(message)
  }

  /// Runs the read of a getter; an error of the engine stops the process.
  @inline(__always)
  static func unthrowing<Result>(
    _ body: () throws(EngineError) -> Result
  ) -> Result {
    do throws(EngineError) { return try body() } catch {
      stop("a value cannot be read, and a getter cannot throw: \(error)")
    }
  }
}
