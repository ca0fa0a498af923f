// WorkerProtocol.swift: what a worker process and its parent say to each other: one JSON object per
// line in each direction, a command down, then its answer up.
// Invariants: each command gets exactly one answer, in order, and `stopped` before it when the
// process stands still in between; a line that is not a command gets an error answer; a line is at
// most `LineBuffer.lineBytesMax` long, and the worker ends when a longer one comes.

import Findings
import FoundationEssentials
import LabCore

/// What a worker says to a command.
package enum WorkerAnswer: Sendable, Hashable {
  /// Done. A commit and an open tell the newest version; `verify` also the hash of its content.
  case done(version: UInt64? = nil, contentHash: UInt64? = nil)
  /// The engine refused with this code, or, with code `protocol`, the worker could not understand.
  case failed(code: String, message: String)
  /// The engine did what it was told, and a promise turned out to be broken.
  case broken(Violation)

  /// The process stands still before a step of a commit; the answer proper comes when it goes on.
  case stopped

  /// The code of an answer that says the command made no sense to the worker.
  package static let protocolCode = "protocol"
  /// The code of a compaction that did nothing, because others use the database.
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
  /// The command that a line holds.
  /// - Throws: `LabError` with code `.lab` when it holds none.
  package static func command(_ line: some Sequence<UInt8>) throws(LabError) -> WorkerCommand {
    try JSONLine.decode(line)
  }

  /// The answer that a line holds.
  /// - Throws: `LabError` with code `.lab` when it holds none.
  package static func answer(_ line: some Sequence<UInt8>) throws(LabError) -> WorkerAnswer {
    try JSONLine.decode(line)
  }
}
