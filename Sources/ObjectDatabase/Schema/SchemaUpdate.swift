// SchemaUpdate.swift: what opening does with a file whose schema differs from the program's.
// Invariants: everything happens in one transaction of the engine, including the block, so an
// interrupted or failed migration leaves the old file; a file of a higher schema version is never
// changed; a change that would lose data needs a higher version and a migration block.

import Engine

enum SchemaUpdate {
  /// Compares the file's schema with the program's, and updates it where that is allowed.
  /// - Throws: `Realm.Error` with code `.schemaMismatch`, every difference in words,
  ///   `.schemaVersion`, `.unsupportedClass`, or an error of the engine.
  static func open(_ core: _RealmCore) throws(Realm.Error) {
    let configuration = core.configuration
    guard let types = configuration.objectTypes else {
      try openWithoutClasses(core)
      return
    }
    var roots: [ClassInfo] = []
    for type in types { roots.append(try Discovery.info(for: type)) }
    try open(core, with: try ClassSet(reachableFrom: roots).infos)
  }

  private static func open(
    _ core: _RealmCore, with infos: [ClassInfo]
  ) throws(Realm.Error) {
    let configuration = core.configuration
    core.classes.withLock { classes in
      for info in infos { classes.infos[info.name] = info }
    }
    let file = try translating { () throws(EngineError) in
      try FileSchema(try core.currentSnapshot())
    }
    try checkVersion(file, configuration)
    let differences = SchemaDifference.all(between: file, and: infos)
    guard !differences.isEmpty || file.version != configuration.schemaVersion else { return }
    guard !configuration.readOnly else {
      let grave = differences.filter { $0.need > .nothing }
      if !grave.isEmpty { throw migrationNeeded(grave) }
      return
    }
    try update(core, infos)
  }

  private static func openWithoutClasses(_ core: _RealmCore) throws(Realm.Error) {
    let configuration = core.configuration
    let file = try translating { () throws(EngineError) in
      try FileSchema(try core.currentSnapshot())
    }
    try checkVersion(file, configuration)
    let isHigher = file.version.map { $0 < configuration.schemaVersion } ?? false
    guard isHigher || configuration.migrationBlock != nil else { return }
    // A class that the file does not have joins when it is used first.
    let infos = ProcessClasses.all.filter { file.classes[$0.name] != nil }
    try open(core, with: try ClassSet(reachableFrom: infos).infos)
  }

  static func checkVersion(
    _ file: FileSchema, _ configuration: Realm.Configuration
  ) throws(Realm.Error) {
    guard let version = file.version, version > configuration.schemaVersion else { return }
    throw Realm.Error(
      .schemaVersion,
      "Provided schema version \(configuration.schemaVersion) is less than last set version "
        + "\(version) of \(configuration.identity); open it with a later program")
  }

  /// How the file that a realm reads differs from classes.
  static func differences(
    of infos: [ClassInfo], _ core: _RealmCore
  ) throws(Realm.Error) -> [SchemaDifference] {
    let file = try translating { () throws(EngineError) in
      try FileSchema(try core.currentVersion())
    }
    return SchemaDifference.all(between: file, and: infos)
  }

  static func migrationNeeded(_ differences: [SchemaDifference]) -> Realm.Error {
    Realm.Error(
      .schemaMismatch,
      "Migration is required due to the following differences:\n"
        + differences.map { "- \($0.text)" }.joined(separator: "\n")
        + "\nRaise schemaVersion"
        + (differences.contains { $0.need == .migrationBlock }
          ? " and give a migrationBlock." : "."))
  }

  // MARK: one transaction

  private static func update(_ core: _RealmCore, _ infos: [ClassInfo]) throws(Realm.Error) {
    let write = try translating { () throws(EngineError) in try core.store.database.beginWrite() }
    do throws(Realm.Error) {
      try update(core, infos, write)
      try translating { () throws(EngineError) in try write.commit() }
    } catch {
      write.cancel()
      throw error
    }
    // The snapshot that the comparison read is an old one now.
    _ = core.refresh()
  }

  private static func update(
    _ core: _RealmCore, _ infos: [ClassInfo], _ write: WriteTransaction
  ) throws(Realm.Error) {
    let configuration = core.configuration
    // Another process may have migrated since the comparison.
    let file = try translating { () throws(EngineError) in try FileSchema(write) }
    try checkVersion(file, configuration)
    let differences = SchemaDifference.all(between: file, and: infos)
    let isNew = file.version == nil && file.classes.isEmpty
    let isHigher = configuration.schemaVersion > file.version ?? 0
    let allowed: SchemaDifference.Need =
      !isHigher ? .nothing : configuration.migrationBlock == nil ? .higherVersion : .migrationBlock
    let grave = differences.filter { $0.need > allowed }
    if file.isRecorded { try checkRecorded(differences, configuration) }
    if !grave.isEmpty {
      guard configuration.deleteRealmIfMigrationNeeded, !file.isRecorded else {
        throw migrationNeeded(grave)
      }
      try startOver(infos, file, write, configuration)
      return
    }
    try translating { () throws(EngineError) in try FileSchema.prepare(write) }
    let defaults = try StoredDefaults(differences, infos, core)
    if file.isRecorded { try checkDefaults(differences, defaults) }
    guard isHigher, !isNew, let block = configuration.migrationBlock else {
      try translating { () throws(EngineError) in
        try apply(differences, infos, write, defaults)
        try finish(infos, write)
        try FileSchema.setVersion(configuration.schemaVersion, write)
      }
      try checkOwners(infos.filter { file.classes[$0.name]?.record.isEmbedded != true }, write)
      if isHigher, !isNew { try checkValues(infos, core, write) }
      return
    }
    try migrate(core, infos, file, differences, defaults, write, block)
  }

  private static func migrate(
    _ core: _RealmCore, _ infos: [ClassInfo], _ file: FileSchema,
    _ differences: [SchemaDifference], _ defaults: StoredDefaults, _ write: WriteTransaction,
    _ block: MigrationBlock
  ) throws(Realm.Error) {
    // No other commit can happen now, so this is the version that the transaction began on.
    let owned = OwnedColumns(file, infos)
    let (before, replaced) = try translating { () throws(EngineError) in
      let before = try core.store.database.snapshot()
      let replaced = try owned.children(of: differences, write)
      try apply(differences, infos, write, defaults)
      return (before, replaced)
    }
    let migration = try Migration(core, before, file, infos, write)
    try translating { () throws(EngineError) in
      for (key, info) in replaced { try migration.new.release(key, of: info, write) }
    }
    block(migration, file.version ?? 0)
    if let failure = migration.new.firstFailure { throw failure }
    try translating { () throws(EngineError) in
      try removeColumns(differences, owned, migration.new, write)
      try MixedCollections.sweep(write)
      try finish(infos, write)
      try migration.new.saveNextKeys()
      try FileSchema.setVersion(core.configuration.schemaVersion, write)
    }
    try checkOwners(infos, write)
    try checkValues(infos, core, write)
  }

  /// Removes every class's table and creates those of the program.
  private static func startOver(
    _ infos: [ClassInfo], _ file: FileSchema, _ write: WriteTransaction,
    _ configuration: Realm.Configuration
  ) throws(Realm.Error) {
    try translating { () throws(EngineError) in
      // Tables with incoming links cannot be removed: first the columns, then the tables.
      for (name, entry) in file.classes.sorted(by: { $0.key < $1.key }) {
        for column in entry.table.columns { try write.removeColumn(column.name, from: name) }
      }
      for name in file.classes.keys.sorted() {
        try FileSchema.prepare(write)
        try FileSchema.removeClass(name, write)
        try write.removeTable(name)
      }
      try MixedCollections.sweep(write)
    }
    try addClasses(infos, write, configuration)
    try translating { () throws(EngineError) in
      try FileSchema.setVersion(configuration.schemaVersion, write)
    }
  }

  /// Creates the tables of classes that the file lacks, and makes other changes that need no
  /// migration.
  static func addClasses(
    _ infos: [ClassInfo], _ write: WriteTransaction, _ configuration: Realm.Configuration
  ) throws(Realm.Error) {
    let file = try translating { () throws(EngineError) in try FileSchema(write) }
    let differences = SchemaDifference.all(between: file, and: infos)
    let grave = differences.filter { $0.need > .nothing }
    guard grave.isEmpty else { throw migrationNeeded(grave) }
    guard !differences.isEmpty else { return }
    try translating { () throws(EngineError) in
      try FileSchema.prepare(write)
      try apply(differences, infos, write, StoredDefaults())
      try finish(infos, write)
      if file.version == nil { try FileSchema.setVersion(configuration.schemaVersion, write) }
    }
    try checkOwners(infos.filter { file.classes[$0.name]?.record.isEmbedded != true }, write)
  }
}
