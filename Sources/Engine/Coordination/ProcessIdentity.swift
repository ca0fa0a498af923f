// ProcessIdentity.swift: the owner of a reader slot or of the writer's word, and whether it is
// still alive. Invariants: an owner is its process number in the upper half and the low half of its
// start time in the lower, so a process that reuses the number of a dead one is a different owner;
// 0 means no owner. A process whose state cannot be determined counts as alive: its pins cost only
// space.

/// A process, distinct from any later process with the same number.
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

/// Process information from the system; tests replace it.
struct ProcessTable: Sendable {
  /// The state of a process number.
  enum Life: Equatable, Sendable {
    /// No such process, or one that has ended and waits for its parent.
    case dead
    /// Running since this many ticks after the machine's start.
    case running(startTime: UInt64)
    /// It exists, and that is all we may know.
    case unknown
  }

  let life: @Sendable (Int32) -> Life
  /// Identifies the namespace of process numbers; 0 when it is unknown.
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

  /// Whether an owner is alive.
  func isAlive(_ owner: ProcessOwner) -> Bool {
    // No process has such a number: the word is garbage and does not pin a version.
    guard owner.pid > 0 else { return false }
    switch life(owner.pid) {
    case .dead: return false
    case .running(let startTime):
      return owner.startTime == 0 || owner.startTime == UInt32(truncatingIfNeeded: startTime)
    case .unknown: return true
    }
  }

  /// Reads /proc/PID/stat: "PID (NAME) STATE …", the start time is the 20th field after the name.
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
