// RealmOwner.swift: the owner of a realm, the only one that may use it: one thread, one serial
// queue, or one actor; a frozen realm has no owner. Every access checks it, in every build. The
// main thread, the main queue and the main actor are one owner: code of one of them never runs
// concurrently with code of another.

import Dispatch
import FoundationEssentials
import Glibc

/// The owner of a realm.
enum RealmOwner: Hashable {
  case thread(UInt)
  case queue(ObjectIdentifier, label: String)
  /// With the thread that the process began with.
  case main(UInt)
  case actor(ObjectIdentifier, executor: UInt, name: String)
  case nobody

  private static let queueKey = DispatchSpecificKey<ObjectIdentifier>()

  /// Marks the main queue, whose blocks, and the main actor's, may run on any thread, and do so
  /// after a program with an asynchronous `main` has suspended.
  ///
  /// The object is kept forever: on Linux each `DispatchQueue.main` is a new object, and a freed
  /// one's memory may be reused for the next queue.
  private static let markedMain: DispatchQueue = {
    let queue = DispatchQueue.main
    queue.setSpecific(key: queueKey, value: ObjectIdentifier(queue))
    return queue
  }()

  private static var mainQueue: ObjectIdentifier { ObjectIdentifier(markedMain) }

  /// The calling thread; the main queue, or actor, when it is one of its.
  static var currentThread: RealmOwner {
    if Scheduler.isMainThread { return .main(UInt(pthread_self())) }
    return isMainQueue ? .main(0) : .thread(UInt(pthread_self()))
  }

  /// An actor.
  static func owner(_ actor: any Actor) -> RealmOwner {
    if actor === MainActor.shared {
      _ = mainQueue
      return .main(Scheduler.isMainThread ? UInt(pthread_self()) : 0)
    }
    return .actor(
      ObjectIdentifier(actor), executor: CurrentExecutor.identity(of: actor),
      name: "\(Swift.type(of: actor))")
  }

  /// A serial queue; it is marked, so that its blocks can be recognized.
  static func owner(_ queue: DispatchQueue) -> RealmOwner {
    let id = ObjectIdentifier(queue)
    if queue.getSpecific(key: queueKey) == mainQueue {
      return .main(Scheduler.isMainThread ? UInt(pthread_self()) : 0)
    }
    queue.setSpecific(key: queueKey, value: id)
    return .queue(id, label: queue.label)
  }

  /// Whether the caller is the owner.
  @inline(__always)
  var isCurrent: Bool {
    switch self {
    case .thread(let thread): thread == UInt(pthread_self())
    case .queue(let id, _): DispatchQueue.getSpecific(key: Self.queueKey) == id
    case .main(let thread): thread == UInt(pthread_self()) || Self.isMain
    case .actor(_, let executor, _): CurrentExecutor.identity == executor
    case .nobody: true
    }
  }

  @inline(never)
  private static var isMain: Bool { isMainQueue || Scheduler.isMainThread }

  private static var isMainQueue: Bool {
    // In this order: a queue is marked when it is created.
    let main = mainQueue
    return DispatchQueue.getSpecific(key: queueKey) == main
  }

  /// Which owner is meant when the caller runs for several: the lowest.
  var rank: Int {
    switch self {
    case .actor: 0
    case .queue: 1
    case .main: 2
    case .thread: 3
    case .nobody: 4
    }
  }

  /// The owner in words; to be called by the owner.
  var text: String {
    switch self {
    case .thread: "thread \(Self.threadName)"
    case .queue(_, let label): "queue \"\(label)\""
    case .main: "the main thread"
    case .actor(_, _, let name): "actor \(name)"
    case .nobody: "no thread, because it is frozen"
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
    case (.actor(let left, _, _), .actor(let right, _, _)): left == right
    case (.nobody, .nobody), (.main, .main): true
    default: false
    }
  }

  func hash(into hasher: inout Hasher) {
    switch self {
    case .thread(let thread): hasher.combine(thread)
    case .queue(let id, _): hasher.combine(id)
    case .actor(let id, _, _): hasher.combine(id)
    case .main: hasher.combine(0)
    case .nobody: break
    }
  }
}
