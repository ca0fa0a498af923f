// WorkerProtocol.swift: the messages between a worker process and its parent: one JSON object per
// line in each direction, a command, then its answer.
// Invariants: each command gets exactly one answer, in order, preceded by `stopped` if the process
// is stopped in between; a line that is not a command gets an error answer; a line has at most
// `LineBuffer.lineBytesMax` bytes, and the worker ends when a longer one arrives.

import Findings
import FoundationEssentials
import LabCore

/// A worker's answer to a command.
package enum WorkerAnswer: Sendable, Hashable {
  /// Done. A commit and an open return the newest version; `verify` also the hash of its content.
  case done(version: UInt64? = nil, contentHash: UInt64? = nil)
  /// The engine failed with this code; code `protocol`: the worker did not understand the command.
  case failed(code: String, message: String)
  /// The engine performed the command, and broke a promise.
  case broken(Violation)

  /// The process is stopped before a step of a commit; the real answer follows when it continues.
  case stopped

  /// The code for a command that the worker did not understand.
  package static let protocolCode = "protocol"
  /// The code for a compaction that did nothing, because other processes use the database.
  package static let refusedCode = "refused"
}

extension WorkerAnswer: Codable {
  private enum Key: String, CodingKey {
    case ok
    case version
    case contentHash
    case error
    case message
    case violation
    case stopped
  }

  /// Reads `{"ok":true,…}`, `{"error":…}`, `{"violation":…}` or `{"stopped":true}`.
  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: Key.self)
    if try fields.decodeIfPresent(Bool.self, forKey: .stopped) == true {
      self = .stopped
      return
    }
    if let violation = try fields.decodeIfPresent(Violation.self, forKey: .violation) {
      self = .broken(violation)
    } else if let code = try fields.decodeIfPresent(String.self, forKey: .error) {
      self = .failed(code: code, message: try fields.decode(String.self, forKey: .message))
    } else {
      guard try fields.decode(Bool.self, forKey: .ok) else {
        throw DecodingError.dataCorruptedError(
          forKey: .ok, in: fields, debugDescription: "neither done nor failed")
      }
      self = .done(
        version: try fields.decodeIfPresent(UInt64.self, forKey: .version),
        contentHash: try fields.decodeIfPresent(UInt64.self, forKey: .contentHash))
    }
  }

  /// Writes the forms that `init(from:)` reads.
  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: Key.self)
    switch self {
    case .done(let version, let contentHash):
      try fields.encode(true, forKey: .ok)
      try fields.encodeIfPresent(version, forKey: .version)
      try fields.encodeIfPresent(contentHash, forKey: .contentHash)
    case .failed(let code, let message):
      try fields.encode(code, forKey: .error)
      try fields.encode(message, forKey: .message)
    case .broken(let violation):
      try fields.encode(violation, forKey: .violation)
    case .stopped:
      try fields.encode(true, forKey: .stopped)
    }
  }
}

/// Lines of the protocol as bytes.
package enum WorkerWire {
  /// The command in a line.
  /// - Throws: `LabError` with code `.lab` when it contains none.
  package static func command(_ line: some Sequence<UInt8>) throws(LabError) -> WorkerCommand {
    try JSONLine.decode(line)
  }

  /// The answer in a line.
  /// - Throws: `LabError` with code `.lab` when it contains none.
  package static func answer(_ line: some Sequence<UInt8>) throws(LabError) -> WorkerAnswer {
    try JSONLine.decode(line)
  }
}
