// UnitTableBuilder.swift: reads a trace once, splitting operations into units (this file and
// +Operations) and finding what each sync makes durable (+Syncs).
// Invariant: the builder's state of an inode is that of a running kernel: sizes and names as of the
// latest operation, not as of the latest sync.

import LabCore
import Recording

/// The builder's state of an inode while it reads the trace.
final class InodeProgress {
  var type: FileType
  var sizeBytes: UInt64
  /// Unit that made the first name; nil for inodes of the initial tree.
  var creation: Int?
  /// Latest unit that changed the size, and latest one that set it explicitly.
  var lastSize: Int?
  var lastExplicitSize: Int?
  /// Latest unit that changed one of a directory's own names.
  var lastName: Int?
  var lastOwnership: Int?
  var lastAttribute: [FileName: Int] = [:]
  /// Latest unit that chose a modification time, or replaced a chosen one.
  var lastTime: Int?
  /// Whether the modification time is one that the program chose.
  var hasChosenTime = false
  /// Latest unit that wrote each data block (index in units of the model's data unit).
  var blocks: [UInt64: Int] = [:]
  /// Units that changed whole ranges of blocks: holes and cut tails.
  var ranges: [(blocks: Range<UInt64>, unit: Int)] = []
  /// Pages reserved by fallocate beyond the end.
  var preallocated: [Range<UInt64>] = []
  /// Pages first written since the last sync: delayed allocation may still hold them in memory.
  var delayedPages: Set<UInt64> = []
  /// Units not known to be durable when they were added; filtered when read.
  var pendingData: [Int] = []
  var delayedData: [Int] = []
  var pendingSize: [Int] = []
  var pendingAttributes: [Int] = []
  var pendingEntries: [Int] = []
  /// Units that gave the inode a name.
  var pendingNames: [Int] = []
  /// Latest unit of the inode's own order, for models with one order per inode.
  var lastChange: Int?
  /// Latest journal unit that affected the inode: any, and one that fdatasync covers.
  var lastTouch: Int?
  var lastDataTouch: Int?
  /// End of the journal when the size last grew by a write.
  var journalAtGrowth: Int?
  /// Truncated to 0 while it had content, and not closed since.
  var wasEmptied = false

  init(type: FileType, sizeBytes: UInt64) {
    self.type = type
    self.sizeBytes = sizeBytes
  }
}

/// A name in a directory.
struct EntryKey: Hashable {
  var parent: InodeNumber
  var name: FileName
}

struct UnitTableBuilder {
  let model: PersistenceModel
  var units: [PendingUnit] = []
  var inodes: [InodeNumber: InodeProgress] = [:]
  var creations: [InodeNumber: InodeImage] = [:]
  /// Units per entry, for models that order nothing else.
  var entryUnits: [EntryKey: Int] = [:]
  /// Latest unit of the journal (or of the total order).
  var lastJournal: Int?
  /// Units that the next journal unit must wait for: a rewritten file was closed, or new data was
  /// written where allocation is not delayed.
  var journalBarrier: [Int] = []
  /// Latest journal unit when each unit was added, for models whose syncs take units out of the
  /// journal's order: see `relink`.
  var journalPrevious: [Int: Int] = [:]
  var journalNext: [Int: [Int]] = [:]
  /// Units that depend on `journalPrevious` for no other reason: a sync of them does not.
  var isJournalOnly: Set<Int> = []
  var durableFrom: [Int] = []
  var droppedFrom: [Int] = []
  var becomesDurable: [Int: [Int]] = [:]
  var superseded: Set<Int> = []
  /// Pending data units cut in two by an explicit size, by that size unit.
  var straddled: [Int: [Int]] = [:]
  /// First unit not known to be durable, for models whose syncs cover everything.
  var firstPending = 0
  /// First unit that the last sync of everything may have left uncovered.
  var firstUnsynced = 0
  /// Units that the kernel wrote back by itself, at least since the last sync of everything.
  var writtenBack: Set<Int> = []
  /// Number of inodes with a chosen time; while there is none, no operation replaces one.
  var chosenTimeCount = 0
  /// The inode that the last operation created.
  var created: InodeNumber?
  /// The current event.
  var event = 0

  init(model: PersistenceModel, initial: TreeImage) {
    self.model = model
    for (number, image) in initial.inodes {
      inodes[number] = InodeProgress(type: image.type, sizeBytes: image.sizeBytes)
      if image.modificationTime != nil {
        inodes[number]?.hasChosenTime = true
        chosenTimeCount += 1
      }
    }
  }

  /// Adds a unit; dependencies that are durable already are left out.
  @discardableResult
  mutating func emit(
    _ kind: PendingUnit.Kind, _ effects: [Effect], after dependencies: [Int?] = []
  ) -> Int {
    let id = units.count
    var kept: [Int] = []
    for case let dependency? in dependencies {
      if isPending(dependency) {
        kept.append(dependency)
      } else if superseded.contains(dependency) {
        kept += contentBefore(superseded: dependency)
      }
    }
    for inode in orderedInodes(kind, effects) {
      if let last = inodes[inode]?.lastChange, isPending(last) { kept.append(last) }
      update(inode) { $0.lastChange = id }
    }
    if kept.count > 1 { kept = Set(kept).sorted() }
    units.append(
      PendingUnit(id: id, event: event, kind: kind, effects: effects, dependencies: kept))
    durableFrom.append(UnitTable.never)
    droppedFrom.append(UnitTable.never)
    return id
  }

  /// Of the inodes that a unit changes, those whose changes the model keeps in order.
  private func orderedInodes(_ kind: PendingUnit.Kind, _ effects: [Effect]) -> Set<InodeNumber> {
    let isData = kind == .data || kind == .growth
    let isSize = kind == .explicitSize || kind == .zero
    let isOrdered =
      model.metadataOrder == .perInode
      ? !isData || model.dataOrder == .perFile
      : model.dataOrder == .perFile && model.metadataOrder != .total && (isData || isSize)
    guard isOrdered else { return [] }
    return Set(effects.map(\.syncedInode))
  }

  /// Adds a unit of names, explicit sizes or attributes: to the journal if there is one.
  @discardableResult
  mutating func emitMetadata(
    _ kind: PendingUnit.Kind, _ effects: [Effect], after dependencies: [Int?]
  ) -> Int {
    guard model.metadataOrder == .journal else { return emit(kind, effects, after: dependencies) }
    let id = emitAfterJournal(kind, effects, after: journalBarrier + dependencies)
    journalBarrier = []
    lastJournal = id
    return id
  }

  /// Adds a unit that depends on the journal as it is now.
  mutating func emitAfterJournal(
    _ kind: PendingUnit.Kind, _ effects: [Effect], after dependencies: [Int?]
  ) -> Int {
    let previous = lastJournal
    let isTied = orderedInodes(kind, effects).contains { inodes[$0]?.lastChange == previous }
    let id = emit(kind, effects, after: [previous] + dependencies)
    guard model.syncCoverage == .objectAndNames, let previous, isPending(previous) else {
      return id
    }
    journalPrevious[id] = previous
    journalNext[previous, default: []].append(id)
    if !isTied, !dependencies.contains(previous) { isJournalOnly.insert(id) }
    return id
  }

  /// The inode's record, or an error that names the event.
  func progress(of inode: InodeNumber) throws(LabError) -> InodeProgress {
    guard let found = inodes[inode] else {
      throw .lab("broken trace: event \(event) names inode \(inode), which nothing created")
    }
    return found
  }

  /// Changes the inode's record in place.
  func update(_ inode: InodeNumber, _ change: (InodeProgress) -> Void) {
    if let record = inodes[inode] { change(record) }
  }

  /// False for durable units, and for ids removed by joining an operation's parts.
  func isPending(_ unit: Int) -> Bool {
    unit < durableFrom.count && durableFrom[unit] == UnitTable.never
  }
}

extension UnitTable {
  /// Splits a trace into units under a model.
  /// - Throws: `LabError` when the trace names inodes that it never created, or the model is
  ///   invalid.
  /// - Complexity: O(events + units).
  public init(trace: Trace, model: PersistenceModel) throws(LabError) {
    try model.validate()
    var builder = UnitTableBuilder(model: model, initial: trace.initial)
    var firstUnit: [Int] = [0]
    var marksBefore: [Int] = [0]
    for (index, event) in trace.events.enumerated() {
      builder.event = index
      var marks = marksBefore[index]
      switch event.body {
      case .mark: marks += 1
      case .operation(let operation): try builder.read(operation, flags: event.flags)
      }
      firstUnit.append(builder.units.count)
      marksBefore.append(marks)
    }
    self.trace = trace
    self.model = model
    self.firstUnit = firstUnit
    self.marksBefore = marksBefore
    units = builder.units
    durableFrom = builder.durableFrom
    droppedFrom = builder.droppedFrom
    becomesDurable = builder.becomesDurable
    creations = builder.creations
    superseded = builder.superseded
    deferredUntil = builder.deferrals()
    overlaps = UnitOverlaps(builder.units, of: trace)
  }
}
