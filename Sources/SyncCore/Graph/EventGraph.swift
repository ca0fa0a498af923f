// EventGraph.swift: operations with their known history, and the state that follows from them
// (docs/reference/sync-merge.md). It starts from a state that every operation knows, and adds
// entries one after another; each is resolved against all earlier ones. Invariants: the merged
// state is a function of the operations, not of the order of concurrent ones; only objects that
// were touched are in it, the others are as in `origin`.

/// The fields of an object or an embedded object.
struct GraphNode {
  /// Its content at the start; its fields are copied when they are touched.
  var base: SyncNode?
  var fields: [SyncText: Int32] = [:]
}

/// A member of a set.
struct GraphMember {
  var mark: EventMark
  var isMember: Bool
}

/// The content of a property.
struct GraphField {
  /// The number of the value's slot; -1 until it is written.
  var slot: Int32 = -1
  /// The number of the list; -1 until it is touched.
  var list: Int32 = -1
  var members: [SyncValue: GraphMember] = [:]
  var entries: [SyncText: Int32] = [:]
}

/// The history of a realm from a version on.
struct EventGraph {
  /// The state where the replay starts.
  private(set) var origin: SyncState
  var lives: [ObjectLife] = []
  var lifeNumbers: [SyncObject: Int32] = [:]
  var nodes: [GraphNode] = []
  var fields: [GraphField] = []
  var slots: [GraphSlot] = []
  var lists: [ListGraph] = []
  /// The deletes of objects that were deleted.
  var deaths: Deaths = [:]
  /// Objects that were ever linked to, and from which ones.
  var linkers: [SyncObject: Set<SyncObject>] = [:]

  init(origin: SyncState) { self.origin = origin }

  /// Adds an object to the state at the start that no operation was about.
  mutating func include(_ object: SyncObject, _ node: SyncNode) {
    origin.include(object, node)
  }

  /// The objects that operations were about.
  var touched: [SyncObject] { lifeNumbers.keys.sorted() }

  /// The life of an object.
  mutating func life(of object: SyncObject) -> Int {
    if let number = lifeNumbers[object] { return Int(number) }
    let base = origin.objects[object]
    lifeNumbers[object] = Int32(lives.count)
    lives.append(
      ObjectLife(isAlive: base != nil, node: base.map { newNode($0) } ?? -1))
    return lives.count - 1
  }

  mutating func newNode(_ base: SyncNode? = nil) -> Int32 {
    nodes.append(GraphNode(base: base))
    return Int32(nodes.count - 1)
  }

  /// A node for a value, if it starts an embedded object.
  mutating func newNode(for value: SyncValue) -> Int32 { value == .embedded ? newNode() : -1 }

  /// A field of a node.
  mutating func field(_ name: SyncText, of node: Int32) -> Int {
    if let number = nodes[Int(node)].fields[name] { return Int(number) }
    let number = fields.count
    nodes[Int(node)].fields[name] = Int32(number)
    fields.append(GraphField())
    guard let base = nodes[Int(node)].base?.fields[name] else { return number }
    if let value = base.value { fields[number].slot = takeOver(value) }
    if !base.list.isEmpty { _ = list(of: number, base: Array(base.list)) }
    for member in base.set {
      fields[number].members[member] = GraphMember(mark: .origin, isMember: true)
    }
    for (key, slot) in base.dictionary { fields[number].entries[key] = takeOver(slot) }
    return number
  }

  private mutating func takeOver(_ slot: SyncSlot) -> Int32 {
    let node = slot.embedded.map { newNode($0) } ?? -1
    slots.append(GraphSlot(.origin, slot.value, isSet: true, node: node))
    return Int32(slots.count - 1)
  }

  /// The version of the operation that holds a slot; 0 for no slot.
  func version(ofSlot slot: Int32) -> UInt64 {
    slot < 0 ? 0 : slots[Int(slot)].mark.version
  }

  /// The list of a field.
  mutating func list(of field: Int, base: [SyncSlot] = []) -> Int {
    if fields[field].list < 0 {
      fields[field].list = Int32(lists.count)
      lists.append(ListGraph(base: base))
    }
    return Int(fields[field].list)
  }

  /// Whether the target of a link written by an operation has been deleted.
  func isDead(_ target: SyncObject, writtenBy mark: EventMark) -> Bool {
    guard let deaths = deaths[target] else { return false }
    return deaths.contains { !mark.knows($0) }
  }

  /// The visible value: a dead link is null.
  func shown(_ value: SyncValue, writtenBy mark: EventMark) -> SyncValue {
    if case .link(let target) = value, isDead(target, writtenBy: mark) { return .null }
    return value
  }

  /// The visible value of a slot; nil for a removed entry.
  func shown(_ slot: Int32) -> SyncValue? {
    let slot = slots[Int(slot)]
    return slot.value.map { slot.counted(shown($0, writtenBy: slot.mark)) }
  }

  /// Whether a field's set has a member.
  func isMember(_ value: SyncValue, of field: Int) -> Bool {
    guard let member = fields[field].members[value], member.isMember else { return false }
    return shown(value, writtenBy: member.mark) == value
  }
}
