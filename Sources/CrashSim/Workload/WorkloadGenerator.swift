// WorkloadGenerator.swift: expands a scenario with a seed. It keeps a model of the database's
// content, so that no statement fails unless the scenario requires it.
// Invariants: each statement has its own seed, so an additional statement changes no other; a key
// that a failing transaction used is in doubt, and only upserts use it from then on.

import LabCore

extension WorkloadPlan {
  /// Expands a scenario.
  /// - Parameters:
  ///   - scenario: The scenario.
  ///   - seed: The run's seed; the scenario's own seed takes precedence.
  ///   - workMax: Most statements, rows and keys that are visited.
  /// - Throws: `LabError` with code `.usage` and the statement's position when no key is left for
  ///   it, or the work exceeds the limit.
  /// - Complexity: O(work): a search for an existing key may visit all rows of its table, and a
  ///   transaction that is not kept may visit all rows.
  public init(
    _ scenario: Scenario, seed: Seed, workMax: Int = ScenarioBounds.planWork
  ) throws(LabError) {
    var generator = WorkloadGenerator(scenario, seed: scenario.seed ?? seed, workMax: workMax)
    self = try generator.plan()
  }
}

/// The state of an expansion.
struct WorkloadGenerator {
  private let scenario: Scenario
  private let seed: Seed
  private var model: ReferenceModel
  private var commands: [WorkerCommand] = []
  private var transactionCount = 0
  private var hasTables = false
  /// The current version of Faultline's classes in the file.
  private var schemaVersion: UInt64 = 0
  private var openActors: [String] = []
  private var stopped: Set<String> = []
  /// Actors that can check whether a pinned version is unchanged.
  private var pinOwners: [String: String] = [:]
  private var doubtful: [String: Set<Int64>] = [:]
  private var highestKey: [String: Int64] = [:]
  private var walkSteps: [SourcePosition: UInt64] = [:]
  private var generators: [SourcePosition: PRNG] = [:]
  private var textBytes = 0
  /// Remaining work: no scenario of a few lines is planned for hours.
  private var workLeft: Int
  /// The block of the current step.
  private var block: Int?
  /// The position of the current step.
  private var position: SourcePosition?
  /// How the current step opens the database.
  private var database = DatabaseDeclaration()

  init(_ scenario: Scenario, seed: Seed, workMax: Int) {
    self.scenario = scenario
    self.seed = seed
    workLeft = workMax
    model = ReferenceModel(tables: scenario.tables)
  }

  mutating func plan() throws(LabError) -> WorkloadPlan {
    for step in scenario.steps {
      block = step.block
      position = step.position
      database = step.database ?? scenario.database
      if step.actors.isEmpty {
        let awake = openActors.first { !stopped.contains(scenario.process(of: $0).name) }
        try add(awake ?? "", step.action)
      }
      for actor in step.actors {
        if case .write(let write) = step.action {
          for _ in 0..<write.repeats { try addTransaction(write, actor) }
        } else {
          try add(actor, step.action)
        }
      }
    }
    return WorkloadPlan(
      title: scenario.title, seed: seed.rawValue, processes: scenario.processes,
      database: scenario.database, tables: scenario.tables, commands: commands)
  }

  private mutating func append(_ actor: String, _ action: WorkerAction) {
    var command = WorkerCommand(index: commands.count, actor: actor, action: action)
    command.block = block
    command.position = position
    if action.opensDatabase { command.database = database }
    commands.append(command)
  }

  private mutating func add(_ actor: String, _ action: StepAction) throws(LabError) {
    switch action {
    case .command(let action): try add(actor, action)
    case .expect(let claims):
      for claim in claims {
        if case .pinnedUnchanged(let name) = claim {
          append(pinOwners[name] ?? actor, .expect(claim))
        } else {
          append(actor, .expect(claim))
        }
      }
    case .attempt(let tried, let code):
      if tried == .open { append(actor, tried) } else { try add(actor, tried) }
      commands[commands.count - 1].fails = code
    case .write: preconditionFailure("writes are expanded by addTransaction")
    }
  }

  private mutating func add(_ actor: String, _ action: WorkerAction) throws(LabError) {
    if action == .open { return try open(actor) }
    append(actor, action)
    switch action {
    case .close: openActors.removeAll { $0 == actor }
    case .pin(let name): pinOwners[name] = actor
    case .process(let event):
      let process = scenario.process(of: actor)
      if event == .stop { stopped.insert(process.name) } else { stopped.remove(process.name) }
      if event == .kill || event == .exit {
        openActors.removeAll { process.actors.contains($0) }
      }
    default: break
    }
  }

  private mutating func open(_ actor: String) throws(LabError) {
    let migrates = hasTables && database.objects.map { needsTransaction($0, actor) } ?? false
    if !hasTables || migrates { database.objects?.joins = false }
    append(actor, .open)
    openActors.append(actor)
    if !hasTables {
      append(actor, .createTables(scenario.tables))
      hasTables = true
      transactionCount = 1
    } else if migrates, let schema = database.objects {
      try spend(model.rowCount, at: position)
      let transaction = PlannedTransaction(number: transactionCount, schema: schema)
      append(actor, .transaction(transaction))
      transactionCount += 1
      _ = model.apply(transaction)
      highestKey[ObjectClasses.dog] =
        model.sortedRows(of: ObjectClasses.dog).last.map { max($0.key, highestDog) }
    }
    if let schema = database.objects {
      if schemaVersion == 0 { model.makeObjects(schema) }
      schemaVersion = max(schemaVersion, schema.schemaVersion)
      database.objects?.joins = true
    }
  }

  private var highestDog: Int64 { highestKey[ObjectClasses.dog] ?? 0 }

  /// Whether opening a realm commits something, or may have to after a kill or a failure.
  private func needsTransaction(_ schema: ObjectDeclaration, _ actor: String) -> Bool {
    let process = scenario.process(of: actor).name
    return schema.schemaVersion != schemaVersion
      || scenario.kill.map { $0.process != process } ?? (scenario.sweep != nil)
  }

  // MARK: - Transactions

  private mutating func addTransaction(_ write: WriteStep, _ actor: String) throws(LabError) {
    let isKept = !write.cancels && write.fails == nil
    if !isKept { try spend(model.rowCount, at: position) }
    let committed = isKept ? nil : model
    let committedHighest = highestKey
    var mutations: [Mutation] = []
    for statement in write.statements {
      for _ in 0..<statement.times {
        guard let mutation = try makeMutation(statement, fails: write.fails) else { break }
        // A statement that must fail does not change the model.
        _ = model.apply(mutation)
        mutations.append(mutation)
      }
    }
    var transaction = PlannedTransaction(
      number: transactionCount, mutations: mutations, cancels: write.cancels, fails: write.fails)
    transaction.copy = write.copy
    transaction.isAsync = write.isAsync
    append(actor, .transaction(transaction))
    transactionCount += 1
    guard let committed else { return }
    model = committed
    if let code = write.fails, AckLog.isIndeterminate(code) {
      for mutation in mutations { doubtful[mutation.table, default: []].insert(mutation.key) }
    } else {
      highestKey = committedHighest
    }
  }

  /// The statement's next row; nil if it has fewer rows because no key is left.
  private mutating func makeMutation(
    _ statement: WriteStatement, fails: String?
  ) throws(LabError) -> Mutation? {
    try spend(1, at: statement.position)
    guard let key = try makeKey(statement, fails: fails) else {
      guard statement.isAtMost else { throw noKey(statement, fails) }
      return nil
    }
    highestKey[statement.table] = max(highestKey[statement.table] ?? 0, key)
    guard statement.kind != .delete,
      let table = scenario.tables.first(where: { $0.name == statement.table })
    else {
      // Links to the row become null.
      for table in scenario.tables
      where table.columns.contains(where: { $0.target == statement.table }) {
        try spend(model.count(of: table.name), at: statement.position)
      }
      return Mutation(statement.kind, statement.table, key: key)
    }
    let present = statement.kind == .update ? model.row(key, in: statement.table) : nil
    var values: [PlannedValue] = []
    for (index, column) in table.columns.enumerated() {
      if let rule = statement.values[column.name] {
        values.append(try makeValue(rule, statement.position, index, column))
      } else {
        values.append(present?[index] ?? .empty(column))
      }
      if column.isUnique, present == nil || statement.values[column.name] != nil {
        values[index] = try makeUnique(column, key, statement)
      }
    }
    let edit = try makeEdit(statement, key, &values)
    textBytes += values.reduce(0) { $0 + $1.contentBytes }
    guard textBytes <= ScenarioBounds.textBytes else {
      throw failure(
        statement, "the values come to more than \(ScenarioBounds.textBytes) bytes",
        "lower 'repeat', 'times' or the number of letters")
    }
    var mutation = Mutation(statement.kind, statement.table, key: key, values: values)
    mutation.edit = edit
    return mutation
  }

  /// The statement's change of a content, which is applied to the values.
  private mutating func makeEdit(
    _ statement: WriteStatement, _ key: Int64, _ values: inout [PlannedValue]
  ) throws(LabError) -> ContentEdit? {
    guard let rule = statement.edit, let content = values.first else { return nil }
    guard model.row(key, in: statement.table) != nil else {
      // It must fail, whatever it changes.
      return ContentEdit(path: [], change: .clear)
    }
    try spend(content.valueCount, at: statement.position)
    let edit: ContentEdit
    switch rule {
    case .planned(let planned): edit = planned
    case .any:
      let dogs = try keys(of: ObjectClasses.dog, at: statement.position)
      var generator = generator(statement.position)
      edit = content.drawEdit(dogs: dogs, &generator)
      generators[statement.position] = generator
    }
    do throws(EditMisfit) {
      values[0] = try content.applying(edit)
    } catch {
      throw failure(
        statement,
        "the edit of \(statement.table) \(key) in transaction \(transactionCount) does not fit: "
          + "\(error.reason); the content is \(content.text.prefix(200))",
        "correct 'at', or give the object another content before")
    }
    return edit
  }

  // MARK: - Keys

  private mutating func makeKey(
    _ statement: WriteStatement, fails: String?
  ) throws(LabError) -> Int64? {
    switch statement.key {
    case .sequence:
      let (next, overflow) = (highestKey[statement.table] ?? 0).addingReportingOverflow(1)
      guard !overflow, next <= ScenarioBounds.keys.upperBound else {
        throw failure(statement, "no key is left above \(next)", "use smaller keys")
      }
      return next
    case .constant(let key):
      return fits(key, statement, fails) ? key : nil
    case .walk(let range):
      let count = UInt64(bitPattern: range.upperBound &- range.lowerBound) + 1
      let start = walkSteps[statement.position] ?? 0
      return try search(statement, range, count: count, from: start % count, fails: fails)
    case .random(let range):
      let count = UInt64(bitPattern: range.upperBound &- range.lowerBound) + 1
      var generator = generator(statement.position)
      let start = generator.next(upperBound: count)
      generators[statement.position] = generator
      return try search(statement, range, count: count, from: start, fails: fails)
    }
  }

  /// The first key at or after a place, wrapping around the range, for which the statement has the
  /// required result.
  private mutating func search(
    _ statement: WriteStatement, _ range: ClosedRange<Int64>, count: UInt64, from start: UInt64,
    fails: String?
  ) throws(LabError) -> Int64? {
    // At most the table's rows, including doubtful ones, can precede a free key.
    let rows = model.count(of: statement.table) + (doubtful[statement.table]?.count ?? 0)
    for step in 0..<min(count, UInt64(rows) + 1) {
      let place = (start + step) % count
      let key = range.lowerBound &+ Int64(bitPattern: place)
      guard fits(key, statement, fails) else {
        try spend(1, at: statement.position)
        continue
      }
      if case .walk = statement.key { walkSteps[statement.position] = place + 1 }
      return key
    }
    // An existing key may be farther away; then the rows are the shorter list.
    let first = range.lowerBound &+ Int64(bitPattern: start)
    let keys = try keys(of: statement.table, at: statement.position).filter {
      range.contains($0) && fits($0, statement, fails)
    }
    guard let key = keys.first(where: { $0 >= first }) ?? keys.first else { return nil }
    if case .walk = statement.key {
      walkSteps[statement.position] = UInt64(bitPattern: key &- range.lowerBound) + 1
    }
    return key
  }

  private func fits(_ key: Int64, _ statement: WriteStatement, _ fails: String?) -> Bool {
    guard statement.kind != .upsert else { return true }
    if doubtful[statement.table]?.contains(key) ?? false { return false }
    let exists = model.row(key, in: statement.table) != nil
    switch (statement.kind, fails) {
    case (.insert, "keyExists"): return exists
    case (.insert, _), (_, "keyNotFound"): return !exists
    default: return exists
    }
  }

  private func noKey(_ statement: WriteStatement, _ fails: String?) -> LabError {
    let needs = (statement.kind == .insert) == (fails != "keyExists") ? "free" : "existing"
    let span =
      switch statement.key {
      case .constant(let key): "\(key)..\(key)"
      case .walk(let range), .random(let range): "\(range.lowerBound)..\(range.upperBound)"
      case .sequence: "sequence"
      }
    return failure(
      statement,
      "\(statement.kind.rawValue) into '\(statement.table)' in transaction \(transactionCount) "
        + "finds no \(needs) key in \(span)",
      "use a wider range, fewer repetitions, or upsert")
  }

  private func failure(
    _ statement: WriteStatement, _ message: String, _ remedy: String
  ) -> LabError {
    failure(at: statement.position, message, remedy)
  }

  private func failure(
    at position: SourcePosition, _ message: String, _ remedy: String
  ) -> LabError {
    ScenarioError([
      ScenarioDiagnostic(
        file: scenario.file, position: position, message: message, remedy: remedy)
    ]).labError
  }

  // MARK: - Work

  /// Counts work before it is done.
  private mutating func spend(_ work: Int, at position: SourcePosition?) throws(LabError) {
    guard work <= workLeft else {
      throw failure(
        at: position ?? SourcePosition(line: 1, column: 1),
        "planning the statements up to this one passes over too many rows and keys",
        "lower 'repeat' or 'times', choose keys that are there, or roll less back")
    }
    workLeft -= work
  }

  /// The keys of a table's rows, ascending.
  private mutating func keys(
    of table: String, at position: SourcePosition
  ) throws(LabError) -> [Int64] {
    try spend(model.count(of: table), at: position)
    return model.sortedRows(of: table).map(\.key)
  }

  // MARK: - Values

  private func generator(_ position: SourcePosition) -> PRNG {
    // The line of `version` does not count, so that it can be added without drawing anew.
    let line = position.line - (scenario.lines.version.map { $0 < position.line ? 1 : 0 } ?? 0)
    return generators[position]
      ?? PRNG(seed.derived(UInt64(line) << 20 ^ UInt64(position.column)))
  }

  private mutating func makeValue(
    _ rule: ValueRule, _ position: SourcePosition, _ index: Int, _ column: ColumnDeclaration
  ) throws(LabError) -> PlannedValue {
    // Each column of a statement has its own sequence and seed.
    let place = SourcePosition(line: position.line, column: position.column + (index + 1) << 12)
    var generator = generator(place)
    defer { generators[place] = generator }
    guard column.type != .link else {
      return try makeLink(rule, position, place, column, &generator)
    }
    if let kind = column.objects, rule.isDrawn {
      var range: ClosedRange<Int>?
      if case .items(let items) = rule { range = items }
      let targets = try kind.target.map { name throws(LabError) in
        try keys(of: name, at: position)
      }
      return kind.draw(range, targets: targets ?? [], &generator)
    }
    switch rule {
    case .null: return .null
    case .any: return column.draw(&generator)
    case .content(let value): return value
    case .items(let range):
      let count = Int.random(in: range, using: &generator)
      return .list((0..<count).map { _ in column.drawElement(&generator) })
    case .int(let number): return .int(number)
    case .text(let text): return .string(text)
    case .bool(let bool): return .bool(bool)
    case .double(let double): return .double(double.bitPattern)
    case .anyInt: return .int(generator.anyInt())
    case .randomInt(let range): return .int(Int64.random(in: range, using: &generator))
    case .walk(let range):
      let step = walkSteps[place] ?? 0
      walkSteps[place] = step + 1
      let width = UInt64(bitPattern: range.upperBound &- range.lowerBound)
      let offset = width == UInt64.max ? step : step % (width + 1)
      return .int(range.lowerBound &+ Int64(bitPattern: offset))
    case .letters(let range):
      return .string(generator.letters(Int.random(in: range, using: &generator)))
    }
  }

  /// A value that no other row has, derived from the key.
  private mutating func makeUnique(
    _ column: ColumnDeclaration, _ key: Int64, _ statement: WriteStatement
  ) throws(LabError) -> PlannedValue {
    guard ScenarioBounds.uniqueKeys.contains(key) else {
      throw failure(
        statement, "the key \(key) is too large for the unique column '\(column.name)'",
        "use keys of at most \(ScenarioBounds.uniqueKeys.upperBound) either side of 0")
    }
    let place = SourcePosition(
      line: statement.position.line, column: statement.position.column + 1 << 20)
    var generator = generator(place)
    defer { generators[place] = generator }
    guard column.type == .string else { return .int(key << 10 | Int64(generator.below(1 << 10))) }
    return .string("\(key)-\(generator.letters(generator.below(12)))")
  }

  /// A link to the row that the rule selects, or null if it does not exist.
  private mutating func makeLink(
    _ rule: ValueRule, _ position: SourcePosition, _ place: SourcePosition,
    _ column: ColumnDeclaration, _ generator: inout PRNG
  ) throws(LabError) -> PlannedValue {
    guard let target = column.target else { return .null }
    let key: Int64
    switch rule {
    case .int(let number): key = number
    case .randomInt(let range): key = Int64.random(in: range, using: &generator)
    case .walk(let range):
      let step = walkSteps[place] ?? 0
      walkSteps[place] = step + 1
      let width = UInt64(bitPattern: range.upperBound &- range.lowerBound)
      key = range.lowerBound &+ Int64(bitPattern: width == .max ? step : step % (width + 1))
    default:
      let keys = try keys(of: target, at: position)
      guard !keys.isEmpty else { return .null }
      key = keys[Int(generator.next(upperBound: UInt64(keys.count)))]
    }
    return model.row(key, in: target) == nil ? .null : .link(key)
  }
}
