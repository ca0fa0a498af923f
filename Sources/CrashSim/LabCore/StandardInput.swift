// StandardInput.swift: reads lines typed by the user, or from a file or pipe.
// Invariants: Ctrl-C ends waiting within 100 ms; a line that is too long is an error, so memory use
// does not depend on the input.

import Glibc

/// Reads lines from a descriptor.
package struct StandardInput {
  /// Longest line that is read.
  static let lineBytesMax = 4096

  private let descriptor: Int32
  private var buffer = LineBuffer()
  private var hasEnded = false

  /// Reads standard input.
  package init() { self.init(descriptor: STDIN_FILENO) }

  init(descriptor: Int32) { self.descriptor = descriptor }

  /// Whether the input is a terminal.
  package var isTerminal: Bool { isatty(descriptor) == 1 }

  /// The next line without its line feed; nil at the end, and when Faultline was asked to stop.
  /// - Throws: `LabError` with code `.usage` for a line that is too long.
  package mutating func next() throws(LabError) -> String? {
    while true {
      if let line = buffer.next() { return String(decoding: line, as: UTF8.self) }
      if hasEnded { return nil }
      guard buffer.countBytes <= Self.lineBytesMax else {
        throw .usage("a line of more than \(Self.lineBytesMax) bytes; commands are short words")
      }
      if Interruption.isRequested { return nil }
      if Descriptors.wait([descriptor], timeoutMilliseconds: 100).isEmpty { continue }
      do throws(ErrorNumber) {
        guard let bytes = try Descriptors.read(descriptor, limitBytes: 4096) else { continue }
        hasEnded = bytes.isEmpty
        // A last line may lack its line feed.
        buffer.append(bytes.isEmpty ? [UInt8(ascii: "\n")] : bytes)
        if hasEnded, buffer.countBytes == 1 { return nil }
      } catch {
        hasEnded = true
      }
    }
  }
}
