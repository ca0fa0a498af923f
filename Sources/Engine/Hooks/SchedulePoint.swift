// SchedulePoint.swift: the named points at which threads of one process interact, and the hook by
// which a lab decides which thread continues. Invariants: no lock is held at a point, so a thread
// stopped there blocks no other thread, except those that wait for the writer's turn that it holds.
// Without a hook a point is one branch. With a hook no thread sleeps in the kernel: a thread that
// has to wait passes the reason to the hook, which returns when the wait is over.

/// A place at which a thread accesses state that other threads of the process also access.
public enum SchedulePoint: Sendable, Hashable, CustomStringConvertible {
  /// Before the writer's turn is requested.
  case askForTurn
  /// The writer's turn is ours.
  case takeTurn
  /// Before the writer's turn is released.
  case giveTurn
  /// Before a staged version is added to the group.
  case joinGroup
  /// Before the turn is offered to a thread that could join the group.
  case passOnGroup
  /// Before the group is sealed.
  case sealGroup
  /// Before a reader takes a slot.
  case claimSlot
  /// Between a reader's load of the published version and its store to the slot.
  case storePin
  /// Between that store and the second load.
  case checkPin
  /// Before a reader gives its slot back.
  case unpin
  /// Before a version that is new to this handle is read.
  case refresh
  /// Before the first word of a version's record is published.
  case publishRecord
  /// Before the word that makes the record the newest one.
  case publishVersion
  /// Before a step of a commit.
  case commit(CommitStep)
  /// Before one access to a word that the handles of all processes share; only under a hook that
  /// enables it (`ScheduleHook.meetsShared`), since a commit has a hundred.
  case shared(SharedAccess)

  /// The name in words, for example `publish version`; a step of a commit has its own.
  public var description: String {
    switch self {
    case .askForTurn: "ask for turn"
    case .takeTurn: "take turn"
    case .giveTurn: "give turn"
    case .joinGroup: "join group"
    case .passOnGroup: "pass on group"
    case .sealGroup: "seal group"
    case .claimSlot: "claim slot"
    case .storePin: "store pin"
    case .checkPin: "check pin"
    case .unpin: "unpin"
    case .refresh: "refresh"
    case .publishRecord: "publish record"
    case .publishVersion: "publish version"
    case .commit(let step): step.description
    case .shared(let access): access.description
    }
  }

  /// All points except those of shared words, including each step of a commit.
  public static let all: [SchedulePoint] =
    [
      .askForTurn, .takeTurn, .giveTurn, .joinGroup, .passOnGroup, .sealGroup, .claimSlot,
      .storePin, .checkPin, .unpin, .refresh, .publishRecord, .publishVersion,
    ] + CommitStep.allCases.map { .commit($0) }

  /// All points of shared words.
  public static let allShared: [SchedulePoint] = SharedWord.allCases.flatMap { word in
    SharedAccess.Kind.allCases.map { .shared(SharedAccess($0, word)) }
  }
}

/// The words that the handles of all processes share (`RegionLayout`).
public enum SharedWord: String, Sendable, Hashable, CaseIterable {
  case slotOwner = "slot owner"
  case slotVersion = "slot version"
  case slotCount = "slot count"
  case publishedVersion = "published version"
  case record
  case fallback
  case poison
  case writer
  case takeovers
  case listeners
}

/// One atomic access to a shared word.
public struct SharedAccess: Sendable, Hashable, CustomStringConvertible {
  /// The kind of access to the word.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    case load
    case store
    case exchange
  }

  /// The kind of access.
  public let kind: Kind
  /// To which word.
  public let word: SharedWord

  init(_ kind: Kind, _ word: SharedWord) {
    self.kind = kind
    self.word = word
  }

  /// For example `store slot version`.
  public var description: String { "\(kind.rawValue) \(word.rawValue)" }
}

/// The reason why a thread waits.
public enum ScheduleWait: Sendable, Hashable, CustomStringConvertible {
  /// For the writer's turn.
  case turn
  /// For the end of the group that its commit is in.
  case group

  /// For messages, for example `the writer's turn`.
  public var description: String {
    switch self {
    case .turn: "the writer's turn"
    case .group: "the end of its commit's group"
    }
  }
}

/// Decides which thread continues at the points of a database.
package struct ScheduleHook: Sendable {
  /// Called at each point; the caller continues when it returns.
  package let reach: @Sendable (SchedulePoint) -> Void
  /// Called instead of sleeping, until `isOver` returns true.
  ///
  /// Returns false when it never will: the timeout expired, or no thread is left that could end the
  /// wait.
  package let wait:
    @Sendable (_ reason: ScheduleWait, _ isBounded: Bool, _ isOver: @escaping @Sendable () -> Bool)
      -> Bool
  /// Whether each access to a shared word is a point, too.
  package let meetsShared: Bool

  /// Makes a hook.
  package init(
    meetsShared: Bool = false,
    reach: @escaping @Sendable (SchedulePoint) -> Void,
    wait: @escaping @Sendable (ScheduleWait, Bool, @escaping @Sendable () -> Bool) -> Bool
  ) {
    self.meetsShared = meetsShared
    self.reach = reach
    self.wait = wait
  }

  /// The point before an access to a shared word.
  func meet(_ kind: SharedAccess.Kind, _ word: SharedWord) {
    if meetsShared { reach(.shared(SharedAccess(kind, word))) }
  }
}
