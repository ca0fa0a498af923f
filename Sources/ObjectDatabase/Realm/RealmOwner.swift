// RealmOwner.swift: who may use a realm: one thread, or one serial queue; a frozen one anybody.
// Every access checks it, in every build.

import Dispatch
import FoundationEssentials
import Glibc

/// To whom a realm belongs.
enum RealmOwner: Hashable {
  case thread(UInt)
  case queue(ObjectIdentifier, label: String)
  case nobody

  private static let queueKey = DispatchSpecificKey<ObjectIdentifier>()

  /// The calling thread.
  static var currentThread: RealmOwner { .thread(UInt(pthread_self())) }

  /// A serial queue; it is marked, so that its blocks can be told from others.
  static func owner(_ queue: DispatchQueue) -> RealmOwner {
    let id = ObjectIdentifier(queue)
    queue.setSpecific(key: queueKey, value: id)
    return .queue(id, label: queue.label)
  }

  /// Whether the caller is the owner.
  @inline(__always)
  var isCurrent: Bool {
    switch self {
    case .thread(let thread): thread == UInt(pthread_self())
    case .queue(let id, _): DispatchQueue.getSpecific(key: Self.queueKey) == id
    case .nobody: true
    }
  }

  /// The owner in words; to be asked for by the owner.
  var text: String {
    switch self {
    case .thread: "thread \(Self.threadName)"
    case .queue(_, let label): "queue \"\(label)\""
    case .nobody: "nobody, being frozen"
    }
  }

  /// The calling thread's name and number.
  static var threadName: String {
    let number = String(UInt(pthread_self()), radix: 16)
    guard let comm = FileManager.default.contents(atPath: "/proc/thread-self/comm") else {
      return "0x\(number)"
    }
    let name = String(decoding: comm.prefix { $0 != 0x0A }, as: UTF8.self)
    return "\"\(name)\" (0x\(number))"
  }

  static func == (left: RealmOwner, right: RealmOwner) -> Bool {
    switch (left, right) {
    case (.thread(let left), .thread(let right)): left == right
    case (.queue(let left, _), .queue(let right, _)): left == right
    case (.nobody, .nobody): true
    default: false
    }
  }

  func hash(into hasher: inout Hasher) {
    switch self {
    case .thread(let thread): hasher.combine(thread)
    case .queue(let id, _): hasher.combine(id)
    case .nobody: break
    }
  }
}
