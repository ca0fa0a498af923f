// BPlusTreeTests.swift: the tree against a dictionary, in several shapes, down to empty.

import Testing

@testable import Engine

@Suite("B+ tree")
struct BPlusTreeTests {
  enum Shape: CaseIterable {
    case ascending
    case descending
    case random
    case extreme
    case wide
  }

  private static func key(_ shape: Shape, _ step: Int, _ random: inout TestRandom) -> Int64 {
    switch shape {
    case .ascending: Int64(step)
    case .descending: Int64(-step)
    case .random, .wide: Int64(random.below(4000))
    case .extreme: Int64(bitPattern: random.next() & 0xffc0_0000_0000_00ff)
    }
  }

  private static func values(_ shape: Shape, _ step: Int, _ random: inout TestRandom) -> [Value] {
    let length = shape == .wide ? random.below(700) : random.below(20)
    let number = random.below(10) == 0 ? Int64(bitPattern: random.next()) : Int64(step % 7)
    return [.int(number), .string(String(repeating: "ä", count: length / 2) + "\(step)")]
  }

  @Test("thousands of changes agree with a dictionary", arguments: Shape.allCases)
  func againstDictionary(_ shape: Shape) throws {
    var random = TestRandom(42)
    var test = try TestDatabase()
    // A key that is there, to be deleted some time later.
    var recent: Int64?
    for round in 0..<12 {
      let write = try test.database.beginWrite()
      for step in 0..<(round == 3 ? 6000 : 500) {
        let key = Self.key(shape, round * 500 + step, &random)
        let values = Self.values(shape, step, &random)
        if random.below(4) == 0, let old = test.model[key] == nil ? recent : key {
          try write.delete(from: "Dog", key: old)
          test.model[old] = nil
          recent = nil
        } else if test.model[key] == nil {
          #expect(errorCode { try write.update(in: "Dog", key: key, values) } == .keyNotFound)
          try write.insert(into: "Dog", key: key, values)
          test.model[key] = values
          if recent == nil || random.below(3) == 0 { recent = key }
        } else {
          #expect(errorCode { try write.insert(into: "Dog", key: key, values) } == .keyExists)
          try write.update(in: "Dog", key: key, values)
          test.model[key] = values
        }
        if step % 97 == 0 {
          #expect(try write.row(in: "Dog", key: key) == test.model[key])
          #expect(try write.count(of: "Dog") == test.model.count)
        }
      }
      try write.commit()
      try test.check()
    }
    try compareRows(test)
    try deleteAll(&test, &random)
  }

  private func compareRows(_ test: TestDatabase) throws {
    let snapshot = try test.database.snapshot()
    var keys: [Int64] = []
    try snapshot.forEach(in: "Dog") { key, values in
      keys.append(key)
      #expect(values == test.model[key])
    }
    #expect(keys == test.model.keys.sorted())
    for key in keys.prefix(500) {
      #expect(try snapshot.row(in: "Dog", key: key) == test.model[key])
    }
    snapshot.release()
  }

  private func deleteAll(_ test: inout TestDatabase, _ random: inout TestRandom) throws {
    var keys = test.model.keys.sorted()
    keys.shuffle(using: &random)
    for part in stride(from: 0, to: keys.count, by: 700) {
      let write = try test.database.beginWrite()
      for key in keys[part..<min(part + 700, keys.count)] {
        try write.delete(from: "Dog", key: key)
        test.model[key] = nil
      }
      #expect(errorCode { try write.delete(from: "Dog", key: keys[0]) } == .keyNotFound)
      try write.commit()
      try test.check()
    }
    try test.put(0..<10)
    try test.check()
  }

  @Test("a row put next to the one before is found, whatever was deleted in between")
  func afterDeletes() throws {
    var random = TestRandom(77)
    var test = try TestDatabase()
    try test.put(0..<4000)
    for _ in 0..<12 {
      let write = try test.database.beginWrite()
      for _ in 0..<6 {
        let first = random.below(3600)
        let near = [first - 1, first, first + 399, first + 400].map { Int64($0) }
        // Each put makes its leaf the one tried first; the deletes merge it away.
        for after in near {
          try write.upsert(into: "Dog", key: near[random.below(4)], Fixtures.dog(1))
          for key in first..<first + 400 where random.below(20) > 0 {
            if try write.row(in: "Dog", key: Int64(key)) != nil {
              try write.delete(from: "Dog", key: Int64(key))
              test.model[Int64(key)] = nil
            }
          }
          try write.upsert(into: "Dog", key: after, Fixtures.dog(2))
          #expect(try write.row(in: "Dog", key: after) == Fixtures.dog(2))
        }
        for key in near {
          try write.upsert(into: "Dog", key: key, Fixtures.dog(3))
          test.model[key] = Fixtures.dog(3)
        }
        for key in first..<first + 400 where random.below(2) == 0 {
          try write.upsert(into: "Dog", key: Int64(key), Fixtures.dog(key))
        }
      }
      test.model = [:]
      for key in Int64(-1)...4000 {
        if let row = try write.row(in: "Dog", key: key) { test.model[key] = row }
      }
      #expect(try write.count(of: "Dog") == test.model.count)
      try write.commit()
      try test.check()
    }
  }

  @Test("strings of every size up to the limit come back, and longer ones are refused")
  func longStrings() throws {
    var test = try TestDatabase()
    let write = try test.database.beginWrite()
    for (index, size) in [0, 1, 511, 512, 513, 4047, 4048, 4096, 100_000, 16 << 20].enumerated() {
      let values: [Value] = [.int(0), .string(String(repeating: "x", count: size))]
      try write.insert(into: "Dog", key: Int64(index), values)
      test.model[Int64(index)] = values
      #expect(try write.row(in: "Dog", key: Int64(index)) == values)
    }
    let tooLong: [Value] = [.int(0), .string(String(repeating: "x", count: 16 << 20 + 1))]
    #expect(errorCode { try write.insert(into: "Dog", key: 99, tooLong) } == .valueTooLarge)
    try write.commit()
    try test.check()
    try test.put([8, 9])
    try test.put([8])
    try test.check()
    #expect(test.database.statistics().freeBytes > 16 << 20)
  }
}
