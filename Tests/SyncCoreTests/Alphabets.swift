// Alphabets.swift: all operations that a client may do to a small realm, for tests that try all.

import SyncCore

/// Operations on small realms.
enum Alphabet {
  static func object(_ type: SyncText, _ key: Int64) -> SyncObject { SyncObject(type, .int(key)) }

  static let dog = object("Dog", 1)
  static let cat = object("Cat", 1)

  static func text(_ string: String) -> SyncValue { .text(SyncText(string)) }

  static func list(_ change: SyncChange) -> SyncOperation {
    .change(SyncField(dog, [], "toys"), change)
  }

  /// A dog with a list of so many toys.
  static func listStart(_ count: Int) -> [SyncOperation] {
    [.create(dog), list(.listInsert(at: 0, (0..<count).map { text(["A", "B", "C", "D"][$0]) }))]
  }

  /// What a client may do to a list: 17 operations for three elements, 18 with assignment.
  static func listChanges(_ count: Int, _ name: String, assigns: Bool = false) -> [SyncChange] {
    var found = (0..<count).map { SyncChange.listSet(at: $0, text("s" + name)) }
    found += (0...count).map { .listInsert(at: $0, [text("i" + name)]) }
    found += (0..<count).map { .listErase(at: $0, count: 1) }
    for from in 0..<count {
      for to in 0..<count where to != from { found.append(.listMove(from: from, to: to)) }
    }
    found.append(.listClear)
    if assigns { found.append(.listAssign([text("p" + name), text("q" + name)])) }
    return found
  }

  /// Two operations on a list, the second on what the first left: 289 for three elements.
  static func listPairs(_ count: Int, _ name: String) -> [[SyncOperation]] {
    listChanges(count, name).flatMap { first -> [[SyncOperation]] in
      var left = count
      switch first {
      case .listInsert: left += 1
      case .listErase: left -= 1
      case .listClear: left = 0
      default: break
      }
      return listChanges(left, name + "'").map { [list(first), list($0)] }
    }
  }

  /// One or two of create, delete, set and increment: the lives of an object.
  static func lives(_ client: Int64) -> [[SyncOperation]] {
    let count = SyncField(dog, [], "count")
    let steps: [SyncOperation] = [
      .create(dog), .delete(dog), .change(count, .set(.int(7 * client))),
      .change(count, .increment(client)),
    ]
    return steps.map { [$0] } + steps.flatMap { first in steps.map { [first, $0] } }
  }
}
