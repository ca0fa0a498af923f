// DocumentInvariant.swift: what an invariant is, what it judges by, and the list of all.

import DocumentStore
import Workload

/// One promise that is checked on a recovered bundle.
protocol DocumentInvariant: Sendable {
  /// The promise.
  static var promise: DocumentPromise { get }
  /// What is wrong; empty when it holds.
  /// - Throws: Errors of the store, which break the promise, too.
  static func problems(_ evidence: DocumentEvidence) throws -> [String]
}

/// What invariants judge by.
struct DocumentEvidence {
  let plan: DocumentPlan
  let acknowledged: DocumentAcknowledgements
  /// Whether only processes ended: what was written is there.
  let hasPower: Bool
  /// The bundle before the store opened it; nil without a database.
  let early: EarlySight?
  /// The bundle after the store opened it.
  let sight: DocumentSight
  let file: DataFile
  let verification: Verification
  /// The commit after which the contents are these; nil when there is none.
  let commit: Int?

  init(
    plan: DocumentPlan, acknowledged: DocumentAcknowledgements, hasPower: Bool,
    early: EarlySight?, sight: DocumentSight, file: DataFile, verification: Verification
  ) {
    self.plan = plan
    self.acknowledged = acknowledged
    self.hasPower = hasPower
    self.early = early
    self.sight = sight
    self.file = file
    self.verification = verification
    let lines = sight.lines
    let last = acknowledged.commit + 1
    commit =
      plan.lines.indices.last { $0 <= last && plan.lines[$0] == lines }
      ?? plan.lines.indices.first { $0 > last && plan.lines[$0] == lines }
  }

  /// The same with the contents of a later moment.
  func with(_ sight: DocumentSight) -> DocumentEvidence {
    DocumentEvidence(
      plan: plan, acknowledged: acknowledged, hasPower: hasPower, early: nil, sight: sight,
      file: file, verification: verification)
  }

  /// The first commit that may be the last one.
  var commitMin: Int {
    hasPower || plan.declaration.sync == .full ? acknowledged.commit : acknowledged.durable
  }

  /// The commits that may be the last one, or the one that it is.
  var candidates: [Int] {
    if let commit { return [commit] }
    let last = min(acknowledged.commit + 1, plan.states.count - 1)
    return Array(min(commitMin, last)...last)
  }

  /// The contents that are expected: those of the commit, else the acknowledged ones.
  var model: DocumentModel {
    plan.states[min(commit ?? acknowledged.commit, plan.states.count - 1)]
  }

  /// The tables of a listed index's collection.
  func store(of index: DocumentSight.ListedIndex) -> DocumentSight.Store? {
    sight.stores.first { $0.name == index.store }
  }

  /// The property of an index, which the plan knows; a later index may have the name again.
  func property(of index: DocumentSight.ListedIndex) -> String? {
    if let known = model.indexes[index.name] { return known.property }
    for state in plan.states {
      if let known = state.indexes[index.name] { return known.property }
    }
    return nil
  }

  /// The live documents of a collection with their bodies.
  func bodies(_ store: DocumentSight.Store) -> [(row: DocumentSight.Row, body: DocumentValue)] {
    store.live.filter { $0.flags & 1 == 0 }.compactMap { row in
      row.body.flatMap { sight.value($0) }.map { (row, $0) }
    }
  }
}

/// All invariants.
enum DocumentInvariants {
  /// Those that only read; the ones that say more about a fault come before those that any fault
  /// breaks.
  static let reading: [any DocumentInvariant.Type] = [
    CreationInvariant.self, UpgradeInvariant.self, ReadableInvariant.self,
    CollectionsInvariant.self, OneHomeInvariant.self, FlagsInvariant.self,
    UniqueSequencesInvariant.self, LastSequenceInvariant.self, SharedKeysInvariant.self,
    BodiesInvariant.self, IndexListInvariant.self, ValueIndexesInvariant.self,
    FullTextInvariant.self, ArraysInvariant.self, PredictionsInvariant.self,
    BlobsInvariant.self, PurgesInvariant.self, GivenSequencesInvariant.self,
    ExpirationTimesInvariant.self, AtomicInvariant.self, PrefixInvariant.self,
  ]

  /// Those that change the file, in this order.
  static let changing: [any DocumentInvariant.Type] = [
    StaleWritesInvariant.self, SnapshotsInvariant.self, NewSequencesInvariant.self,
    ExpirationInvariant.self, CompactionInvariant.self, RowNumbersInvariant.self,
  ]
}
