// OutputLines.swift: puts the lines of several processes together from what each has written.
// Invariants: a line holds bytes of one writer only; nothing of a line is given out before its line
// feed has arrived or its writer has ended, but for lines longer than `lineBytesMax`.

/// The lines that processes have begun on one standard output.
struct OutputLines {
  /// A longer line counts in pieces, so that a writer of endless lines needs no more memory.
  static let lineBytesMax = 1 << 20
  private static let lineFeed = UInt8(ascii: "\n")

  /// Begun lines, in the order in which they were begun.
  private var begun: [(writer: Int32, bytes: [UInt8])] = []

  /// Processes that have begun a line, in the order of their lines.
  var writers: [Int32] { begun.map(\.writer) }

  /// Takes what a process has written.
  /// - Returns: The lines that are whole now, line feeds included.
  /// - Complexity: O(bytes + begun lines).
  mutating func add(_ bytes: some Sequence<UInt8>, by writer: Int32) -> [[UInt8]] {
    var lines: [[UInt8]] = []
    var line = take(writer) ?? []
    for byte in bytes {
      line.append(byte)
      if byte == Self.lineFeed || line.count >= Self.lineBytesMax {
        lines.append(line)
        line = []
      }
    }
    if !line.isEmpty { begun.append((writer, line)) }
    return lines
  }

  /// Ends the line of a process that writes no more.
  /// - Returns: The line with the line feed that it lacked; nil when none was begun.
  mutating func end(_ writer: Int32) -> [UInt8]? { take(writer).map { $0 + [Self.lineFeed] } }

  /// Forgets what was begun.
  mutating func removeAll() { begun = [] }

  private mutating func take(_ writer: Int32) -> [UInt8]? {
    guard let place = begun.firstIndex(where: { $0.writer == writer }) else { return nil }
    return begun.remove(at: place).bytes
  }
}
