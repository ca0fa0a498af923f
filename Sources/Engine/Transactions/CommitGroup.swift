// CommitGroup.swift: commits that share two syncs. A member stages its version, on top of the
// member before it, and passes its turn on to the next thread that waits with the same handle; a
// member that finds no such thread seals the last version, and all members are acknowledged or fail
// together. Invariants: no staged version is published, pinned or led to by a slot; only the last
// one gets a slot. The slot of the current root is never written, so the last version has the other
// parity: if necessary an empty version is staged to get the right number. A member that cancels or
// fails drops its own changes and leaves the group to the members before it. A failed sync, or a
// full disk while the group is sealed, fails every member: their versions were built on each other.
// A failed sync poisons all handles, as without a group.

import Synchronization

/// Versions that are staged and not durable.
struct CommitGroup: Sendable {
  /// Members at most, and for how long a group takes new ones: an acknowledged commit waits for
  /// them.
  static let memberCountMax = 256
  static let ageMillisecondsMax: UInt64 = 20

  /// The version that is current on the medium.
  let durable: VersionState
  let startedAt: UInt64
  /// The version staged last, with its space.
  var staged: VersionState
  var space: Database.WriterSpace
  var members: [CommitGroupMember] = []
}

/// A commit that waits for its group.
final class CommitGroupMember: Sendable {
  private let outcome = Mutex<EngineError?>(nil)
  private let flag = FutexWord()
  /// The handle that pins the group's version; nil when the member needs no pin.
  private let holder: Database?
  private let held = Mutex<(VersionState, Pin)?>(nil)

  init(holder: Database? = nil) { self.holder = holder }

  /// Pins the version that was published just now; no other commit can happen meanwhile.
  private func hold() {
    guard let holder else { return }
    do throws(EngineError) {
      let pinned = try holder.pinNewest()
      held.withLock { $0 = pinned }
    } catch {
      // The commit is valid; a caller that needs a snapshot pins one later and gets the error then.
      held.withLock { $0 = nil }
    }
  }

  /// The pinned version, once.
  func takeHeld(_ database: Database) -> Snapshot? {
    held.withLock { held in
      defer { held = nil }
      return held.map { Snapshot(database, $0.0, $0.1) }
    }
  }

  /// Sets the outcome of the group; nil means success.
  func settle(_ error: EngineError?) {
    if error == nil { hold() }
    outcome.withLock { $0 = error }
    flag.raise()
  }

  /// Waits for the group's end.
  func wait(under schedule: ScheduleHook?) throws(EngineError) {
    _ = flag.wait(until: Deadline(milliseconds: nil), for: .group, under: schedule)
    if let error = outcome.withLock({ $0 }) { throw error }
  }
}

extension Database {
  /// The version that the next transaction builds on, when it is a staged one.
  var stagedBase: VersionState? { state.withLock { $0.group?.staged } }

  /// Adds a staged version to the group, or begins one with it.
  func addToGroup(
    _ result: CommitResult, base: VersionState, isHeld: Bool = false
  ) -> CommitGroupMember {
    let member = CommitGroupMember(holder: isHeld ? self : nil)
    let space = WriterSpace(
      version: result.state.version, map: result.space, fileSizeBytes: result.fileSizeBytes)
    let now = session.now()
    session.schedule?.reach(.joinGroup)
    state.withLock { state in
      var group =
        state.group
        ?? CommitGroup(durable: base, startedAt: now, staged: result.state, space: space)
      group.staged = result.state
      group.space = space
      group.members.append(member)
      state.group = group
    }
    return member
  }

  /// Passes the turn on to a thread that can join the group; false when the group must be sealed.
  func passOnGroup() -> Bool {
    guard options.groupedCommits else { return false }
    session.schedule?.reach(.passOnGroup)
    let now = session.now()
    let takesMore = state.withLock { state in
      guard let group = state.group, state.poison == nil else { return false }
      return group.members.count < CommitGroup.memberCountMax
        && now - group.startedAt < CommitGroup.ageMillisecondsMax
    }
    return takesMore && session.writerLock.passOn(to: ObjectIdentifier(self))
  }

  /// Seals the group, if there is one, and reports the outcome to its members.
  func settleGroup() {
    session.schedule?.reach(.sealGroup)
    let taken = state.withLock { state in (state.group, state.poison) }
    guard var group = taken.0 else { return }
    var failure = taken.1
    if failure == nil {
      do throws(CommitFailure) {
        try balance(&group)
        let writer = CommitWriter(
          backend: backend, base: group.durable, settings: try sealSettings(of: group))
        try writer.seal(group.staged.slot, over: group.durable.slot)
        giveTailBack(of: &group, writer)
      } catch {
        if error.poisons { poison(error.error) }
        failure = error.error
      }
    }
    state.withLock { $0.group = nil }
    if failure == nil { finish(group.staged, group.space) }
    publication.writer = nil
    if failure == nil { session.note.announce() }
    for member in group.members { member.settle(failure) }
  }

  private func sealSettings(
    of group: CommitGroup
  ) throws(CommitFailure) -> CommitSettings {
    do throws(EngineError) {
      var settings = try commitSettings(for: group.durable)
      settings.tailFloorBytes = tailFloorBytes()
      return settings
    } catch { throw CommitFailure(error: error, poisons: false) }
  }

  private func giveTailBack(of group: inout CommitGroup, _ writer: CommitWriter) {
    let (newest, sizeBytes) = writer.giveTailBack(
      behind: group.staged, fileSizeBytes: group.space.fileSizeBytes)
    group.staged = newest
    group.space = WriterSpace(
      version: group.space.version, map: group.space.map, fileSizeBytes: sizeBytes)
  }

  /// Makes the last version one whose slot is not the current root's.
  private func balance(_ group: inout CommitGroup) throws(CommitFailure) {
    guard group.staged.slot.index == group.durable.slot.index else { return }
    let unchanged = WriteTransaction(self, group.staged).handOut()
    var settings = try sealSettings(of: group)
    settings.isBaseDurable = false
    let result = try CommitWriter(
      backend: backend, base: group.staged, settings: settings
    ).stage(
      unchanged.tables, releasing: unchanged.writer, space: group.space.map,
      fileSizeBytes: group.space.fileSizeBytes)
    group.staged = result.state
    group.space = WriterSpace(
      version: result.state.version, map: result.space, fileSizeBytes: result.fileSizeBytes)
  }
}
