// LabModels.swift: the classes of the lab's synchronized realm.

import ObjectDatabase

/// What the steps of a scenario are about.
class Dog: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var age: Int
  @Persisted var name: String?
  @Persisted var toys: List<String>
  @Persisted var friends: List<Dog>
  @Persisted var tags: MutableSet<String>
  @Persisted var counts: Map<String, Int>
}

/// Each transaction of an app makes two of them, which nobody changes or deletes: so a transaction
/// that is lost, there twice, or there in part is seen.
class Note: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var isSecond: Bool

  /// The numbers of the two notes of a transaction.
  static func pair(of transaction: Int) -> [Int] { [2 * transaction, 2 * transaction + 1] }
}

enum LabModels {
  static let types: [ObjectBase.Type] = [Dog.self, Note.self]
  static let realm = "lab"
  static let fileName = "sync.realm"
}
