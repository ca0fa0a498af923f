// ObjectLife.swift: the creates and deletes of one object (docs/reference/sync-merge.md, section
// 2).

/// When an object was alive, and in which views.
struct ObjectLife {
  private(set) var creates: [EventMark] = []
  private(set) var deletes: [EventMark] = []
  private var newest = NewestEvents()
  private var newestDelete = NewestEvents()
  /// Whether it is alive with everything that happened.
  private(set) var isAlive = false
  /// The node with its content, while it is alive; -1 before its first creation.
  var node: Int32 = -1

  init(isAlive: Bool, node: Int32) {
    self.isAlive = isAlive
    self.node = node
    if isAlive { creates = [.origin] }
  }

  /// A delete that an operation does not know; nil when it counts.
  func unknownDelete(to mark: EventMark) -> EventMark? {
    deletes.isEmpty ? nil : newestDelete.unknown(to: mark)
  }

  /// Whether an author sees it alive.
  /// - Complexity: O(1) for an operation that knows everything, else O(creates * deletes).
  func isAlive(for mark: EventMark) -> Bool {
    if newest.unknown(to: mark) == nil { return isAlive }
    return creates.contains { create in
      mark.knows(create) && !deletes.contains { mark.knows($0) && !create.knows($0) }
    }
  }

  /// Adds a create; one without effect is still visible to its author.
  mutating func create(_ mark: EventMark) {
    if unknownDelete(to: mark) == nil { isAlive = true }
    creates.append(mark)
    newest.note(mark)
  }

  mutating func delete(_ mark: EventMark) {
    deletes.append(mark)
    newest.note(mark)
    newestDelete.note(mark)
    isAlive = false
  }
}
