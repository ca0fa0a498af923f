// CollectionTests.swift: lists, sets and dictionaries edited in place against plain arrays and
// dictionaries, small ones in the leaf of their row and large ones in trees of their own.

import Testing

@testable import Engine

@Suite("Collections")
struct CollectionTests {
  private static func schema(_ type: ColumnType, optional: Bool = false) -> TableSchema {
    TableSchema(
      name: "C",
      columns: [.list, .set, .dictionary].map {
        ColumnSchema(name: "\($0)", type: type, isOptional: optional, collection: $0)
      })
  }

  private static let list = CollectionPath(table: "C", key: 1, column: "list")
  private static let set = CollectionPath(table: "C", key: 1, column: "set")
  private static let dictionary = CollectionPath(table: "C", key: 1, column: "dictionary")
  private static let empty: [Value] = [.list([]), .set([]), .dictionary([])]

  @Test("a list whose tree has three levels is verified, each node by its level")
  func threeLevels() throws {
    let database = try ModelDatabase(Self.schema(.string)).database
    let write = try database.beginWrite()
    let values = (0..<20_000).map { Value.string(String(repeating: "\($0) ", count: 40)) }
    try write.insert(into: "C", key: 1, [.list(values), .set([]), .dictionary([])])
    try write.commit()
    #expect(try Reseal.nodes(database, .collectionInner).count > 2)
    #expect(try database.verify().rows == 1)
  }

  @Test("a long list agrees with an array under random edits")
  func longList() throws {
    let count = TableSize.rows(100_000)
    var random = TestRandom(11)
    let database = try ModelDatabase(Self.schema(.int)).database
    var model = (0..<count).map { Int64($0) &* 3 }
    var write = try database.beginWrite()
    try write.insert(into: "C", key: 1, [.list(model.map { .int($0) }), .set([]), .dictionary([])])
    try write.commit()
    for round in 0..<4 {
      write = try database.beginWrite()
      // Mostly growing, then mostly shrinking, in one place or all over.
      for step in 0..<1500 {
        let number = Int64(bitPattern: random.next()) >> Int64(random.below(64))
        let spot = round == 1 ? 5000 : random.below(model.count)
        switch random.below(round < 2 ? 3 : 5) {
        case 0:
          try write.replace(at: spot, with: .int(number), in: Self.list)
          model[spot] = number
        case 1:
          try write.insert(.int(number), at: spot, in: Self.list)
          model.insert(number, at: spot)
        case 2:
          try write.append(.int(number), to: Self.list)
          model.append(number)
        default:
          try write.remove(at: spot, from: Self.list)
          model.remove(at: spot)
        }
        if step % 100 == 0 {
          let index = random.below(model.count)
          #expect(try write.element(at: index, of: Self.list) == .int(model[index]))
          #expect(try write.count(of: Self.list) == model.count)
        }
      }
      try write.commit()
      try database.verify()
      let snapshot = try database.snapshot()
      var found: [Int64] = []
      try snapshot.forEach(in: Self.list) { key, value in
        if case .int(let number) = value, key == nil { found.append(number) }
      }
      #expect(found == model)
      for _ in 0..<50 {
        let index = random.below(model.count)
        #expect(try snapshot.element(at: index, of: Self.list) == .int(model[index]))
      }
      snapshot.release()
    }
    write = try database.beginWrite()
    while model.count > 3 {
      try write.remove(at: model.count > 200 ? model.count / 2 : 0, from: Self.list)
      model.remove(at: model.count > 200 ? model.count / 2 : 0)
      if model.count == count / 10 * 9 {
        try write.removeAll(from: Self.list)
        model = [1, 2, 3]
        for number in model { try write.append(.int(number), to: Self.list) }
      }
    }
    try write.commit()
    #expect(try database.verify().nodes <= 3)
    #expect(try database.snapshot().row(in: "C", key: 1)?[0] == .list([1, 2, 3].map { .int($0) }))
  }

  @Test("an edit of a long list writes a path of nodes, not the list")
  func editsAreSmall() throws {
    let count = TableSize.rows(200_000)
    let test = try ModelDatabase(Self.schema(.int))
    try test.write { write in
      let numbers = (0..<count).map { Value.int(Int64($0) &* 0x1234_5678_9abc) }
      try write.insert(into: "C", key: 1, [.list(numbers), .set([]), .dictionary([])])
    }
    let edits: [(WriteTransaction) throws -> Void] = [
      { try $0.append(.int(1), to: Self.list) },
      { try $0.insert(.int(1), at: count / 2, in: Self.list) },
      { try $0.replace(at: 7, with: .int(1), in: Self.list) },
      { try $0.remove(at: count / 4, from: Self.list) },
    ]
    for edit in edits {
      test.backend.clearLog()
      try test.write(edit)
      let written = test.backend.log.reduce(0) { sum, operation in
        if case .write(_, let bytes) = operation { return sum + bytes.count }
        return sum
      }
      // Leaf of the row, up to three levels of the list, group, free list, slot.
      #expect(written <= 16 * 4096, "\(written) bytes for one element")
      try test.database.verify()
    }
  }

  /// Edits of one set and one dictionary against models, with commits and checks in between.
  private static func editSorted(
    _ type: ColumnType, optional: Bool, steps: Int, values: (inout TestRandom) -> Value
  ) throws {
    var random = TestRandom(UInt64(type.rawValue) * 2 + (optional ? 1 : 0))
    var test = try ModelDatabase(schema(type, optional: optional))
    try test.write { try $0.insert(into: "C", key: 1, empty) }
    var elements: Set<Value> = []
    var entries: [String: Value] = [:]
    for round in 0..<6 {
      try test.write { write in
        for step in 0..<steps {
          let value = optional && random.below(20) == 0 ? .null : values(&random)
          let isGrowing = round < 3 ? random.below(4) > 0 : random.below(4) == 0
          if isGrowing {
            let isNew = elements.insert(value).inserted
            #expect(try write.insert(value, into: set) == isNew)
          } else {
            let victim = elements.isEmpty ? value : elements[elements.startIndex]
            let wasThere = elements.remove(victim) != nil
            #expect(try write.remove(victim, from: set) == wasThere)
          }
          let key = "key \(random.below(steps))" + (step % 50 == 0 ? "long" : "")
          if isGrowing {
            try write.set(value, forKey: key, in: dictionary)
            entries[key] = value
          } else {
            let victim = entries.keys.first ?? key
            #expect(
              try write.removeValue(forKey: victim, from: dictionary)
                == (entries.removeValue(forKey: victim) != nil))
          }
          if step % 40 == 0 {
            #expect(try write.contains(value, in: set) == elements.contains(value))
            #expect(try write.value(forKey: key, in: dictionary) == entries[key])
          }
        }
      }
      test.rows[1] = [
        .list([]), Value.set(Array(elements)).canonical,
        Value.dictionary(entries.map { DictionaryEntry(key: $0, value: $1) }).canonical,
      ]
      try test.check()
    }
    try test.write { write in
      try write.removeAll(from: set)
      try write.removeAll(from: dictionary)
    }
    test.rows[1] = empty
    try test.check()
    #expect(try test.database.verify().nodes <= 3)
  }

  @Test("sets and dictionaries agree with models, for every type", arguments: ColumnType.allCases)
  func everyType(_ type: ColumnType) throws {
    guard type != .link else { return }
    try Self.editSorted(type, optional: type == .mixed, steps: 40) { random in
      let edges = ColumnFixtures.edges(type)
      return edges[random.below(edges.count)]
    }
  }

  @Test("large sets and dictionaries agree with models", arguments: [false, true])
  func large(_ optional: Bool) throws {
    try Self.editSorted(.int, optional: optional, steps: 700) { random in
      .int(Int64(bitPattern: random.next()) >> Int64(random.below(64)))
    }
    try Self.editSorted(.string, optional: optional, steps: 300) { random in
      .string("element \(random.below(100_000))" + String(repeating: "é", count: random.below(40)))
    }
  }

  @Test("a collection moves out of its row when it grows, and back when it shrinks")
  func inAndOut() throws {
    var test = try ModelDatabase(Self.schema(.string))
    try test.write { try $0.insert(into: "C", key: 1, Self.empty) }
    var model: [Value] = []
    func nodes() throws -> Int { try test.database.verify().nodes }
    let flat = try nodes()
    for index in 0..<120 {
      let value = Value.string("element \(index)")
      try test.write { try $0.append(value, to: Self.list) }
      model.append(value)
      test.rows[1] = [.list(model), .set([]), .dictionary([])]
      let added = try nodes() - flat
      #expect(added == (model.count > 45 ? 1 : 0) || (38...48).contains(model.count))
    }
    try test.check()
    #expect(try nodes() == flat + 1)
    while !model.isEmpty {
      try test.write { try $0.remove(at: model.count - 1, from: Self.list) }
      model.removeLast()
      test.rows[1] = [.list(model), .set([]), .dictionary([])]
      if model.count % 10 == 0 { try test.check() }
      let added = try nodes() - flat
      #expect(model.count > 20 ? added <= 1 : added == 0)
    }
  }

  @Test("several collections of several rows in one transaction, dropped again, leave no leak")
  func interleaved() throws {
    var random = TestRandom(5)
    var test = try ModelDatabase(Self.schema(.binary, optional: true))
    func blob() -> Value {
      .binary([UInt8](repeating: 1, count: [3, 600, 40][random.below(3)]))
    }
    for _ in 0..<8 {
      try test.write { write in
        for key in Int64(0)..<6 {
          let list = (0..<random.below(60)).map { _ in blob() }
          let row: [Value] = [.list(list), .set([]), .dictionary([])]
          if random.below(4) == 0, test.rows[key] != nil {
            try write.delete(from: "C", key: key)
            test.rows[key] = nil
            continue
          }
          try test.put(key, row, write)
          let path = CollectionPath(table: "C", key: key, column: "list")
          var model = list
          for _ in 0..<random.below(30) {
            model.append(blob())
            try write.append(model[model.count - 1], to: path)
            let gone = random.below(model.count)
            model.remove(at: gone)
            try write.remove(at: gone, from: path)
          }
          test.rows[key] = [.list(model), .set([]), .dictionary([])]
        }
      }
      try test.check()
    }
  }

  @Test("wrong paths, indexes and elements are errors and leave the transaction as it was")
  func errors() throws {
    var test = try ModelDatabase(Self.schema(.int))
    test.rows[1] = [.list([.int(1)]), .set([.int(1)]), .dictionary([])]
    try test.write { try $0.insert(into: "C", key: 1, test.rows[1] ?? []) }
    let write = try test.database.beginWrite()
    let list = Self.list
    #expect(errorCode { try write.append(.string("x"), to: list) } == .schemaMismatch)
    #expect(errorCode { try write.append(.null, to: list) } == .schemaMismatch)
    #expect(errorCode { try write.append(.int(1), to: Self.set) } == .schemaMismatch)
    #expect(errorCode { try write.insert(.int(1), into: list) } == .schemaMismatch)
    for index in [-1, 1, Int.max] {
      #expect(errorCode { try write.remove(at: index, from: list) } == .indexOutOfRange)
      #expect(errorCode { try write.element(at: index, of: list) } == .indexOutOfRange)
      #expect(
        errorCode { try write.replace(at: index, with: .int(1), in: list) } == .indexOutOfRange)
    }
    #expect(errorCode { try write.insert(.int(1), at: 2, in: list) } == .indexOutOfRange)
    let nowhere = CollectionPath(table: "C", key: 9, column: "list")
    #expect(errorCode { try write.append(.int(1), to: nowhere) } == .keyNotFound)
    #expect(errorCode { try write.count(of: nowhere) } == .keyNotFound)
    let noColumn = CollectionPath(table: "C", key: 1, column: "x")
    #expect(errorCode { try write.count(of: noColumn) } == .noSuchColumn)
    let noTable = CollectionPath(table: "D", key: 1, column: "x")
    #expect(errorCode { try write.count(of: noTable) } == .noSuchTable)
    try write.commit()
    try test.check()
    let snapshot = try test.database.snapshot()
    #expect(try snapshot.count(of: list) == 1)
    #expect(try snapshot.contains(.int(1), in: Self.set))
    #expect(try !snapshot.contains(.int(2), in: Self.set))
    #expect(try snapshot.value(forKey: "x", in: Self.dictionary) == nil)
    #expect(errorCode { try snapshot.element(at: 1, of: list) } == .indexOutOfRange)
    snapshot.release()
    #expect(errorCode { try snapshot.count(of: list) } == .closed)
  }
}
