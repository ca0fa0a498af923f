// EngineCheck.swift: opens one crash image after the other and lets the oracles judge the result.
// Invariant: an image is judged only by the engine's results for it (open, version, content hash,
// verify, one more commit) and the acknowledgements; no state is kept from image to image.

import Engine
import FaultFS
import Findings
import FoundationEssentials
import LabCore
import Recording
import Workload

/// Judges crash images of one run.
public struct EngineCheck: Sendable {
  /// The extent of the checks.
  public struct Options: Sendable {
    /// The commit after recovery is tried on every state whose ordinal is a multiple; 0 is never.
    public var usableEvery = 1
    /// Runs the engine's verification.
    public var verifies = true
    /// The X-ray reads every state whose ordinal is a multiple, and fewer large images, since it
    /// reads every row; 0 is never.
    public var xrayEvery = 16

    /// Everything, on every state.
    public init() {}
  }

  /// The allowed contents, for every point of the run.
  public let timeline: OutcomeTimeline
  let table: TableDeclaration?
  let database: DatabaseDeclaration
  let copies: [CopyStep]
  private let sentinelNumber: Int
  let options: Options

  /// Prepares to judge a run's crash states.
  /// - Parameters:
  ///   - plan: The workload's plan.
  ///   - marks: All marks of its trace, in order.
  ///   - options: The extent of the checks.
  /// - Throws: `LabError` with code `.lab` when the marks do not belong to this plan.
  /// - Complexity: O(marks × rows).
  public init(
    _ plan: WorkloadPlan, marks: [Mark], options: Options = .init()
  ) throws(LabError) {
    timeline = try OutcomeTimeline(plan, marks: marks)
    table = plan.sentinelTable
    database = plan.database
    copies = plan.commands.compactMap(\.action.copy)
    sentinelNumber = plan.transactions.count
    self.options = options
  }

  /// Prepares to judge one moment of a run, which counts as that of 0 marks.
  package init(
    _ allowed: AllowedOutcomes, table: TableDeclaration,
    database: DatabaseDeclaration = DatabaseDeclaration()
  ) {
    timeline = OutcomeTimeline(only: allowed)
    self.table = table
    self.database = database
    copies = []
    sentinelNumber = 0
    options = Options()
  }

  private init(_ timeline: OutcomeTimeline, of check: EngineCheck) {
    self.timeline = timeline
    table = check.table
    database = check.database
    copies = []
    sentinelNumber = check.sentinelNumber
    options = check.options
  }

  // MARK: - Judgement

  /// Judges a crash image.
  /// - Parameters:
  ///   - image: The database file of the crash state, loaded; nil when the state has none. The
  ///     check writes to the backend's copy.
  ///   - marksSeen: Number of marks before the crash point.
  ///   - ordinal: The state's number, for `Options.usableEvery` and `xrayEvery`; with 0, everything
  ///     is tried.
  /// - Returns: The broken promises; empty when all held.
  /// - Complexity: O(bytes of the image).
  public func judge(
    _ image: ImageBackend?, marksSeen: Int, ordinal: Int = 0
  ) -> [Violation] {
    judge(image.map { .image($0) }, marksSeen: marksSeen, ordinal: ordinal)
  }

  /// Judges the database in a directory, and may change it.
  /// - Parameters:
  ///   - directory: The directory with the crash state.
  ///   - marksSeen: Number of marks before the crash point.
  ///   - ordinal: The state's number, for `Options.usableEvery` and `xrayEvery`; with 0, everything
  ///     is tried.
  ///   - foundBefore: The version that the run's last open found, unless the power was cut since.
  /// - Returns: The broken promises; empty when all held.
  public func judge(
    directory: String, marksSeen: Int, ordinal: Int = 0, foundBefore: UInt64? = nil
  ) -> [Violation] {
    let path = directory + "/" + DatabaseFile.name
    // The engine's first open reads from the medium; the X-ray must see the same.
    PathCalls.forgetCache(of: path)
    var found = judge(
      .path(path), marksSeen: marksSeen, ordinal: ordinal, foundBefore: foundBefore)
    for copy in copies {
      let path = directory + "/" + copy.fileName
      let place = FileManager.default.fileExists(atPath: path) ? DatabasePlace.path(path) : nil
      found += judge(copy, place, marksSeen: marksSeen)
    }
    return found
  }

  /// Copies in the plan, for code that keeps their images.
  package var plannedCopies: [CopyStep] { copies }

  /// Judges a copy that the run wrote; see `judge(_:marksSeen:ordinal:)`.
  package func judge(_ copy: CopyStep, _ image: ImageBackend?, marksSeen: Int) -> [Violation] {
    judge(copy, image.map { .image($0) }, marksSeen: marksSeen)
  }

  /// A copy is missing or complete; once acknowledged, it must exist.
  private func judge(
    _ copy: CopyStep, _ place: DatabasePlace?, marksSeen: Int
  ) -> [Violation] {
    let acked = timeline.outcomes(marksSeen: marksSeen).copies[copy.name]
    guard let place else {
      guard acked != nil else { return [] }
      return [
        Violation(
          .durability, promised: "the copy '\(copy.name)' was acknowledged",
          got: "there is no file \(copy.fileName)")
      ]
    }
    let seen = recover(place, database.of(copy))
    if let error = seen.openError ?? seen.damage {
      return [
        Violation(
          .structure, promised: "a copy under its name '\(copy.name)' is whole", got: error)
      ]
    }
    guard let found = seen.contentHash, acked == nil || acked == found,
      timeline.label(of: found) != nil
    else {
      let label = seen.contentHash.flatMap { timeline.label(of: $0) } ?? "no version"
      return [
        Violation(
          .referenceModel, promised: "the copy '\(copy.name)' has the content of its version",
          got: "it has the content of \(label)")
      ]
    }
    return []
  }

  private func judge(
    _ place: DatabasePlace?, marksSeen: Int, ordinal: Int, foundBefore: UInt64? = nil
  ) -> [Violation] {
    let allowed = timeline.outcomes(marksSeen: marksSeen)
    guard let place else {
      var seen = RecoveredState()
      seen.isMissing = true
      return violations(seen, allowed)
    }
    // Before the engine opens the file, because that may change it.
    let sight = isXrayed(place, ordinal) ? place.bytes.map { XRaySight($0) } : nil
    var seen = recover(place, database)
    var found = violations(seen, allowed)
    if found.isEmpty, let foundBefore,
      let violation = DurabilityOracle.judge(seen, foundBefore: foundBefore)
    {
      found.append(violation)
    }
    if found.isEmpty, let sight, let violation = XRayOracle.judge(sight, seen) {
      found.append(violation)
    }
    guard found.isEmpty, options.usableEvery > 0, ordinal % options.usableEvery == 0,
      let version = seen.version, let contentHash = seen.contentHash
    else { return found }
    // A database created by this open is the empty one, whatever its version.
    let state =
      allowed.state(version: version, contentHash: contentHash) ?? allowed.acked
    seen.useError = use(place, state, version: version)
    if let violation = UsableOracle.judge(seen) { found.append(violation) }
    return found
  }

  /// The X-ray takes some hundred times as long as the engine's own reading of an image, because
  /// the engine has verified most nodes in earlier states: so large images get it less often.
  private static let bytesPerXray = 512

  func isXrayed(_ place: DatabasePlace, _ ordinal: Int) -> Bool {
    guard options.xrayEvery > 0 else { return false }
    return ordinal % max(options.xrayEvery, place.sizeBytes / Self.bytesPerXray) == 0
  }

  private func violations(_ seen: RecoveredState, _ allowed: AllowedOutcomes) -> [Violation] {
    [
      StructureOracle.judge(seen, allowed),
      DurabilityOracle.judge(seen, allowed),
      PrefixOracle.judge(seen, allowed),
      AtomicityOracle.judge(seen, allowed, timeline),
      ReferenceModelOracle.judge(seen, allowed, timeline),
    ].compactMap { $0 }
  }

  // MARK: - Observation

  /// Opens the database and reads it.
  private func recover(
    _ place: DatabasePlace, _ declaration: DatabaseDeclaration
  ) -> RecoveredState {
    var seen = RecoveredState()
    seen.isMissing = place.isMissing
    if seen.isMissing { return seen }
    let changes = place.changeCount
    let database: Database
    do throws(EngineError) { database = try place.open(declaration) } catch {
      seen.openError = "\(error)"
      return seen
    }
    seen.version = database.version.rawValue
    seen.wasCreated = place.changeCount != changes
    do throws(EngineError) {
      if options.verifies { try database.verify() }
      let snapshot = try database.snapshot()
      defer { snapshot.release() }
      seen.contentHash = try snapshot.contentHash()
    } catch {
      seen.damage = "\(error)"
    }
    do throws(EngineError) { try database.close() } catch { seen.damage = "close: \(error)" }
    return seen
  }

  /// The content that the engine finds in a file, encrypted or not; nil when it does not open.
  package func contentHash(of file: [UInt8]) -> UInt64? {
    let image = ImageBackend()
    image.load(file)
    return recover(.image(image), database).contentHash
  }

  /// Commits a sentinel row, reopens and checks.
  /// - Returns: The problem, in words.
  private func use(_ place: DatabasePlace, _ state: CommittedState, version: UInt64) -> String? {
    do throws(EngineError) {
      return try commitAndLook(place, state, version: version)
    } catch {
      return "\(error)"
    }
  }

  /// Commits a sentinel row.
  ///
  /// A separate function, so that the handle is released when it returns.
  private func commit(
    _ state: CommittedState, _ place: DatabasePlace, _ table: TableDeclaration
  ) throws(EngineError) -> UInt64 {
    let database = try place.open(self.database)
    let committed = try Sentinel.commit(state.sentinels, to: database, table)
    if options.verifies { try database.verify() }
    try database.close()
    return committed
  }

  /// Commits a sentinel row, reopens and checks.
  /// - Returns: The deviation, in words.
  /// - Throws: `EngineError` when the engine reports a failure itself.
  func commitAndLook(
    _ place: DatabasePlace, _ state: CommittedState, version: UInt64
  ) throws(EngineError) -> String? {
    guard let table, let expected = state.hashWithSentinel else { return nil }
    let committed = try commit(state, place, table)
    guard committed == version + 1 else {
      return "the commit after version \(version) became version \(committed)"
    }
    let reopened = try place.open(self.database)
    guard reopened.version.rawValue == committed else {
      return "version \(committed) was acknowledged, and opened again it is "
        + "\(reopened.version.rawValue)"
    }
    let snapshot = try reopened.snapshot()
    let contentHash = try snapshot.contentHash()
    snapshot.release()
    try reopened.close()
    return contentHash == expected
      ? nil : "opened again, the content is not the recovered one and the new row"
  }
}

/// The location of a check's database.
enum DatabasePlace {
  case image(ImageBackend)
  case path(String)

  /// The image may be of an unfinished creation, unless it was a database before.
  func open(
    _ declaration: DatabaseDeclaration, createsImage: Bool = true
  ) throws(EngineError) -> Database {
    switch self {
    case .image(let backend):
      return try Database.open(
        backend: backend, options: declaration.options(createsMissing: createsImage))
    case .path(let path):
      return try Database.open(path: path, options: declaration.options(createsMissing: false))
    }
  }

  var isMissing: Bool {
    switch self {
    case .image: false
    case .path(let path): !FileManager.default.fileExists(atPath: path)
    }
  }

  /// The file's size; 0 when there is no file.
  var sizeBytes: Int {
    switch self {
    case .image(let backend): backend.size
    case .path(let path):
      (try? FileManager.default.attributesOfItem(atPath: path)[.size]) as? Int ?? 0
    }
  }

  /// The file's bytes; nil when there is no file.
  var bytes: [UInt8]? {
    switch self {
    case .image(let backend): backend.bytes
    case .path(let path): FileManager.default.contents(atPath: path).map { Array($0) }
    }
  }

  var changeCount: Int {
    if case .image(let backend) = self { backend.changeCount } else { 0 }
  }
}

// MARK: - Crashes during recovery

/// The recording of a recovery, and the check that judges crashes during it.
package struct RecoveryRun: Sendable {
  /// The operations of the recovery and the first commit after it, starting at the crash image.
  public let trace: Trace
  /// Judges the crash states of that trace.
  public let check: EngineCheck
}

extension EngineCheck {
  /// Inode of the database file in the trace of a recovery.
  public static let recoveryInode = InodeNumber(rawValue: 2)

  /// Records recovery and the first commit after it, from a crash image that the oracles accept.
  ///
  /// The trace's tree has `data.realm` in its root directory, durable as the crash left it.
  /// - Parameters:
  ///   - image: The database file, loaded. The recording changes the backend's copy.
  ///   - marksSeen: Number of marks before the first crash.
  ///   - recordsCallStacks: Whether the trace has the call stack of each call.
  /// - Returns: The run; nil when the image already breaks a promise, or has no database.
  package func recoveryRun(
    _ image: ImageBackend, marksSeen: Int, recordsCallStacks: Bool = false
  ) -> RecoveryRun? {
    let allowed = timeline.outcomes(marksSeen: marksSeen)
    guard let table else { return nil }
    var initial = TreeImage()
    var file = InodeImage(type: .regular, ownership: Ownership(mode: 0o644))
    let bytes = image.bytes
    file.sizeBytes = UInt64(bytes.count)
    file.extents = Extent.pieces(of: bytes, at: 0)
    initial.inodes[Self.recoveryInode] = file
    initial.inodes[.root]?.entries[FileName(DatabaseFile.name)] = Self.recoveryInode
    let changes = image.changeCount
    image.startRecording(Self.recoveryInode, recordsCallStacks: recordsCallStacks)
    let phases = PhaseAnnouncer { image.recordPhase($0) }
    do throws(EngineError) {
      let database = try Database.open(
        backend: image, options: self.database.options(announcing: phases))
      let existed = image.changeCount == changes
      let version = database.version.rawValue
      image.record(AckLog.Entry.recovered(version: version).mark)
      let snapshot = try database.snapshot()
      let contentHash = try snapshot.contentHash()
      snapshot.release()
      let found =
        allowed.state(version: version, contentHash: contentHash)
        ?? (allowed.mustExist || allowed.acked.contentHash != contentHash
          ? nil : allowed.acked.numbered(version))
      guard let state = found else {
        _ = image.endRecording(from: initial)
        return nil
      }
      image.record(AckLog.Entry.begin(sentinelNumber).mark)
      let committed = try Sentinel.commit(state.sentinels, to: database, table)
      phases.end()
      image.record(AckLog.Entry.commit(sentinelNumber, version: committed).mark)
      try database.close()
      let timeline = OutcomeTimeline(
        recoveryOf: state, existed: existed, sentinelNumber: sentinelNumber)
      return RecoveryRun(
        trace: image.endRecording(from: initial),
        check: EngineCheck(timeline, of: self))
    } catch {
      _ = image.endRecording(from: initial)
      return nil
    }
  }
}
