// PhaseLog.swift: which phase of its work each process is in, as the processes announce it.
// A process announces a phase by setting an extended attribute of the mount's root: the value is
// the phase's name, and an empty value says that no phase is under way. The call is not an
// operation of the program: rules do not apply to it, the trace has no operation for it, and it
// changes nothing. An announcement is in order with the process's file operations, because each
// waits for its answer.
// Invariant: whatever processes announce, the log holds at most `processesMax` of them.

/// What processes have announced.
package struct PhaseLog {
  /// The attribute.
  package static let attribute = "user.faultline.phase"
  /// Longest name of a phase, in bytes.
  package static let nameBytesMax = 64
  private static let processesMax = 1024

  private var current: [Int32: String] = [:]

  package init() {
  }

  /// The phase that a process is in.
  package func phase(of process: Int32) -> String? { current[process] }

  /// Takes an announcement in.
  /// - Returns: False for a name that is none; it changes nothing.
  package mutating func note(_ value: [UInt8], of process: Int32) -> Bool {
    guard process > 0 else { return false }
    guard !value.isEmpty else {
      current[process] = nil
      return true
    }
    guard let name = Self.name(value) else { return false }
    if current.count >= Self.processesMax { current = [:] }
    current[process] = name
    return true
  }

  /// The name of a phase that these bytes are: UTF-8 of 1 to 64 bytes without control characters.
  package static func name(_ bytes: [UInt8]) -> String? {
    guard (1...nameBytesMax).contains(bytes.count),
      bytes.allSatisfy({ $0 >= 32 && $0 != 127 })
    else { return nil }
    return String(validating: bytes, as: UTF8.self)
  }
}
