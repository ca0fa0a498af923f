// EngineCheck+Media.swift: opens a file that the medium damaged, reads all of it, verifies it and
// commits to it, each step regardless of the previous one's result, and lets the oracle judge.

import Engine
import Findings
import LabCore
import Workload

extension EngineCheck {
  /// A damaged file of the run.
  package struct DamagedFile {
    /// Its path.
    let path: String
    /// The newest version before the damage, as the X-ray found it.
    let version: UInt64
    /// Number of marks before the file was at rest.
    let marksSeen: Int
    /// The number of versions by which it may go back.
    let versionsBack: Int
    /// Whether the damage is within the fault budget.
    let isUsable: Bool
    /// The damage in words.
    let damage: String

    package init(
      path: String,
      version: UInt64,
      marksSeen: Int,
      versionsBack: Int,
      isUsable: Bool,
      damage: String
    ) {
      self.path = path
      self.version = version
      self.marksSeen = marksSeen
      self.versionsBack = versionsBack
      self.isUsable = isUsable
      self.damage = damage
    }
  }

  /// Files whose content a check of the plan knows: the database and its copies.
  package static func knownFiles(of plan: WorkloadPlan) -> [String] {
    [DatabaseFile.name] + plan.commands.compactMap(\.action.copy?.fileName)
  }

  /// Judges a damaged file.
  /// - Parameters:
  ///   - image: The file with the damage, loaded. The check writes to the backend's copy.
  ///   - file: The expectations for it.
  ///   - ordinal: The state's number, for `Options.xrayEvery`.
  /// - Returns: How the database handled it, and the broken promises.
  /// - Throws: `LabError` with code `.lab` for a file with unknown content.
  package func judge(
    _ image: ImageBackend, _ file: DamagedFile, ordinal: Int
  ) throws(LabError) -> (verdict: MediaVerdict, violations: [Violation]) {
    let (promise, declaration) = try promise(of: file)
    let place = DatabasePlace.image(image)
    // Before the engine opens the file, because that may change it.
    let xray = isXrayed(place, ordinal) ? place.bytes.map { XRaySight($0) } : nil
    let sight = look(at: place, image, declaration, promise)
    var violations = [MediaOracle.judge(sight, promise)].compactMap { $0 }
    if violations.isEmpty, let xray, let other = XRayOracle.judge(xray, sight.recovered) {
      violations.append(
        Violation(other.oracle, promised: other.promised, got: "\(other.got): \(file.damage)"))
    }
    return (violations.isEmpty ? MediaOracle.verdict(sight, promise) : .broken, violations)
  }

  private func promise(
    of file: DamagedFile
  ) throws(LabError) -> (MediaPromise, DatabaseDeclaration) {
    let outcomes = timeline.outcomes(marksSeen: file.marksSeen)
    func made(_ newest: CommittedState, _ others: [CommittedState]) -> MediaPromise {
      MediaPromise(
        newest: newest, allowed: [newest] + others, isUsable: file.isUsable, damage: file.damage)
    }
    if file.path == DatabaseFile.name {
      let older = timeline.acknowledged(marksSeen: file.marksSeen).filter {
        $0.version < outcomes.acked.version
          && outcomes.acked.version - $0.version <= UInt64(file.versionsBack)
      }
      return (made(outcomes.acked, outcomes.candidates + older), database)
    }
    guard let copy = copies.first(where: { $0.fileName == file.path }),
      let hash = outcomes.copies[copy.name]
    else {
      throw .lab("nothing in '\(file.path)' was acknowledged; let 'files' choose others")
    }
    let state = CommittedState(
      transaction: nil, version: file.version, sentinels: 0, hashes: [hash])
    return (made(state, []), database.of(copy))
  }

  private func look(
    at place: DatabasePlace, _ image: ImageBackend, _ declaration: DatabaseDeclaration,
    _ promise: MediaPromise
  ) -> MediaSight {
    var sight = MediaSight()
    let changes = image.changeCount
    do throws(EngineError) {
      // It was a database, so a program would not let an open create a new one.
      let opened = try place.open(declaration, createsImage: false)
      sight.version = opened.version.rawValue
      sight.wasCreated = image.changeCount != changes
      // Reading comes first, so that it must detect damage by itself.
      do throws(EngineError) {
        let snapshot = try opened.snapshot()
        defer { snapshot.release() }
        sight.contentHash = try snapshot.contentHash()
      } catch { sight.readError = "\(error)" }
      do throws(EngineError) { try opened.verify() } catch { sight.verifyError = "\(error)" }
      try opened.close()
    } catch {
      sight.openError = "\(error)"
      return sight
    }
    guard let version = sight.version,
      let state = promise.allowed.first(where: {
        $0.version == version && $0.contentHash == sight.contentHash
      })
    else { return sight }
    do throws(EngineError) {
      sight.useFault = try commitAndLook(place, state, version: version)
    } catch { sight.useError = "\(error)" }
    return sight
  }
}
