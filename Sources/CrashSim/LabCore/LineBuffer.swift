// LineBuffer.swift: cuts a stream of bytes into lines.
// Invariant: a line is complete when its line feed has arrived; nothing before that is given out.

/// Cuts a stream of bytes into lines.
package struct LineBuffer: Sendable {
  /// Longest line that is taken, without its line feed.
  package static let lineBytesMax = 512 << 20

  private var bytes: [UInt8] = []
  private var scanned = 0

  /// An empty buffer.
  package init() {}

  /// Bytes that wait for their line feed.
  package var countBytes: Int { bytes.count }

  /// Adds bytes as they arrive.
  package mutating func append(_ chunk: some Sequence<UInt8>) {
    bytes.append(contentsOf: chunk)
  }

  /// Takes the next whole line, without its line feed; nil when none is whole yet.
  package mutating func next() -> [UInt8]? {
    guard let end = bytes[scanned...].firstIndex(of: UInt8(ascii: "\n")) else {
      scanned = bytes.count
      return nil
    }
    let line = Array(bytes[..<end])
    bytes.removeFirst(end + 1)
    scanned = 0
    return line
  }
}
