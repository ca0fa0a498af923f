// ProcessIdentity.swift: who owns a reader slot or the writer's word, and whether it still lives.
// Invariants: an owner is its process number in the upper half and the low half of its start time
// in the lower, so a process that got a dead one's number is another owner; 0 is nobody. A process
// of which we cannot tell whether it lives counts as living: its pins cost space, no more.

/// A process, told apart from any other that has its number later.
struct ProcessOwner: Hashable, Sendable {
  let rawValue: UInt64

  init(rawValue: UInt64) {
    self.rawValue = rawValue
  }

  init(pid: Int32, startTime: UInt64) {
    rawValue = UInt64(UInt32(bitPattern: pid)) << 32 | startTime & 0xffff_ffff
  }

  var pid: Int32 { Int32(bitPattern: UInt32(truncatingIfNeeded: rawValue >> 32)) }
  var startTime: UInt32 { UInt32(truncatingIfNeeded: rawValue) }
}

/// What the system knows of processes; tests put in what they need.
struct ProcessTable: Sendable {
  /// What is known of a process number.
  enum Life: Equatable, Sendable {
    /// No such process, or one that has ended and waits for its parent.
    case dead
    /// Running since this many ticks after the machine's start.
    case running(startTime: UInt64)
    /// It exists, and that is all we may know.
    case unknown
  }

  let life: @Sendable (Int32) -> Life
  /// Tells namespaces of process numbers apart; 0 when the system does not say.
  let namespaceID: UInt64

  /// The system's own table.
  static let system = ProcessTable(
    life: { pid in systemLife(pid) },
    namespaceID: (try? Syscalls.identity(path: "/proc/self/ns/pid").get())?.inode ?? 0)

  /// The calling process.
  func current() -> ProcessOwner {
    let pid = Syscalls.processID
    guard case .running(let startTime) = life(pid) else {
      return ProcessOwner(pid: pid, startTime: 0)
    }
    return ProcessOwner(pid: pid, startTime: startTime)
  }

  /// Whether an owner lives.
  func isAlive(_ owner: ProcessOwner) -> Bool {
    // No process has such a number: the word is garbage, and garbage pins nothing.
    guard owner.pid > 0 else { return false }
    switch life(owner.pid) {
    case .dead: return false
    case .running(let startTime):
      return owner.startTime == 0 || owner.startTime == UInt32(truncatingIfNeeded: startTime)
    case .unknown: return true
    }
  }

  /// Reads /proc/PID/stat: "PID (NAME) STATE …", the start time is the 20th field behind the name.
  private static func systemLife(_ pid: Int32) -> Life {
    guard case .success(let bytes) = Syscalls.text("/proc/\(pid)/stat"),
      let end = bytes.lastIndex(of: UInt8(ascii: ")"))
    else { return Syscalls.processExists(pid) ? .unknown : .dead }
    let fields = bytes[(end + 1)...].split(separator: UInt8(ascii: " "))
    guard fields.count > 19, let state = fields[0].first else { return .unknown }
    if state == UInt8(ascii: "Z") || state == UInt8(ascii: "X") { return .dead }
    guard let startTime = UInt64(String(decoding: fields[19], as: UTF8.self)) else {
      return .unknown
    }
    return .running(startTime: startTime)
  }
}
