// MachineCapability.swift: one thing that the lab uses of a machine, and what is lost without it.

import LabCore

/// What `faultline doctor` says of one thing.
public struct MachineCapability: Codable, Sendable, Hashable {
  /// Whether it is there.
  public enum State: String, Codable, Sendable, Hashable {
    /// It is there.
    case ok
    /// Something of it is lacking, or it is not there.
    case missing
  }

  /// What it is, for example `/dev/fuse`.
  public let name: String
  /// Whether it is there.
  public let state: State
  /// What was found, in one line.
  public let found: String
  /// What does not work without it; nil when it is there.
  public let lost: String?
  /// The command that mends it; nil when it is there.
  public let mend: String?

  /// Something that is there.
  static func ok(_ name: String, found: String) -> MachineCapability {
    MachineCapability(name: name, state: .ok, found: found, lost: nil, mend: nil)
  }

  /// Something that is not.
  static func missing(
    _ name: String, found: String, lost: String, mend: String
  ) -> MachineCapability {
    MachineCapability(name: name, state: .missing, found: found, lost: lost, mend: mend)
  }

  /// For a person: one line, and for a lack two more.
  public var lines: [String] {
    let head = state == .ok ? "ok       " : "missing  "
    let padded = name + String(repeating: " ", count: max(0, 16 - name.count))
    let indent = String(repeating: " ", count: head.count)
    return ["\(head)\(padded)  \(found)"] + (lost.map { ["\(indent)lost: \($0)"] } ?? [])
      + (mend.map { ["\(indent)mend: \($0)"] } ?? [])
  }
}

/// All of them.
public struct MachineReport: JSONReport, Codable, Sendable {
  /// Version of the report's format.
  public var version = 1
  /// Whether a mount was made and used: without one there is no `explore`.
  public let mounts: Bool
  /// One entry for each thing, always in the same order.
  public let capabilities: [MachineCapability]
}
