// JSONLine.swift: a value as one line of JSON, as exchanged by Faultline's processes.

import FoundationEssentials

/// Values as lines.
package enum JSONLine {
  /// A value as a line with its line feed; the same value always gives the same bytes.
  /// - Throws: `LabError` with code `.lab` when it cannot be encoded as JSON.
  package static func encode(_ value: some Encodable) throws(LabError) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      return Array(try encoder.encode(value)) + [UInt8(ascii: "\n")]
    } catch {
      throw .lab("a message to another process cannot be encoded: \(error)")
    }
  }

  /// The value in a line.
  /// - Throws: `LabError` with code `.lab` when it contains none.
  package static func decode<Message: Decodable>(
    _ line: some Sequence<UInt8>
  ) throws(LabError) -> Message {
    do {
      return try JSONDecoder().decode(Message.self, from: Data(line))
    } catch {
      throw .internalError(
        "a message of another process is not a \(Message.self): \(error)")
    }
  }
}
