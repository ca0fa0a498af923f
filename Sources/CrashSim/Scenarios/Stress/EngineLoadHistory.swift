// EngineLoadHistory.swift: the acknowledgements of the built-in workload, and the contents that a
// power cut may leave: the newest acknowledged version, or one of those begun after it.
// Invariants: versions increase by one; `begun` follows `base` without a gap. A version that is
// begun again was not committed the first time, so it and all after it are dropped. A group of
// commits may end in a version without changes, which no transaction begins (CommitGroup). If a
// disk rejects writes, that version may even have the number of a transaction that failed; until
// its end is reported there are then two possible histories, and the checker follows both.

import Findings
import LabCore
import Oracles
import Workload

/// The history of the built-in workload, up to one moment.
struct EngineLoadHistory {
  /// Number of acknowledgement bytes processed.
  private(set) var consumedBytes = 0
  /// False until an open was acknowledged.
  private(set) var mustExist = false
  /// Broken promises that are visible without a crash.
  private(set) var violations: [Violation] = []
  /// The possible histories; in the first one nothing failed without a report.
  private var accounts = [Account()]
  private let options: EngineLoadOptions

  /// Starts before the first open.
  init(_ options: EngineLoadOptions = EngineLoadOptions()) { self.options = options }

  /// Processes acknowledgements, starting where the last call ended.
  /// - Throws: `LabError` with code `.usage` for lines that are not the workload's.
  mutating func consume(_ acknowledged: [UInt8]) throws(LabError) {
    guard acknowledged.count >= consumedBytes else {
      throw .usage("\(acknowledged.count) bytes of acknowledgements, \(consumedBytes) were known")
    }
    for line in acknowledged[consumedBytes...].split(separator: UInt8(ascii: "\n")) {
      // Lines of the history of transactions are handled by `EngineLoadRecord`.
      if line.first == UInt8(ascii: "{") { continue }
      let words = String(decoding: line, as: UTF8.self).split(separator: " ")
      let numbers = words.dropFirst().compactMap { UInt64($0) }
      switch (words.first, numbers.count) {
      case ("open", 1): mustExist = true
      case ("begin", 3): try begin(numbers[0], seed: numbers[1], number: numbers[2])
      case ("commit", 1): commit(numbers[0])
      case ("storm", 0), ("calm", 0), ("seen", 2): break
      default: throw .usage("'\(String(decoding: line, as: UTF8.self))' is not an acknowledgement")
      }
    }
    consumedBytes = acknowledged.count
  }

  private mutating func begin(
    _ version: UInt64, seed: UInt64, number: UInt64
  ) throws(LabError) {
    let author = EngineLoad.Place.process(ofTransaction: Int(clamping: number))
    forget(from: version)
    var doubted: [Account] = []
    if mayEndUnheard {
      doubted = accounts.compactMap { account in
        account.newest.version + 1 == version ? account.withoutNewest : nil
      }
    }
    var complaint: Violation?
    var possible: [Account] = []
    for var account in accounts + doubted {
      let newest = account.newest
      if options.groupsCommits, version == newest.version + 2 {
        account.begun.append(
          Content(version: newest.version + 1, model: newest.model, author: nil))
      }
      guard version == account.newest.version + 1 else {
        let isLost = version <= account.base.version
        complaint =
          complaint
          ?? Violation(
            isLost ? .durability : .prefix, promised: "version \(newest.version) was the newest",
            got: "the next transaction began version \(version)")
        continue
      }
      guard account.goesOn(author, threads: options.writers) else { continue }
      let model = Self.model(after: account.newest.model, seed, number, options)
      account.begun.append(Content(version: version, model: model, author: author))
      possible.append(account)
    }
    if possible.isEmpty, let complaint { violations.append(complaint) }
    guard possible.count <= Self.accountsMax else {
      throw .lab("\(possible.count) accounts of one round, more than \(Self.accountsMax)")
    }
    if !possible.isEmpty { accounts = possible }
  }

  /// Removes everything begun from a version on, and assumptions about it.
  ///
  /// Histories that differed only in that are then the same.
  private mutating func forget(from version: UInt64) {
    guard accounts.contains(where: { $0.reaches(version) }) else { return }
    var known: Set<[UInt64]> = []
    for index in accounts.indices { accounts[index].forget(from: version) }
    accounts.removeAll { !known.insert($0.doubts).inserted }
  }

  /// Whether a transaction can fail without a report before others continue.
  private var mayEndUnheard: Bool { options.groupsCommits && options.mayFail }

  private static func model(
    after model: ReferenceModel, _ seed: UInt64, _ number: UInt64, _ options: EngineLoadOptions
  ) -> ReferenceModel {
    var model = model
    model.createTables()
    let plan = EngineLoadPlan(seed, options)
    for statement in plan.statements { _ = model.apply(statement) }
    // Steps are on different lists, so none reads what another one wrote.
    let before = model
    _ = plan.runLists(
      number: Int(clamping: number), read: { Self.list($0, of: before) },
      write: { _ = model.apply($0) })
    return model
  }

  private mutating func commit(_ version: UInt64) {
    let left = accounts.filter { !$0.unchanged.contains(version) }
    let isKnown = accounts.contains { account in
      version <= account.base.version || account.begun.contains { $0.version == version }
    }
    guard isKnown, !left.isEmpty else {
      violations.append(
        Violation(
          .prefix, promised: "only what was begun is acknowledged", got: "commit \(version)"))
      return
    }
    accounts = left
    for index in accounts.indices { accounts[index].commit(version) }
  }

  /// What a crash may leave at this point.
  var allowed: AllowedOutcomes {
    let others = accounts.dropFirst().map(\.base) + accounts.flatMap { candidates(of: $0) }
    return AllowedOutcomes(
      mustExist: mustExist, acked: Self.state(accounts[0].base),
      candidates: others.map { Self.state($0) })
  }

  /// The contents that may be present instead of the required one.
  private func candidates(of account: Account) -> [Content] {
    var contents = account.begun
    let newest = account.newest
    if mayEndUnheard, let without = account.withoutNewest { contents.append(without.newest) }
    // The version without changes that a group may end in.
    if options.groupsCommits, newest.model.hasTables {
      contents.append(Content(version: newest.version + 1, model: newest.model, author: nil))
    }
    return contents
  }

  private static func state(_ content: Content) -> CommittedState {
    let isEmpty = !content.model.hasTables
    return CommittedState(
      transaction: isEmpty ? nil : Int(clamping: content.version), version: content.version,
      content.model)
  }

  private static func list(_ key: Int64, of model: ReferenceModel) -> LoadList {
    let row = model.row(key, in: EngineLoadPlan.listRows.name)
    return row.flatMap { LoadList(key: key, $0) } ?? LoadList(key: key)
  }

  /// The lists of the newest required content.
  var lists: [LoadList] {
    accounts[0].base.model.sortedRows(of: EngineLoadPlan.listRows.name).compactMap {
      LoadList(key: $0.key, $0.values)
    }
  }

  /// The newest required version.
  var version: UInt64 { accounts[0].base.version }

  /// Continues from the result of a power cut: one of the allowed versions.
  /// - Parameters:
  ///   - version: The version.
  ///   - contentHash: The hash of its content, called when the version is ambiguous.
  mutating func survive(_ version: UInt64, contentHash: () -> UInt64? = { nil }) {
    let contents = accounts.flatMap { [$0.base] + candidates(of: $0) }
      .filter { $0.version == version }
    var survivor = contents.first
    if contents.count > 1, let hash = contentHash() {
      survivor = contents.first { Self.state($0).contentHash == hash } ?? survivor
    }
    accounts = [Account(base: survivor ?? accounts[0].base)]
  }
}

extension EngineLoadHistory {
  /// A possible version.
  fileprivate struct Content {
    var version: UInt64
    var model: ReferenceModel
    /// The process that began it; nil for a version without changes, or one of an earlier round.
    var author: Int?
  }

  /// One possible history since the last acknowledgement.
  fileprivate struct Account {
    var base = Content(
      version: 1, model: ReferenceModel(tables: EngineLoadPlan.tables, hasTables: false),
      author: nil)
    var begun: [Content] = []
    /// Versions that were begun, but in this history are the end of a group without changes.
    var unchanged: Set<UInt64> = []
    /// Processes whose transaction failed in this history, with its version and how many each has
    /// begun since.
    ///
    /// Such a process ends at once, so at most each of its threads begins one more.
    var failed: [Int: (version: UInt64, begun: Int)] = [:]

    var newest: Content { begun.last ?? base }

    /// Distinguishes this history from others with the same acknowledgements: the versions without
    /// changes, and the existing ones.
    var doubts: [UInt64] { unchanged.sorted() + [0] + begun.map(\.version) }

    /// Whether it includes a version, or one after it.
    func reaches(_ version: UInt64) -> Bool {
      newest.version >= version || unchanged.contains { $0 >= version }
    }

    /// Removes a version and those after it.
    mutating func forget(from version: UInt64) {
      begun.removeAll { $0.version >= version }
      unchanged = unchanged.filter { $0 < version }
      failed = failed.filter { $0.value.version < version }
    }

    /// The same, except that the newest transaction failed and a version without changes has its
    /// number.
    var withoutNewest: Account? {
      guard let newest = begun.last, let author = newest.author, failed[author] == nil else {
        return nil
      }
      var account = self
      account.begun.removeLast()
      account.begun.append(
        Content(version: newest.version, model: account.newest.model, author: nil))
      account.unchanged.insert(newest.version)
      account.failed[author] = (newest.version, 0)
      return account
    }

    /// Adds a transaction begun by a process.
    /// - Returns: Whether that is possible in this history.
    mutating func goesOn(_ author: Int, threads: Int) -> Bool {
      guard let count = failed[author]?.begun else { return true }
      failed[author]?.begun = count + 1
      return count < threads
    }

    mutating func commit(_ version: UInt64) {
      if let content = begun.first(where: { $0.version == version }) { base = content }
      begun.removeAll { $0.version <= base.version }
    }
  }

  /// More histories in one round would mean that nearly every transaction fails.
  private static let accountsMax = 1 << 12
}

extension EngineLoadHistory {
  /// The history between two power cuts, as stored in a file.
  struct Saved: Codable {
    var consumedBytes: Int
    var mustExist: Bool
    var version: UInt64
    var hasTables: Bool
    var rows: [Mutation]
  }

  init(_ saved: Saved, _ options: EngineLoadOptions) {
    self.options = options
    consumedBytes = saved.consumedBytes
    mustExist = saved.mustExist
    var model = Account().base.model
    if saved.hasTables { model.createTables() }
    for row in saved.rows { _ = model.apply(row) }
    accounts = [Account(base: Content(version: saved.version, model: model, author: nil))]
  }

  var saved: Saved {
    let names = EngineLoadPlan.tables.map(\.name)
    let base = accounts[0].base
    return Saved(
      consumedBytes: consumedBytes, mustExist: mustExist, version: base.version,
      hasTables: base.model.hasTables,
      rows: names.flatMap { table in
        base.model.sortedRows(of: table).map {
          Mutation(.upsert, table, key: $0.key, values: $0.values)
        }
      })
  }
}
