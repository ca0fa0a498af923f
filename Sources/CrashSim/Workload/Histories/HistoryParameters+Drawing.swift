// HistoryParameters+Drawing.swift: draws a history's features, tables, processes and sizes.
// Invariant: each has its own seed, so that an additional one changes no other.

import LabCore

extension HistoryParameters {
  /// Draws the parameters of one history.
  /// - Parameters:
  ///   - scenario: The scenario, which has a declaration of histories.
  ///   - seed: The run's seed.
  ///   - number: Number of the history, from 0.
  /// - Complexity: O(features and columns).
  init(_ scenario: Scenario, seed: Seed, number: Int) {
    let declaration = scenario.history ?? HistoryDeclaration()
    let seed = seed.derived("history").derived(UInt64(number))
    self.number = number
    content = declaration.content
    isScheduled = declaration.isScheduled
    features = Self.drawFeatures(scenario, declaration, seed.derived("features"))
    var random = PRNG(seed.derived("sizes"))
    guard content != .sync else {
      drawNodes(declaration, &random)
      return
    }
    writesUpserts = scenario.kill != nil || scenario.sweep != nil
    let rowsMax = declaration.rows
    rows = [min(8, rowsMax), min(60, rowsMax), rowsMax, rowsMax][random.below(4)]
    statementRows = min(rows, features.contains(.manyRows) ? 40 + random.below(160) : 12)
    runLength = features.contains(.runs) ? 4 + random.below(28) : 1
    checkEvery = features.contains(.rareReads) ? 12 + random.below(24) : 1 << random.below(4)
    pinsMax = features.contains(.pins) ? 1 + random.below(12) : 0
    processes = Self.drawProcesses(declaration, features, scenario.kill?.process, &random)
    doomed = processes.first { $0.name == scenario.kill?.process }?.actors ?? []
    if content == .tables { tables = Self.drawTables(features, seed.derived("tables")) }
  }

  /// Draws the sizes of a history of synchronization: few dogs, so that clients meet at each.
  private mutating func drawNodes(_ declaration: HistoryDeclaration, _ random: inout PRNG) {
    rows = 1 + random.below(min(declaration.rows, 6))
    // The server, and one client in one history of four.
    let all = declaration.declaredProcesses
    let isAlone = all.count == 2 || random.chance(Ratio(1, in: 4))
    processes = Array(all.prefix(isAlone ? 2 : 3 + random.below(all.count - 2)))
    plant = declaration.plant
    breaks = declaration.breaks
  }

  private static func drawFeatures(
    _ scenario: Scenario, _ declaration: HistoryDeclaration, _ seed: Seed
  ) -> Set<HistoryFeature> {
    var features: Set<HistoryFeature> = []
    for (index, feature) in HistoryFeature.allCases.enumerated() {
      var random = PRNG(seed.derived(UInt64(index)))
      if random.below(100) < feature.percent { features.insert(feature) }
    }
    features.formUnion(declaration.always)
    features.formUnion(declaration.always.compactMap(\.needed))
    features.subtract(declaration.never)
    features.formIntersection(declaration.features)
    if declaration.processes == 1 { features.remove(.processes) }
    if declaration.isScheduled { features.insert(.threads) }
    // Each run of synchronization begins anew, and looks before it changes a row.
    guard declaration.content != .sync else { return features }
    if scenario.kill != nil || scenario.sweep != nil {
      features.subtract(HistoryFeature.ofKnownRows)
    }
    if scenario.sweep != nil { features.subtract(HistoryFeature.notOfSweeps) }
    // When two features exclude each other, the one that the scenario requires stays.
    if features.isSuperset(of: [.encrypted, .processes]) {
      features.remove(declaration.always.contains(.processes) ? .encrypted : .processes)
    }
    if declaration.content == .tables, features.isDisjoint(with: HistoryFeature.columnKinds) {
      features.insert(.ints)
    }
    let possible = declaration.features
    for feature in HistoryFeature.allCases {
      guard let needed = feature.needed, possible.contains(needed) else { continue }
      if !features.contains(needed) { features.remove(feature) }
    }
    return features
  }

  private static func drawProcesses(
    _ declaration: HistoryDeclaration, _ features: Set<HistoryFeature>, _ killed: String?,
    _ random: inout PRNG
  ) -> [ProcessDeclaration] {
    let all = declaration.declaredProcesses
    var count = features.contains(.processes) ? 2 + random.below(all.count - 1) : 1
    if let place = all.firstIndex(where: { $0.name == killed }) { count = max(count, place + 1) }
    return all.prefix(count).map { process in
      let least = declaration.isScheduled ? 2 : 1
      let most = process.actors.count
      let actors = features.contains(.threads) ? least + random.below(most - least + 1) : 1
      return ProcessDeclaration(
        name: process.name, actors: Array(process.actors.prefix(actors)))
    }
  }

  private static func drawTables(
    _ features: Set<HistoryFeature>, _ seed: Seed
  ) -> [TableDeclaration] {
    var random = PRNG(seed)
    let kinds = HistoryFeature.columnKinds.filter { features.contains($0) }
    return (1...1 + random.below(3)).map { number in
      var table = TableDeclaration(name: "T\(number)", key: "k", columns: [])
      for place in 1...1 + random.below(6) {
        let kind = kinds[random.below(kinds.count)]
        var column = drawColumn("c\(place)", kind, features, &random)
        // The first table takes Faultline's own rows, which are all equal.
        if number > 1, features.contains(.unique), !column.isList, !column.isOptional,
          column.type == .int || column.type == .string, random.below(2) == 0
        {
          column.isUnique = true
          column.isIndexed = false
        }
        table.columns.append(column)
      }
      return table
    }
  }

  private static func drawColumn(
    _ name: String, _ kind: HistoryFeature, _ features: Set<HistoryFeature>, _ random: inout PRNG
  ) -> ColumnDeclaration {
    let elements: [DeclaredType] = [.int, .string, .bool, .double, .binary, .date, .uuid]
    var column = ColumnDeclaration(name: name, type: .int)
    switch kind {
    case .texts: column.type = .string
    case .bools: column.type = .bool
    case .doubles: column.type = .double
    case .binaries: column.type = .binary
    case .dates: column.type = .date
    case .uuids: column.type = .uuid
    case .mixed: column.type = .mixed
    case .lists:
      column.isList = true
      column.type = elements[random.below(elements.count)]
      return column
    case .links:
      column.type = .link
      column.target = "T1"
      return column
    default: break
    }
    let takesIndex = ![.double, .binary, .mixed].contains(column.type)
    if column.type != .mixed, features.contains(.nulls), random.below(2) == 0 {
      column.isOptional = true
    }
    if takesIndex, features.contains(.indexes), random.below(2) == 0 { column.isIndexed = true }
    return column
  }
}
