// PlainCreateTests.swift: objects created of plain values by name are what the general way leaves,
// and a lookup that guesses a row answers as the index does.

import Testing

@testable import ObjectDatabase

/// Values that are set in place, and one that is not.
private class Parsed: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var count = 7
  @Persisted var ratio: Double
  @Persisted var word = "none"
  @Persisted var isNew: Bool
  @Persisted var maybe: Int?
}

@Suite("objects of plain values")
struct PlainCreateTests {
  private func text(_ realm: Realm) -> [String] {
    realm.objects(Parsed.self).sorted(byKeyPath: "id").map {
      "\($0.id) \($0.count) \($0.ratio) \($0.word) \($0.isNew) \($0.maybe ?? -1)"
    }
  }

  @Test("dictionaries make the same objects in a batch and alone")
  func sameObjects() throws {
    let values: [[String: Any]] = [
      ["id": 0], ["id": 1, "count": 2, "ratio": 1.5, "word": "a", "isNew": true],
      // Values that only fit after a conversion, and names that the class does not have.
      ["id": 2, "ratio": 3, "count": 4.0, "isNew": 1, "word": Substring("b"), "maybe": 5],
      ["id": UInt8(3), "other": "x"], ["id": 4, "maybe": Int?.none as Any],
      ["id": 5, "word": Optional("c") as Any],
    ]
    let (folder, other) = (try Folder(), try Folder())
    let batched = try folder.realm([Parsed.self])
    try batched.write { for value in values { batched.create(Parsed.self, value: value) } }
    let alone = try other.realm([Parsed.self])
    // Values whose type is hidden from the fast way.
    try alone.write {
      for value in values { alone.create(Parsed.self, value: value.mapValues { Any?.some($0) }) }
    }
    #expect(text(batched) == text(alone) && text(batched).count == values.count)
    #expect(text(batched)[2] == "2 4 3.0 b true 5")
  }

  @Test("a value that does not fit, and a key that is taken, fail the transaction")
  func failures() throws {
    let folder = try Folder()
    let realm = try folder.realm([Parsed.self])
    let failing: [[String: Any]] = [["id": 2, "count": "no"], ["id": 1, "word": "taken"]]
    for value in failing {
      #expect(throws: Realm.Error.self) {
        try realm.write {
          realm.create(Parsed.self, value: ["id": 0] as [String: Any])
          realm.create(Parsed.self, value: ["id": 1] as [String: Any])
          let last = realm.create(Parsed.self, value: value)
          last.word = "an unmanaged object, so that this does no harm"
        }
      }
    }
    #expect(realm.objects(Parsed.self).isEmpty)
  }

  @Test("lookups by key answer as a search does, wherever the rows are")
  func lookups() throws {
    let folder = try Folder()
    let realm = try folder.realm([Parsed.self])
    // Ascending, with a hole; descending; and rows whose keys no longer ascend after deletions.
    let keys = Array(0..<40) + Array(60..<80) + Array((100..<140).reversed())
    try realm.write {
      for key in keys { realm.create(Parsed.self, value: ["id": key] as [String: Any]) }
    }
    try realm.write {
      for key in [3, 4, 70] {
        let object = realm.object(ofType: Parsed.self, forPrimaryKey: key)
        if let object { realm.delete(object) }
      }
      for key in [4, 3] { realm.create(Parsed.self, value: ["id": key] as [String: Any]) }
    }
    let wrong = (0..<3).flatMap { _ in Array(-5..<150) + (-5..<150).reversed() }.filter { key in
      let isThere = keys.contains(key) && key != 70
      return realm.object(ofType: Parsed.self, forPrimaryKey: key)?.id != (isThere ? key : nil)
    }
    #expect(wrong == [])
  }
}
