// PhaseLog.swift: the phase that each process is in, as announced by the processes.
// A process announces a phase by setting an extended attribute of the mount's root: the value is
// the phase's name, and an empty value ends the phase. The call is not an operation of the program:
// rules do not apply to it, the trace has no operation for it, and it changes nothing. An
// announcement is ordered with the process's file operations, because each of them waits for its
// answer.
// Invariant: whatever processes announce, the log holds at most `processesMax` of them.

/// The phases that processes have announced.
package struct PhaseLog {
  /// The attribute.
  package static let attribute = "user.faultline.phase"
  /// Longest name of a phase, in bytes.
  package static let nameBytesMax = 64
  private static let processesMax = 1024

  private var current: [Int32: String] = [:]

  package init() {
  }

  /// The current phase of a process.
  package func phase(of process: Int32) -> String? { current[process] }

  /// Handles an announcement.
  /// - Returns: False for an invalid name, which changes nothing.
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

  /// The phase name in these bytes: UTF-8 of 1 to 64 bytes without control characters.
  package static func name(_ bytes: [UInt8]) -> String? {
    guard (1...nameBytesMax).contains(bytes.count),
      bytes.allSatisfy({ $0 >= 32 && $0 != 127 })
    else { return nil }
    return String(validating: bytes, as: UTF8.self)
  }
}
