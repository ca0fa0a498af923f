// ControlMessage.swift: the messages between a client and the FaultFS daemon.
// A message is a 4-byte little-endian length followed by that many bytes of JSON; trees and traces
// are passed as files. The daemon sends first: a reply that says whether the mount is ready.
// Invariant: a length above `limitBytes` ends the connection; no input from a peer can trap.

import Foundation
import LabCore
import Recording

/// What a client asks for.
package enum ControlRequest: Codable, Sendable {
  /// Replace the tree with the one in a file, or with an empty one.
  case load(path: String?)
  case beginRecording
  /// From now on, write dirty mapped pages back at the moments of this rule, or never.
  case writeBack(PageWriteBack?)
  case mark(bytes: Data)
  /// Take what programs have printed, and the begun lines of those that have ended; all others are
  /// killed next, and have not ended theirs.
  case settleMarks
  /// Save the trace to a file and stop recording.
  case endRecording(path: String)
  case saveTree(path: String)
  /// Kill the registered groups at a given moment, with or without a power cut.
  case stop(StopPoint)
  /// Kill this process group when the client exits.
  case registerGroup(Int32)
  case unregisterGroup(Int32)
  case addRules([FaultRule])
  case listRules
  case removeRules([Int])
  case clearRules
  case ruleHits
  case statistics
  /// A thread of a program called sync(2) or syncfs(2), of which FUSE is not notified.
  case syncAll(thread: Int32)
  /// The phase that a process announced last.
  case phase(process: Int32)
  /// Remember from now on what each file held at its last sync.
  case watchUnsynced
  /// Take each file back to its last sync.
  case clearCache
  /// Count as synced what has been written.
  case checkpoint
  /// Bring some pages of files to the medium.
  case syncPages(PageSync)
  /// What has been written and not synced.
  case unsynced
  /// Add writes of which a part reaches the medium before the file system dies.
  case addTears([WriteTear])
  case shutdown

  /// True for requests that processes other than the mount's creator may send.
  var isForEveryone: Bool {
    switch self {
    case .addRules, .listRules, .removeRules, .clearRules, .ruleHits, .statistics, .mark,
      .phase:
      true
    case .load, .beginRecording, .writeBack, .endRecording, .saveTree, .stop, .registerGroup,
      .unregisterGroup, .syncAll, .settleMarks, .watchUnsynced, .clearCache, .checkpoint,
      .syncPages, .unsynced, .addTears, .shutdown:
      false
    }
  }
}

/// What FaultFS has done so far.
public struct FaultFSStatistics: Codable, Hashable, Sendable {
  /// Kernel requests served.
  public var operationsServed: UInt64
  /// Events in the current recording.
  public var eventCount: Int
  /// Bytes of payload in the current recording.
  public var payloadBytes: UInt64
  /// Memory that the tree uses.
  public var memoryBytes: UInt64
  /// Events so far, without closes, as stop points count them.
  public var orderedCount: Int
  /// Number of events at which the stop point was reached, counted the same way; nil if not yet.
  public var stoppedAtEvents: Int?
  /// True between `beginRecording` and `endRecording`, or the power cut.
  public var isRecording: Bool
  /// True when the recording ended because it reached its size limit.
  public var isRecordingFull: Bool
  /// True when a fault has ended the file system's service.
  public var isDead = false
  /// True when somebody has unmounted the file system; what it recorded can still be had.
  public var isUnmounted: Bool
}

/// The answer to a request.
struct ControlReply: Codable, Sendable {
  var error: String?
  var isUsageError = false
  var statistics: FaultFSStatistics?
  var hits: [RuleHits]?
  /// The rules in force, or the rules that were added or removed.
  var rules: [RuleStatus]?
  var phase: String?
  var unsynced: [UnsyncedFile]?
  /// True when shutdown had to detach the mount from processes that still used it.
  var wasDetached = false
}

/// Assembles messages from the bytes that a socket delivers.
package struct ControlFrames {
  static let limitBytes = 1 << 20
  private var pending: [UInt8] = []

  package init() {
  }

  package static func encode(_ message: some Encodable) throws(LabError) -> [UInt8] {
    let body: Data
    do {
      body = try JSONEncoder().encode(message)
    } catch {
      throw .internalError("a control message cannot be encoded: \(error)")
    }
    guard body.count <= limitBytes else {
      throw .usage("control message of \(body.count) bytes exceeds \(limitBytes)")
    }
    let count = UInt32(body.count)
    return (0..<4).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) } + body
  }

  package mutating func add(_ bytes: [UInt8]) { pending += bytes }

  /// The next whole message, or nil while one is incomplete.
  package mutating func next() throws(LabError) -> Data? {
    guard pending.count >= 4 else { return nil }
    let count = (0..<4).reduce(0) { $0 | Int(pending[$1]) << (8 * $1) }
    guard count <= Self.limitBytes else {
      throw .usage("control message of \(count) bytes exceeds \(Self.limitBytes)")
    }
    guard pending.count >= 4 + count else { return nil }
    defer { pending.removeFirst(4 + count) }
    return Data(pending[4..<4 + count])
  }

  package static func decode<Message: Decodable>(
    _ type: Message.Type, from data: Data
  ) throws(LabError) -> Message {
    do {
      return try JSONDecoder().decode(type, from: data)
    } catch {
      throw .usage("cannot read a control message of \(data.count) bytes: \(error)")
    }
  }
}

extension ControlFrames {
  /// Reads until a reply arrives.
  /// - Throws: `LabError` with the reply's error, or when the daemon has exited.
  mutating func awaitReply(
    from descriptor: Int32, of mountPoint: String
  ) throws(LabError) -> ControlReply {
    while true {
      if let data = try next() {
        let reply = try Self.decode(ControlReply.self, from: data)
        guard let message = reply.error else { return reply }
        throw LabError(reply.isUsageError ? .usage : .lab, message)
      }
      let bytes: [UInt8]?
      do throws(ErrorNumber) {
        bytes = try Descriptors.read(descriptor, limitBytes: 65536)
      } catch {
        throw .lab("the FaultFS daemon of \(mountPoint) is gone: \(error)")
      }
      guard let bytes else { continue }
      if bytes.isEmpty {
        throw .lab("the FaultFS daemon of \(mountPoint) ended; see its message above")
      }
      add(bytes)
    }
  }
}
