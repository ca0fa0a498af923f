// FleeceError.swift: how reading and writing fail. Wrong bytes are an error and never a trap; a
// wrong order of calls to the encoder is a trap.

/// An error of reading or writing Fleece or JSON.
public struct FleeceError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What kind of error it is.
  public enum Code: String, Sendable, CaseIterable {
    /// The bytes are not valid Fleece; see `offsetBytes`.
    case damaged
    /// The nesting, the size or the work is beyond a bound.
    case limit
    /// A key is a number that the table of shared keys does not have: it may be older than the
    /// bytes, so load it again.
    case unknownSharedKey
    /// A value cannot be written: NaN, or a number that the format cannot represent.
    case value
    /// The text is not JSON; see `position`.
    case json
    /// The text is not a path; see `position`.
    case path
    /// The bytes are not a table of shared keys.
    case sharedKeys
  }

  /// A place in a text.
  public struct Position: Hashable, Sendable {
    /// Bytes of UTF-8 before it.
    public let offsetBytes: Int
    /// The line, from 1.
    public let line: Int
    /// The column in Unicode scalars, from 1.
    public let column: Int
  }

  /// The kind of error.
  public let code: Code
  /// The problem, with numbers.
  public let message: String
  /// Where in the bytes, for errors of Fleece.
  public let offsetBytes: Int?
  /// Where in the text, for errors of JSON and of paths.
  public let position: Position?

  init(_ code: Code, _ message: String, at offsetBytes: Int? = nil) {
    self.code = code
    self.message = message
    self.offsetBytes = offsetBytes
    position = nil
  }

  init(_ code: Code, _ message: String, in text: FleeceBytes, at offset: Int) {
    self.code = code
    self.message = message
    offsetBytes = nil
    position = Position(in: text, at: offset)
  }

  /// Place, code and message.
  public var description: String {
    let place =
      position.map { "\($0.line):\($0.column): " } ?? offsetBytes.map { "byte \($0): " } ?? ""
    return "\(place)\(code.rawValue): \(message)"
  }
}

extension FleeceError.Position {
  /// The place of a byte: lines end with a line feed.
  /// - Complexity: O(bytes before it).
  init(in text: FleeceBytes, at offset: Int) {
    offsetBytes = offset
    var (line, column) = (1, 1)
    for index in 0..<min(offset, text.count) {
      let byte = text.uint8(index)
      if byte == 10 {
        (line, column) = (line + 1, 1)
      } else if byte & 0xc0 != 0x80 {
        column += 1
      }
    }
    self.line = line
    self.column = column
  }
}
