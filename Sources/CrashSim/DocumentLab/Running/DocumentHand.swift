// DocumentHand.swift: [U] one process of a scenario on documents: it has the data file open and
// does the steps that it is given. What the store takes from outside is fixed: UUIDs, time.
// Safety: the one @unchecked type says which signal comes before which access.

import DocumentStore
import Fleece
import Foundation
import LabCore
import Workload

/// What came of a step.
package enum DocumentAnswer: Sendable, Hashable {
  case done
  /// An error with its code.
  case failed(code: String, text: String)
  /// What the step found is not what the scenario says.
  case wrong(DocumentPromise, String)
  /// The process ended.
  case gone(ProcessEnding)
}

/// A process that does steps.
package protocol DocumentActor: AnyObject {
  /// Does one step.
  func perform(_ index: Int) throws(LabError) -> DocumentAnswer
  /// Opens the file again and finds the commit after which the contents are those of the file.
  func settle(_ commits: ClosedRange<Int>) throws(LabError) -> DocumentAnswer
  /// The commit that `settle` found.
  var settled: Int { get }
}

/// Steps done in this process.
package final class DocumentHand: DocumentActor {
  /// The bundle's name in the directory.
  package static let bundle = "documents.cblite2"

  private let plan: DocumentPlan
  private let path: String
  private var file: DataFile?
  private var held: HeldSnapshot?
  private var watch: DocumentWatch?
  /// Called within a write transaction, when nothing but its commit is left to do.
  var willCommit: (() -> Void)?
  /// What the last step saw.
  var observation: DocumentObservation?
  /// Commits up to here are known to be there.
  package private(set) var commit = 0
  /// What `settle` found.
  package private(set) var settled = 0

  /// A hand that has opened nothing.
  package init(_ plan: DocumentPlan, directory: String) {
    self.plan = plan
    path = "\(directory)/\(Self.bundle)"
  }

  /// The time of data files.
  static let nowMilliseconds: Int64 = 1_700_000_000_000

  /// How the lab opens data files.
  package static func options(_ sync: DocumentDeclaration.Sync) -> DataFile.Options {
    var options = DataFile.Options()
    options.sync = sync == .full ? .full : .normal
    options.entropy = { [UInt8](repeating: 7, count: $0) }
    options.nanoseconds = { UInt64(nowMilliseconds) * 1_000_000 }
    options.purgesExpiredOnOpen = false
    return options
  }

  /// Opens a data file, with the lab's model.
  package static func open(
    _ path: String, _ sync: DocumentDeclaration.Sync, purging: Bool = false
  ) throws -> DataFile {
    var options = options(sync)
    options.purgesExpiredOnOpen = purging
    let file = try DataFile(path: path, options: options)
    file.setModel(DocumentMachine.model, named: DocumentMachine.name)
    return file
  }

  private func opened() throws -> DataFile {
    if let file { return file }
    let opened = try Self.open(path, plan.declaration.sync)
    file = opened
    return opened
  }

  package func perform(_ index: Int) throws(LabError) -> DocumentAnswer {
    guard plan.units.indices.contains(index) else {
      throw .internalError("no step \(index) in a plan of \(plan.units.count)")
    }
    return perform(plan.units[index])
  }

  /// Does one step, of the run or before it.
  package func perform(_ unit: DocumentUnit) -> DocumentAnswer {
    do {
      let wrong = try act(unit.step)
      if let wrong { return .wrong(wrong.promise, wrong.text) }
      if let number = unit.commit { commit = number }
      return .done
    } catch {
      let found = error as? DocumentStoreError
      return .failed(code: found?.code.rawValue ?? "other", text: "\(error)")
    }
  }

  package func settle(_ commits: ClosedRange<Int>) throws(LabError) -> DocumentAnswer {
    do {
      held?.end()
      held = nil
      try? file?.close()
      file = nil
      _ = try opened()
      let lines = try DocumentSight(bundle: path).lines
      guard let found = commits.last(where: { plan.lines[$0] == lines }) else {
        let near = plan.lines[commits.lowerBound]
        return .wrong(
          .atomic,
          "after a failure the contents are of no commit in \(commits.lowerBound)..."
            + "\(commits.upperBound): \(DocumentDifference.text(lines, near))")
      }
      settled = found
      return .done
    } catch {
      let found = error as? DocumentStoreError
      return .failed(code: found?.code.rawValue ?? "other", text: "\(error)")
    }
  }

  private struct Wrong {
    let promise: DocumentPromise
    let text: String
  }

  /// Does a step; returns what it found wrong.
  private func act(_ step: DocumentStep) throws -> Wrong? {
    switch step.action {
    case .open: _ = try opened()
    case .openAndPurge:
      try close()
      file = try Self.open(path, plan.declaration.sync, purging: true)
    case .look(let isSplit):
      let look = DocumentLook(collection: step.collection, properties: plan.indexed)
      let (seen, problem) = try look.observe(try opened(), isSplit: isSplit)
      observation = seen
      if let problem { return Wrong(promise: .snapshots, text: problem) }
    case .watch(let property):
      let begun = try DocumentWatch(property, in: step.collection, try opened())
      try watch?.close()
      watch = begun
      observation = try begun.refresh()
    case .refresh: observation = try watch?.refresh()
    case .increment(let id, let name, let isBlind):
      try increment(id, by: name, isBlind, step.collection)
    case .close: try end()
    case .compact: try opened().compact()
    case .reindex: try opened().reindex()
    case .purgeExpired(let now): try opened().purgeExpired(nowMilliseconds: now)
    case .hold: held = HeldSnapshot(try opened())
    case .release:
      guard let held else { return nil }
      self.held = nil
      if let difference = held.end() { return Wrong(promise: .snapshots, text: difference) }
    case .query(let property, let value, let finds):
      let ids = try opened().read { snapshot in
        try DocumentQueries.ids(where: property, equals: value, in: step.collection, snapshot)
      }
      guard ids.sorted() == finds.sorted() else {
        return Wrong(
          promise: .valueIndexes,
          text: "a query finds \(ids.sorted()), and the documents are \(finds.sorted())")
      }
    case .plant(let sql): try PlantedSQL.run(sql, bundle: path, closing: { try close() })
    case .plantLostBlob(let id): try loseBlob(of: id, in: step.collection)
    case .transaction(let steps, let cancels):
      do {
        try opened().write { transaction in
          for inner in steps { try change(inner, transaction) }
          if cancels { throw Cancelled() }
          willCommit?()
        }
      } catch is Cancelled {
        return nil
      }
    default:
      try opened().write { transaction in
        try change(step, transaction)
        willCommit?()
      }
    }
    return nil
  }

  /// Reads a number, and saves the next one on the revision that was read.
  private func increment(
    _ id: String, by actor: String, _ isBlind: Bool, _ collection: String
  ) throws {
    let name = try DocumentNames.collection(collection)
    while true {
      let (number, revision) = try opened().read { snapshot in
        let document = try snapshot.collection(name).document(id)
        let json = try document?.record.body.map { try snapshot.json(of: $0) } ?? "{}"
        let pairs = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
        return (Int64(pairs?[DocumentModel.counted] as? Int ?? 0), document?.current?.id)
      }
      do {
        try opened().write { transaction in
          let store = try transaction.collection(name)
          let parent = isBlind ? try store.document(id)?.current?.id : revision
          let body = DocumentModel.counting(number + 1, by: actor).json
          try store.save(id, body: transaction.encode(json: body), parent: parent)
          willCommit?()
        }
        return
      } catch let error as DocumentStoreError where error.code == .conflict {
        // Another writer was faster, so its revision is read; it made progress, so this ends.
        continue
      }
    }
  }

  private struct Cancelled: Error {}

  /// Opens the file, and closes it.
  package func recover() throws {
    _ = try opened()
    try end()
  }

  /// Closes the file, if it is open.
  /// - Returns: How a snapshot changed that was held until now; nil when it did not.
  @discardableResult
  package func end() throws -> String? {
    let difference = held?.end()
    held = nil
    try close()
    return difference
  }

  /// Opens the file.
  func open() throws { _ = try opened() }

  /// The result of the live query now; nil without one.
  func lastRefresh() throws -> DocumentObservation? { try watch?.refresh() }

  private func close() throws {
    try watch?.close()
    watch = nil
    try file?.close()
    file = nil
  }

  private func loseBlob(of id: String, in collection: String) throws {
    guard let document = plan.states[commit].document(id, collection),
      case .text(let text)? = document.body["blob"]?["digest"]
    else { return }
    let name = String(text.dropFirst("sha1-".count)).replacing("/", with: "_") + ".blob"
    try FileManager.default.removeItem(atPath: "\(path)/Attachments/\(name)")
  }

  /// Makes one change within a transaction.
  private func change(_ step: DocumentStep, _ transaction: WriteTransaction) throws {
    let name = try DocumentNames.collection(step.collection)
    if case .deleteCollection = step.action {
      try transaction.deleteCollection(name)
      return
    }
    let store = try transaction.collection(name)
    switch step.action {
    case .save(let id, let body, let bytes):
      if let bytes { _ = try transaction.putBlob(DocumentBlob.contents(bytes, of: id)) }
      let whole = DocumentBlob.body(body, bytes, of: id)
      let current = try store.document(id)?.current
      try store.save(id, body: transaction.encode(json: whole.json), parent: current?.id)
    case .saveStale(let id, let body):
      let stale = try RevisionID(generation: 1, digest: [UInt8](repeating: 0xee, count: 20))
      try store.save(id, body: transaction.encode(json: body.json), parent: stale)
    case .conflict(let id, let body):
      let generation = try store.document(id)?.current?.id.generation ?? 1
      let other = try RevisionID(
        generation: generation, digest: [UInt8](repeating: 0xcc, count: 20))
      try store.pull(id, history: [other], body: transaction.encode(json: body.json))
    case .resolve(let id):
      guard let document = try store.document(id), let current = document.current,
        let loser = document.tree.revisions.dropFirst().first(where: {
          $0.flags.contains(.leaf) && !$0.flags.contains(.deleted)
        })
      else { return }
      try store.resolve(id, winner: current.id, loser: loser.id)
    case .delete(let id):
      try store.save(id, body: nil, parent: store.document(id)?.current?.id)
    case .purge(let id): try store.purge(id)
    case .expire(let id, let time): try store.setExpiration(time, of: id)
    case .createIndex(let index, let kind, let property):
      try store.createIndex(DocumentNames.index(index, kind, property))
    case .deleteIndex(let index): try transaction.deleteIndex(index)
    default: break
    }
  }
}

/// A reader that stays on one commit, on a thread of its own, until it is ended.
///
/// `@unchecked Sendable`: `difference` is written before `left` is signalled and read after it.
private final class HeldSnapshot: @unchecked Sendable {
  private let entered = DispatchSemaphore(value: 0)
  private let leave = DispatchSemaphore(value: 0)
  private let left = DispatchSemaphore(value: 0)
  private var difference: String?
  private var isEnded = false

  init(_ file: DataFile) {
    let thread = Thread { [self] in
      do {
        try file.read { snapshot in
          // SQLite takes its snapshot with the first read.
          let first = try DocumentReading.texts(snapshot)
          entered.signal()
          leave.wait()
          let second = try DocumentReading.texts(snapshot)
          if first != second {
            difference =
              "a held snapshot changed: \(DocumentDifference.text(second, first))"
          }
        }
      } catch {
        difference = "a held snapshot cannot be read: \(error)"
        entered.signal()
      }
      left.signal()
    }
    thread.start()
    entered.wait()
  }

  @discardableResult
  func end() -> String? {
    guard !isEnded else { return difference }
    isEnded = true
    leave.signal()
    left.wait()
    return difference
  }
}
