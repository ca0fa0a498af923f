// HistoryFeature.swift: what a drawn history can do, each of which is on or off in it (swarm
// testing: Groce, Zhang, Eide, Chen, Regehr, ISSTA 2012). A feature that is off makes room for what
// the others do together.

/// Something that a drawn history does, or does not.
package enum HistoryFeature: String, Sendable, Hashable, Codable, CaseIterable {
  // Who works.
  /// Several processes, each with a handle of its own.
  case processes
  /// Several actors in a process, which share its handle.
  case threads
  // How the file is opened.
  /// The file is encrypted; then one process has it open.
  case encrypted
  /// Commits need one sync.
  case oneSync
  /// Commits of actors that wait for each other share their syncs.
  case grouped
  // What is read.
  /// Versions are pinned.
  case pins
  /// Some pins stay nearly as long as the history.
  case oldPins
  /// What changed since a pin is compared.
  case diffs
  /// Hardly anybody reads.
  case rareReads
  // What is written.
  /// Rows are deleted.
  case deletes
  /// Tables lose nearly all of their rows at once.
  case nearlyEmpty
  /// Many transactions change a row or two.
  case fewChanges
  /// One actor commits many times while the others rest.
  case runs
  /// Transactions of many rows.
  case manyRows
  /// Transactions are rolled back.
  case cancels
  /// Transactions fail by a statement.
  case refusals
  // What befalls files and processes.
  /// The file is compacted.
  case compact
  /// The file is compacted when it is opened.
  case launch
  /// Copies are written.
  case copies
  /// Copies are written within transactions.
  case copiesInWrites
  /// Handles are closed and opened again.
  case reopens
  /// Processes end without a close.
  case exits
  /// Processes are killed between two steps.
  case kills
  /// Processes stand still while others go on.
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
  /// Texts at the bounds of sizes, up to several nodes long.
  case longTexts
  /// Ints at the bounds of widths.
  case widths
  // Objects.
  /// Realms move to the newest version, or give theirs up.
  case refreshes
  /// Queries of every operator are compared with a look at each object.
  case queries
  /// Observers follow what queries find.
  case observers
  /// Transactions begin and commit while the realm's thread goes on.
  case asyncWrites
  /// Realms are used on threads that they do not belong to.
  case misuses
  /// The program is replaced by its next version, whose classes have other properties.
  case migrations
  /// Embedded objects are written.
  case embedded
  case sets
  case maps

  /// Columns of values of one type each.
  package static let columnKinds: [HistoryFeature] = [
    .ints, .texts, .bools, .doubles, .binaries, .dates, .uuids, .mixed, .lists, .links,
  ]
  /// What the in-process backend cannot do.
  package static let ofMounts: Set<HistoryFeature> = [
    .processes, .compact, .launch, .copies, .copiesInWrites, .exits, .kills, .stops,
  ]
  /// What only histories of objects have.
  package static let ofObjects: Set<HistoryFeature> = [
    .refreshes, .queries, .observers, .asyncWrites, .misuses, .migrations, .embedded, .sets, .maps,
  ]
  /// What only histories of tables have: a realm has no such thing, or its classes always have it.
  package static let ofTables: Set<HistoryFeature> = [
    .oneSync, .grouped, .diffs, .compact, .copiesInWrites, .ints, .texts, .bools, .doubles,
    .binaries, .dates, .uuids, .mixed, .indexes, .unique,
  ]
  /// What cannot stand beside steps side by side, which are threads of the lab that write whatever
  /// order their commits come in.
  static let notOfSchedules: Set<HistoryFeature> = ofMounts.union([.links])
  /// What counts on all that came before, so that nothing may have been killed or have failed.
  static let ofKnownRows: Set<HistoryFeature> = [
    .deletes, .nearlyEmpty, .links, .refusals, .compact, .launch, .copies, .copiesInWrites, .exits,
    .kills, .stops, .migrations,
  ]
  /// What cannot stand beside a sweep, besides that.
  static let notOfSweeps: Set<HistoryFeature> = [.pins, .oldPins, .diffs, .processes]

  /// What it is nothing without.
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

  /// In how many of a hundred histories it is on, where nothing else decides.
  var percent: Int {
    switch self {
    case .encrypted: 20
    case .processes: 75
    case .compact, .launch, .migrations: 35
    default: 50
    }
  }
}
