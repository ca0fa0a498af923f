// LineBuffer.swift: cuts a stream of bytes into lines.
// Invariant: a line is complete when its line feed has arrived; it is not returned before.

/// Cuts a stream of bytes into lines.
package struct LineBuffer: Sendable {
  /// Longest accepted line, without its line feed.
  package static let lineBytesMax = 512 << 20

  private var bytes: [UInt8] = []
  private var scanned = 0

  /// An empty buffer.
  package init() {}

  /// Number of bytes without a line feed yet.
  package var countBytes: Int { bytes.count }

  /// Appends bytes as they arrive.
  package mutating func append(_ chunk: some Sequence<UInt8>) {
    bytes.append(contentsOf: chunk)
  }

  /// Takes the next complete line, without its line feed; nil when there is none yet.
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
