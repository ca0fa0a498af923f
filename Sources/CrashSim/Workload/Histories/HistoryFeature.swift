// HistoryFeature.swift: the features of a drawn history, each of which is on or off in it (swarm
// testing: Groce, Zhang, Eide, Chen, Regehr, ISSTA 2012). A feature that is off leaves room for
// combinations of the others.

/// A feature that a drawn history may have.
package enum HistoryFeature: String, Sendable, Hashable, Codable, CaseIterable {
  // Processes and threads.
  /// Several processes, each with its own handle.
  case processes
  /// Several actors in a process, which share its handle.
  case threads
  // Open options.
  /// The file is encrypted; then only one process has it open.
  case encrypted
  /// Commits use one sync.
  case oneSync
  /// Commits of actors that wait for each other share their syncs.
  case grouped
  // Reads.
  /// Versions are pinned.
  case pins
  /// Some pins last nearly as long as the history.
  case oldPins
  /// The changes since a pin are compared.
  case diffs
  /// Reads are very rare.
  case rareReads
  // Writes.
  /// Rows are deleted.
  case deletes
  /// Tables lose nearly all of their rows at once.
  case nearlyEmpty
  /// Many transactions change a row or two.
  case fewChanges
  /// One actor commits many times while the others are idle.
  case runs
  /// Transactions of many rows.
  case manyRows
  /// Transactions are rolled back.
  case cancels
  /// Transactions fail because of a statement.
  case refusals
  // Events of files and processes.
  /// The file is compacted.
  case compact
  /// The file is compacted on open.
  case launch
  /// Copies are written.
  case copies
  /// Copies are written within transactions.
  case copiesInWrites
  /// Handles are closed and reopened.
  case reopens
  /// Processes end without closing.
  case exits
  /// Processes are killed between two steps.
  case kills
  /// Processes are stopped while others continue.
  case stops
  // Columns and values.
  case ints
  case texts
  case bools
  case doubles
  case binaries
  case dates
  case uuids
  case mixed
  case lists
  case links
  case nulls
  case indexes
  case unique
  /// Texts at size limits, up to several nodes long.
  case longTexts
  /// Ints at width limits.
  case widths
  // Objects.
  /// Realms move to the newest version, or are invalidated.
  case refreshes
  /// Queries with every operator are compared with checking each object.
  case queries
  /// Observers follow the results of queries.
  case observers
  /// Transactions begin and commit while the realm's thread continues.
  case asyncWrites
  /// Realms are used on the wrong threads.
  case misuses
  /// The program is replaced by its next version, whose classes have other properties.
  case migrations
  /// Embedded objects are written.
  case embedded
  case sets
  case maps
  // Synchronization.
  /// Connections end.
  case disconnects
  /// Messages are lost.
  case losses
  /// Messages arrive twice.
  case duplicates
  /// Messages overtake others.
  case overtaking
  /// For a while all messages of a client are lost, in one direction or both.
  case cuts
  /// Clocks are ahead or behind.
  case clocks
  /// Clients continue with old copies of their files.
  case restores
  /// The server continues with an old copy of its file.
  case backups
  /// Clients continue with copies of other clients' files.
  case clones
  /// The server removes old entries.
  case trims

  /// Columns of values of one type each.
  package static let columnKinds: [HistoryFeature] = [
    .ints, .texts, .bools, .doubles, .binaries, .dates, .uuids, .mixed, .lists, .links,
  ]
  /// Features that the in-process backend does not support.
  package static let ofMounts: Set<HistoryFeature> = [
    .processes, .compact, .launch, .copies, .copiesInWrites, .exits, .kills, .stops,
  ]
  /// Features for histories of objects only.
  package static let ofObjects: Set<HistoryFeature> = [
    .refreshes, .queries, .observers, .asyncWrites, .misuses, .migrations, .embedded, .sets, .maps,
  ]
  /// Features for histories of tables only: realms do not have them, or their classes always do.
  package static let ofTables: Set<HistoryFeature> = [
    .oneSync, .grouped, .diffs, .compact, .copiesInWrites, .ints, .texts, .bools, .doubles,
    .binaries, .dates, .uuids, .mixed, .indexes, .unique,
  ]
  /// Features for histories of synchronization only.
  package static let ofNodes: Set<HistoryFeature> = [
    .disconnects, .losses, .duplicates, .overtaking, .cuts, .clocks, .restores, .backups, .clones,
    .trims,
  ]
  /// All features of histories of synchronization.
  package static let ofSync = ofNodes.union([.deletes, .links, .lists, .sets, .maps, .exits])
  /// Features not supported with concurrent steps, which are threads of Faultline and write in
  /// whatever order their commits happen.
  static let notOfSchedules: Set<HistoryFeature> = ofMounts.union([.links])
  /// Features that depend on all earlier steps, so nothing may have been killed or have failed.
  static let ofKnownRows: Set<HistoryFeature> = [
    .deletes, .nearlyEmpty, .links, .refusals, .compact, .launch, .copies, .copiesInWrites, .exits,
    .kills, .stops, .migrations,
  ]
  /// Further features not supported with a sweep.
  static let notOfSweeps: Set<HistoryFeature> = [.pins, .oldPins, .diffs, .processes]

  /// The feature that this one requires.
  var needed: HistoryFeature? {
    switch self {
    case .oldPins, .diffs: .pins
    case .nearlyEmpty: .deletes
    case .longTexts: .texts
    case .stops: .processes
    case .misuses: .threads
    default: nil
    }
  }

  /// Percentage of histories that have it, unless something else decides.
  var percent: Int {
    switch self {
    case .encrypted: 20
    case .processes: 75
    case .compact, .launch, .migrations: 35
    case .restores, .backups, .clones: 30
    default: 50
    }
  }
}
