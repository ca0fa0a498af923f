// ReplayToken.swift: one failure as a word: all that is needed to record the run again and go to
// the same crash state. Text: `fl1-` and the recipe's JSON in base64url (RFC 4648, section 5)
// without padding.
// Invariant: the same seed and the same program give the same token, so nothing in it depends on
// time, process numbers or random bytes that the program wrote.

import Foundation

/// How to come to one failure again.
public enum ReplayRecipe: Codable, Sendable, Hashable {
  /// A state of an explored program.
  case explore(ExploreRecipe)
  /// A state of a scenario's crash exploration.
  case scenario(ScenarioRecipe)
  /// A round of a stress run.
  case stress(StressRecipe)
}

/// A crash state of any program.
public struct ExploreRecipe: Codable, Sendable, Hashable {
  /// Shell command that is recorded.
  public var workload: String
  /// Shell command that judges.
  public var check: String
  /// Shell command that prepares the directory, if any.
  public var setup: String?
  /// Persistence model, as `PersistenceModel.chosen` takes it.
  public var model: String
  /// Seed of the run.
  public var seed: UInt64
  /// The state: see `StateKey`.
  public var state: String
  /// Shape of the trace that the state belongs to; on a real file system, up to the crash point.
  public var shape: String
  /// Time limit of one check.
  public var timeoutSeconds: Int
  /// Events of syncs that the disk ignores; nil where all work.
  public var ignoredSyncs: [Int]?
  /// When mapped pages are written back; nil where the kernel decides.
  public var writeBack: PageWriteBack?
  /// The real file system that it was recorded on, as `--on` takes it; nil for FaultFS itself.
  public var fileSystem: String?
  /// Whether the file system's own checker judged too; nil is no.
  public var runsFsck: Bool?

  /// What recovers after a crash; nil where no crash during recovery is meant.
  public var recover: String?
  /// The crashes that it recovered from, in order.
  ///
  /// `state` is one of the last recovery then, or `RecoveredCrash.refusal`; `shape` is the
  /// workload's.
  public var recovered: [RecoveredCrash]?

  /// Faults of the medium at rest, instead of a crash state.
  public var media: MediaState?
  /// With so many of them the checker must find the content right; nil is none.
  public var survivedFaults: Int?

  /// Makes a recipe.
  public init(
    workload: String, check: String, setup: String?, model: String, seed: UInt64, state: String,
    shape: String, timeoutSeconds: Int
  ) {
    self.workload = workload
    self.check = check
    self.setup = setup
    self.model = model
    self.seed = seed
    self.state = state
    self.shape = shape
    self.timeoutSeconds = timeoutSeconds
  }
}

/// A failure of a scenario.
public struct ScenarioRecipe: Codable, Sendable, Hashable {
  /// Where in the scenario it failed.
  public enum Place: Codable, Sendable, Hashable {
    /// A crash state under a model: its key and the trace's shape.
    case crash(model: String, state: String, shape: String)
    /// A crash while recovering from a crash state, with the key of the second state.
    case recovery(model: String, state: String, shape: String, second: String)
    /// The process was killed at the n-th operation, before or after it took effect.
    case kill(operation: Int, before: Bool)
    /// A crash state of a run in which the process was killed there, and of one in its recovery.
    case killedCrash(
      operation: Int, before: Bool, model: String, state: String, shape: String, second: String?)
    /// The n-th operation of those that the scenario's sweep names failed.
    case fault(operation: Int)
    /// Faults of the medium at rest, and the trace's shape.
    case media(state: MediaState, shape: String)
    /// A schedule of the steps that run side by side, without any crash.
    case schedule(String)
    /// A crash state of what such a schedule recorded, and of a crash in its recovery.
    case scheduledCrash(
      schedule: String, model: String, state: String, shape: String, second: String?)
    /// The run itself, without any crash.
    case run
  }

  /// The scenario file, as it was given.
  public var path: String
  /// Seed of the run.
  public var seed: UInt64
  /// Where it failed.
  public var place: Place
  /// The door of the recording; nil is the mount, if there can be one.
  public var door: DoorChoice?
  /// Events of syncs that the disk ignores, counted without shared memory; nil where all work.
  public var ignoredSyncs: [Int]?
  /// What the scenario's text and the engine were; nil in tokens of older versions.
  public var fingerprint: ReplayFingerprint?

  /// Makes a recipe.
  public init(path: String, seed: UInt64, place: Place, door: DoorChoice? = nil) {
    self.path = path
    self.seed = seed
    self.place = place
    self.door = door
  }
}

/// Text form of a recipe.
public enum ReplayToken {
  private static let prefix = "fl1-"
  private static let limitBytes = 1 << 20

  /// The recipe as one word.
  public static func encode(_ recipe: ReplayRecipe) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(recipe) else {
      preconditionFailure("a recipe of strings and numbers always encodes")
    }
    let text = data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
    return prefix + text.replacing("=", with: "")
  }

  /// The recipe of a token.
  /// - Throws: `LabError` with code `.usage` for anything that `encode` did not write.
  public static func decode(_ token: String) throws(LabError) -> ReplayRecipe {
    let text = token.trimmingCharacters(in: .whitespacesAndNewlines)
    guard text.hasPrefix(prefix) else {
      throw .usage("'\(text.prefix(24))…' is not a replay token: one begins with \(prefix)")
    }
    guard text.utf8.count <= limitBytes else {
      throw .usage("a replay token of \(text.utf8.count) bytes; at most \(limitBytes) are taken")
    }
    var body = text.dropFirst(prefix.count).replacing("-", with: "+").replacing("_", with: "/")
    while body.count % 4 != 0 { body += "=" }
    guard let data = Data(base64Encoded: String(body)),
      let recipe = try? JSONDecoder().decode(ReplayRecipe.self, from: data)
    else { throw .usage("the replay token is damaged: copy it again, whole, from the report") }
    return recipe
  }
}

extension Trace {
  /// Shape of the trace: two recordings with the same shape have the same crash states by number.
  ///
  /// It follows from kinds, inodes, positions and sizes of all events, but not from bytes, names,
  /// times or processes.
  public var shape: String { shape(ofFirst: events.count) }

  /// Shape of the trace up to a crash point, on which a state of that point depends alone.
  func shape(ofFirst count: Int) -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    func add(_ value: UInt64) {
      hash = (hash ^ value) &* 0x0000_0100_0000_01b3
      hash ^= hash >> 29
    }
    for event in events.prefix(count) {
      add(UInt64(event.flags.rawValue))
      switch event.body {
      case .mark(let mark): add(1000 + UInt64(mark.bytes.count))
      case .operation(let operation): operation.shapeWords.forEach(add)
      }
    }
    return String(hash, radix: 36)
  }
}

extension Operation {
  fileprivate var shapeWords: [UInt64] {
    switch self {
    case .create(let inode, let parent, _, let type, _, let target, _):
      [1, inode.rawValue, parent.rawValue, UInt64(type.rawValue), UInt64(target.count)]
    case .link(let inode, let parent, _): [2, inode.rawValue, parent.rawValue]
    case .remove(let inode, let parent, _, let isDirectory):
      [3, inode.rawValue, parent.rawValue, isDirectory ? 1 : 0]
    case .rename(let inode, let from, _, let to, _, let replaced):
      [4, inode.rawValue, from.rawValue, to.rawValue, replaced?.rawValue ?? 0]
    case .exchange(let inode, let parent, _, let otherInode, let otherParent, _):
      [5, inode.rawValue, parent.rawValue, otherInode.rawValue, otherParent.rawValue]
    case .write(let inode, let offsetBytes, let payload):
      [6, inode.rawValue, offsetBytes, UInt64(payload.countBytes)]
    case .truncate(let inode, let oldSizeBytes, let newSizeBytes):
      [7, inode.rawValue, oldSizeBytes, newSizeBytes]
    case .allocate(let inode, let offsetBytes, let countBytes, let zeroes, _, let newSizeBytes):
      [8, inode.rawValue, offsetBytes, countBytes, zeroes ? 1 : 0, newSizeBytes]
    case .setOwnership(let inode, _): [9, inode.rawValue]
    case .setExtendedAttribute(let inode, _, let value):
      [10, inode.rawValue, UInt64(value?.count ?? 0)]
    case .sync(let inode, let dataOnly): [11, inode.rawValue, dataOnly ? 1 : 0]
    case .syncDirectory(let inode): [12, inode.rawValue]
    case .close(let inode): [13, inode.rawValue]
    case .syncAll(let late): [14, UInt64(late)]
    }
  }
}
