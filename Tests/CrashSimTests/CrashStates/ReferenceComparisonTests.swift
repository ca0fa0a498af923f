// ReferenceComparisonTests.swift: the enumerator and the incremental images against a naive
// reading.

import CrashStates
import LabCore
import TestSupport
import Testing

@Suite("Crash states against a naive reading")
struct ReferenceComparisonTests {
  @Test(
    "exhaustive enumeration finds exactly the contents of all down-closed sets",
    arguments: PersistenceModel.stock)
  func exhaustiveFindsAll(model: PersistenceModel) throws {
    var comparedPoints = 0
    for number in 0..<(FullSize.isOn ? 30 : 10) {
      let trace = makeRandomTrace(
        seed: Seed(rawValue: UInt64(number)), operations: 8, syncChance: Ratio(1, in: 4))
      let table = try UnitTable(trace: trace, model: model)
      var expected: [Int: Set<VisibleTree>] = [:]
      var isSmall = true
      for point in 0..<table.crashPointCount {
        guard table.pendingUnits(at: point).count <= 9 else {
          isSmall = false
          break
        }
        for kept in table.allDownSets(at: point) {
          let state = try table.state(at: point, keeping: kept)
          expected[point, default: []].insert(table.expected(state))
        }
      }
      guard isSmall else { continue }
      comparedPoints += table.crashPointCount
      var options = ExplorationOptions(tornUnits: 0)
      options.exhaustiveUpTo = 12
      let enumerator = try CrashStateEnumerator(
        trace: trace, model: model, seed: Seed(rawValue: 1), options: options)
      let found = try contents(of: enumerator)
      let wanted = expected.values.reduce(into: Set()) { $0.formUnion($1) }
      #expect(Set(found) == wanted, "model=\(model.name) seed=\(number)")
      #expect(found.count == wanted.count, "a content twice: model=\(model.name) seed=\(number)")
    }
    #expect(comparedPoints > 25)
  }

  private func contents(of enumerator: CrashStateEnumerator) throws -> [VisibleTree] {
    var found: [VisibleTree] = []
    try enumerator.visit(enumerator.plan()) { (_, image) throws(LabError) in
      guard let visible = try? image.visible() else { throw .lab("image cannot be read") }
      found.append(visible)
      return .goOn
    }
    return found
  }

  @Test(
    "images built step by step equal the naive reading, and equal hashes mean equal contents",
    arguments: PersistenceModel.stock)
  func incrementalEqualsNaive(model: PersistenceModel) throws {
    var states = 0
    for number in 0..<(FullSize.isOn ? 12 : 4) {
      let trace = makeRandomTrace(
        seed: Seed(rawValue: 1000 + UInt64(number)), operations: 40, syncChance: Ratio(1, in: 5))
      let enumerator = try CrashStateEnumerator(
        trace: trace, model: model, seed: Seed(rawValue: 5),
        options: ExplorationOptions(samplesPerCrashPoint: 6, unitsPerStrategy: 6, tornUnits: 1))
      var contentOf: [ContentHash: VisibleTree] = [:]
      try enumerator.visit(enumerator.plan(budget: 150)) { (found, image) throws(LabError) in
        guard let visible = try? image.visible() else { throw .lab("image cannot be read") }
        states += 1
        if found.state.torn == nil {
          let expected = enumerator.table.expected(found.state)
          if visible != expected {
            Issue.record("model=\(model.name) seed=\(number) \(enumerator.key(of: found.state))")
            return .stop
          }
        }
        if let earlier = contentOf[found.contentHash] { #expect(earlier == visible) }
        contentOf[found.contentHash] = visible
        let fresh = try CrashPointImages(table: enumerator.table, at: found.state.crashPoint)
        #expect(try fresh.contentHash(of: found.state) == found.contentHash)
        return .goOn
      }
      #expect(Set(contentOf.values).count == contentOf.count, "one content, two hashes: \(number)")
    }
    #expect(states > 100)
  }

  @Test(
    "where many units pend, no content is told twice, and each is the naive reading",
    arguments: ["ext4-ordered", "prefix-per-file", "posix"])
  func manyUnits(name: String) throws {
    let model = try #require(PersistenceModel.stock.first { $0.name == name })
    for number in 0..<(FullSize.isOn ? 3 : 1) {
      let trace = makeRandomTrace(
        seed: Seed(rawValue: 3000 + UInt64(number)), operations: 160, syncChance: Ratio(1, in: 160))
      let enumerator = try CrashStateEnumerator(
        trace: trace, model: model, seed: Seed(rawValue: 7),
        options: ExplorationOptions(samplesPerCrashPoint: 3, unitsPerStrategy: 8, tornUnits: 1))
      let units = (0..<enumerator.table.crashPointCount)
        .map { enumerator.table.pendingUnits(at: $0).count }
      #expect(units.max() ?? 0 > 64)
      var hashes: Set<ContentHash> = []
      var states = 0
      try enumerator.visit(enumerator.plan()) { (found, image) throws(LabError) in
        states += 1
        hashes.insert(found.contentHash)
        guard states % 20 == 0, found.state.torn == nil else { return .goOn }
        guard let visible = try? image.visible() else { throw .lab("image cannot be read") }
        #expect(visible == enumerator.table.expected(found.state), "\(number)")
        return .goOn
      }
      #expect(hashes.count == states, "a content twice: \(name) seed=\(3000 + number)")
      #expect(states > 200)
    }
  }

  @Test("a weaker model allows every untorn state of a stronger one")
  func modelsAreNested() throws {
    var comparedPoints = 0
    for number in 0..<(FullSize.isOn ? 20 : 7) {
      let trace = makeRandomTrace(
        seed: Seed(rawValue: 2000 + UInt64(number)), operations: 7, syncChance: Ratio(1, in: 4))
      var contents: [String: [Int: Set<VisibleTree>]] = [:]
      for model in PersistenceModel.stock {
        let table = try UnitTable(trace: trace, model: model)
        var byPoint: [Int: Set<VisibleTree>] = [:]
        for point in 0..<table.crashPointCount where table.pendingUnits(at: point).count <= 11 {
          for kept in table.allDownSets(at: point) {
            byPoint[point, default: []].insert(
              table.expected(try table.state(at: point, keeping: kept)))
          }
        }
        contents[model.name] = byPoint
      }
      for (strong, weak) in PersistenceModel.strongerPairs {
        for (point, visible) in contents[strong.name] ?? [:] {
          guard let allowed = contents[weak.name]?[point] else { continue }
          comparedPoints += 1
          #expect(
            visible.isSubset(of: allowed),
            "\(strong.name) is not within \(weak.name): seed=\(2000 + number) crash point \(point)")
        }
      }
    }
    #expect(comparedPoints > 150)
  }
}
