// Explanation.swift: describes a crash state in sentences: what was lost, which event shows that it
// should have been durable, and which sync was missing in between.
// Invariant: depends only on trace, model and state; the same state has the same text every time.

import LabCore
import Recording

/// A crash state in sentences.
public struct Explanation: Sendable, Hashable {
  /// One lost operation, or the lost part of one.
  public struct Loss: Sendable, Hashable {
    /// Index of the operation's event.
    public let event: Int
    /// The operation in words.
    public let text: String
    /// The file, or the directory whose entries changed.
    public let inode: InodeNumber
    /// Its path.
    public let path: String
    /// True when names were lost, which an fsync of the directory would have secured.
    public let isDirectoryEntry: Bool
  }

  /// What was lost, in order of events.
  public let losses: [Loss]
  /// The loss that the other fields explain.
  public let cause: Loss?
  /// Later event that survived, or was acknowledged.
  public let laterEvent: Int?
  /// The sentence about it.
  public let disorder: String?
  /// The sync that was missing; nil when none would have helped.
  public let missing: MissingSync?
  /// The sentence that explains why no sync would have helped.
  public let unpreventable: String?
  /// Syncs in between that faults disabled.
  public let brokenSyncs: [String]

  /// The sentence that names the missing sync.
  public var missingSync: String? { missing?.sentence }

  /// All sentences in reading order.
  public var sentences: [String] {
    losses.map { "Event #\($0.event) was lost: \($0.text)." }
      + [disorder, missingSync, unpreventable].compactMap { $0 } + brokenSyncs
  }
}

/// Explains crash states of one trace.
public struct Explainer: Sendable {
  private let table: UnitTable
  private let index: PathIndex

  /// Prepares to explain states of a table's trace.
  public init(table: UnitTable) {
    self.table = table
    index = PathIndex(table.trace)
  }

  /// Describes what a state lost and what should have been synced; best for a minimized state.
  /// - Parameters:
  ///   - state: A state of the table.
  ///   - cause: Event of the relevant loss; nil takes the first.
  ///   - mark: Event of the premature acknowledgement; nil takes whatever survived first.
  /// - Returns: The sentences, in parts.
  public func explain(_ state: CrashState, cause: Int? = nil, mark: Int? = nil) -> Explanation {
    var lost = state.lost
    if let torn = state.torn { lost = (lost + [torn.unit]).sorted() }
    let losses = losses(of: state)
    guard let first = losses.first(where: { $0.event == cause }) ?? losses.first else {
      return Explanation(
        losses: [], cause: nil, laterEvent: nil, disorder: nil, missing: nil, unpreventable: nil,
        brokenSyncs: [])
    }
    let later = mark ?? laterEvent(than: first.event, lost: Set(lost), before: state.crashPoint)
    return Explanation(
      losses: losses, cause: first, laterEvent: later, disorder: later.map { disorder($0) },
      missing: later.map { missingSync(first, of: losses, before: $0) },
      unpreventable: later == nil ? unpreventable(first.event, state) : nil,
      brokenSyncs: brokenSyncs(from: losses[0].event, before: state.crashPoint, lost: lost))
  }

  /// What a state lost, event by event, including a torn write.
  package func losses(of state: CrashState) -> [Explanation.Loss] {
    let torn = state.torn
    var byEvent: [Int: [Int]] = [:]
    for unit in (state.lost + (torn.map { [$0.unit] } ?? [])).sorted() {
      byEvent[table.units[unit].event, default: []].append(unit)
    }
    return byEvent.sorted { $0.key < $1.key }.map { event, units in
      let all = table.units(ofEvent: event)
      var text = describe(event)
      if let torn, units.contains(torn.unit) {
        text += tornText(torn)
      } else if units.count < all.count {
        text += " (of it: \(units.map(partText).joined(separator: ", ")))"
      }
      let isEntry = units.allSatisfy { isEntryOnly(table.units[$0]) }
      let inode = subject(units[0], isEntry: isEntry)
      return Explanation.Loss(
        event: event, text: text, inode: inode, path: index.path(of: inode, at: event + 1),
        isDirectoryEntry: isEntry)
    }
  }

  private func isEntryOnly(_ unit: PendingUnit) -> Bool {
    unit.effects.allSatisfy { effect in
      switch effect {
      case .setEntry, .removeEntry: true
      default: false
      }
    }
  }

  private func tornText(_ torn: TornWrite) -> String {
    guard case .data(_, let offset, _, let slice)? = table.units[torn.unit].effects.first else {
      return ""
    }
    let sectors = TornWrite.sectorCount(offsetBytes: offset, countBytes: slice.count)
    let rest =
      switch torn.rest {
      case .old: "what was there before"
      case .zeros: "zeros"
      case .garbage: "garbage"
      }
    return " (torn at \(offset): \(torn.keptSectors.count) of \(sectors) sectors arrived, the rest "
      + "holds \(rest))"
  }

  private func partText(_ unit: Int) -> String {
    let parts = table.units[unit].effects.map { effect in
      switch effect {
      case .data(_, let offset, _, let slice): "\(slice.count) bytes at \(offset)"
      case .size(_, let size): "the new size \(size)"
      case .zero: "the zeros"
      case .setEntry(_, let name, _): "the name '\(name)'"
      case .removeEntry(_, let name): "the removal of the name '\(name)'"
      case .ownership: "the ownership"
      case .extendedAttribute(_, let name, _): "the attribute '\(name)'"
      case .modificationTime: "the modification time"
      }
    }
    return parts.joined(separator: " and ")
  }

  /// The inode on which a sync would have to be called.
  private func subject(_ unit: Int, isEntry: Bool) -> InodeNumber {
    for effect in table.units[unit].effects {
      switch effect {
      case .setEntry, .removeEntry: if isEntry { return effect.syncedInode }
      default: return effect.syncedInode
      }
    }
    return .root
  }

  // MARK: Disorder

  /// The first later event that survived a loss before it: an acknowledged mark, or an operation of
  /// which something was kept.
  private func laterEvent(than event: Int, lost: Set<Int>, before crashPoint: Int) -> Int? {
    var at = event + 1
    while at < crashPoint {
      if case .mark = table.trace.events[at].body { return at }
      if table.units(ofEvent: at).contains(where: { !lost.contains($0) }) { return at }
      at += 1
    }
    return nil
  }

  private func disorder(_ event: Int) -> String {
    if case .mark(let mark) = table.trace.events[event].body {
      let text = mark.text.split(whereSeparator: \.isNewline).first ?? ""
      return "Event #\(event), issued later, had been acknowledged: '\(text.prefix(80))'."
    }
    return "Event #\(event), issued later, survived: \(describe(event))."
  }

  /// Why no sync prevents a state in which nothing later survived and nothing was acknowledged: a
  /// program can call a sync only after the operation has ended.
  private func unpreventable(_ event: Int, _ state: CrashState) -> String {
    let isTorn = state.torn.map { table.units[$0.unit].event == event } ?? false
    let lost = Set(state.lost)
    guard isTorn || table.units(ofEvent: event).contains(where: { !lost.contains($0) }) else {
      return "Nothing later survived, so a crash before event #\(event) leaves the same: no sync "
        + "keeps it from happening."
    }
    return "Event #\(event) survived in part, and nothing later did: no sync keeps a crash out of "
      + "the middle of one operation. Write elsewhere and rename, or add a log or checksums."
  }

  private func missingSync(
    _ cause: Explanation.Loss, of losses: [Explanation.Loss], before later: Int
  ) -> MissingSync {
    let covered = losses.filter {
      $0.event < later && $0.inode == cause.inode && $0.isDirectoryEntry == cause.isDirectoryEntry
    }
    return MissingSync(
      after: covered.last?.event ?? cause.event, before: later, inode: cause.inode,
      path: cause.path, isDirectory: cause.isDirectoryEntry,
      needsFullSync: covered.contains { needsFullSync($0.event) })
  }

  private func needsFullSync(_ event: Int) -> Bool {
    guard case .operation(let operation) = table.trace.events[event].body else { return false }
    switch operation {
    case .setOwnership, .setExtendedAttribute, .setTimes: return true
    default: return false
    }
  }

  private func brokenSyncs(from first: Int, before crashPoint: Int, lost: [Int]) -> [String] {
    var concerned: Set<InodeNumber> = []
    for unit in lost {
      for effect in table.units[unit].effects { concerned.insert(effect.syncedInode) }
    }
    return (first..<crashPoint).compactMap { at in
      let event = table.trace.events[at]
      guard case .operation(let operation) = event.body, operation.isSync,
        operation.isSyncOfAll || concerned.contains(operation.inode)
      else { return nil }
      if event.flags.contains(.ignored) {
        return "Sync #\(at) (\(describe(at))) was acknowledged and ignored: injected."
      }
      if event.flags.contains(.failed) {
        return "Sync #\(at) (\(describe(at))) failed: injected; no later sync repeats its writes."
      }
      return nil
    }
  }

  /// Which sync is missing where: equal for states with one cause; nil when nothing was lost.
  ///
  /// Of names, one sync of the directory mends whatever overtook them. Of contents, what overtook
  /// them says which sync of the file it is.
  ///
  /// - Parameters:
  ///   - explanation: The state's.
  ///   - later: The event that counts as what overtook the contents; nil is the state's own.
  /// - Returns: The cause, in words without what differs from one time to the next.
  package func rootCause(_ explanation: Explanation, before later: Int? = nil) -> String? {
    guard let cause = explanation.cause else { return nil }
    let what = place(of: cause.event)
    let path = cause.path.withRandomPartsReplaced
    let later = later ?? explanation.laterEvent
    if cause.isDirectoryEntry, later != nil { return names(in: path, what) }
    return "\(cause.isDirectoryEntry ? "names" : "content"): \(what) before "
      + (later.map { place(of: $0) } ?? "the crash")
  }

  /// The events before which a sync of the lost contents would have kept the state from happening,
  /// too: those of another kind between the loss and what overtook it, each kind once, in order.
  ///
  /// Where one of them overtook the same contents in another state, one sync mends both.
  package func earlierPlaces(_ explanation: Explanation) -> [Int] {
    guard let missing = explanation.missing, !missing.isDirectory else { return [] }
    var kinds: Set<String> = [place(of: missing.before)]
    var events: [Int] = []
    for event in missing.after + 1..<max(missing.after + 1, missing.before)
    where !isSync(event) {
      if events.count == Self.earlierPlacesMax { break }
      if kinds.insert(place(of: event)).inserted { events.append(event) }
    }
    return events
  }

  /// The events behind what overtook lost contents, before which a sync of the file would still
  /// have kept the state from happening, since the crash came later; whether the same losses fail
  /// with an earlier crash is not known here.
  ///
  /// - Parameters:
  ///   - explanation: The state's.
  ///   - crashPoint: The state's crash point.
  /// - Returns: One event for each kind.
  package func laterPlaces(_ explanation: Explanation, before crashPoint: Int) -> [Int] {
    guard let missing = explanation.missing, !missing.isDirectory else { return [] }
    var kinds: Set<String> = [place(of: missing.before)]
    var events: [Int] = []
    for event in missing.before + 1..<max(missing.before + 1, crashPoint) where !isSync(event) {
      if events.count == Self.laterPlacesMax { break }
      if kinds.insert(place(of: event)).inserted { events.append(event) }
    }
    return events
  }

  /// Whether an event is a sync or a close: it overtakes nothing.
  private func isSync(_ event: Int) -> Bool {
    guard case .operation(let operation) = table.trace.events[event].body else { return false }
    if case .close = operation { return true }
    return operation.isSync
  }

  /// The operations on other names of the directory behind which its sync would still have kept a
  /// lost name: those up to the next acknowledgement, and at least one operation before the crash.
  ///
  /// - Parameters:
  ///   - explanation: The state's.
  ///   - crashPoint: The state's crash point.
  /// - Returns: One event for each kind, in order.
  package func sharedPlaces(_ explanation: Explanation, before crashPoint: Int) -> [Int] {
    guard let cause = explanation.cause, let missing = explanation.missing, missing.isDirectory
    else { return [] }
    let marked = (cause.event..<max(cause.event, crashPoint - 1)).first { event in
      if case .mark = table.trace.events[event].body { true } else { false }
    }
    let end = max(missing.before, marked ?? crashPoint - 1)
    var kinds: Set<String> = [place(of: cause.event)]
    var events: [Int] = []
    for event in cause.event + 1..<max(cause.event + 1, end) {
      if events.count == Self.earlierPlacesMax { break }
      let isOfDirectory = table.units(ofEvent: event).contains { unit in
        table.units[unit].effects.contains { effect in
          switch effect {
          case .setEntry, .removeEntry: effect.syncedInode == missing.inode
          default: false
          }
        }
      }
      if isOfDirectory, kinds.insert(place(of: event)).inserted { events.append(event) }
    }
    return events
  }

  /// The cause of another lost name in the directory of a state's cause.
  package func rootCause(_ explanation: Explanation, ofName event: Int) -> String? {
    explanation.cause.map { names(in: $0.path.withRandomPartsReplaced, place(of: event)) }
  }

  private func names(in directory: String, _ what: String) -> String {
    "names in '\(directory)': \(what)"
  }

  private static let earlierPlacesMax = 32
  private static let laterPlacesMax = 6

  /// An event without what differs from one time to the next.
  private func place(of event: Int) -> String {
    guard case .operation(let operation) = table.trace.events[event].body else {
      return "an acknowledgement"
    }
    return operation.place(at: event, paths: index, end: table.trace.events.count)
  }

  /// An event's operation in words.
  public func describe(_ event: Int) -> String {
    switch table.trace.events[event].body {
    case .mark(let mark): "mark '\(mark.text)'"
    case .operation(let operation): operation.sentence(at: event, paths: index)
    }
  }
}
