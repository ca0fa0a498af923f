// GraphSlot.swift: a value with the data that decides conflicts: of a property, or of an entry of a
// dictionary.

/// A value while it is replayed.
struct GraphSlot {
  /// The operation that wrote the current value.
  var mark: EventMark
  /// Nil for an entry that was removed.
  var value: SyncValue?
  /// Whether it was set; any set overrides a default.
  var isSet: Bool
  /// The node of the embedded object; -1 for other values.
  var node: Int32 = -1
  /// Increments that may still count.
  private(set) var increments: [(mark: EventMark, amount: Int64)] = []
  /// Increments later than the value in which they are already counted: only a restated set, which
  /// knows all before it, can know of one that is later.
  private(set) var countedIncrements: [(mark: EventMark, amount: Int64)] = []
  /// The first version that wrote it, and the clients that did.
  private var firstVersion: UInt64
  private var clients: [UInt64]

  init(_ mark: EventMark, _ value: SyncValue?, isSet: Bool, node: Int32) {
    self.mark = mark
    self.value = value
    self.isSet = isSet
    self.node = node
    firstVersion = mark.version
    clients = [mark.client]
  }

  /// Whether an author sees a value here.
  func isSeen(by mark: EventMark) -> Bool {
    firstVersion <= mark.base || clients.contains(mark.client)
  }

  /// Whether a write would become the value.
  func loses(to mark: EventMark, isSet: Bool) -> Bool {
    isSet == self.isSet ? mark.isLater(than: self.mark) : isSet
  }

  /// Takes part in who holds the value.
  mutating func write(_ mark: EventMark, _ value: SyncValue?, isSet: Bool, node: Int32) {
    if !clients.contains(mark.client) { clients.append(mark.client) }
    firstVersion = min(firstVersion, mark.version)
    guard loses(to: mark, isSet: isSet) else { return }
    (self.mark, self.value, self.isSet, self.node) = (mark, value, isSet, node)
    guard isSet, !increments.isEmpty || !countedIncrements.isEmpty else { return }
    let later = (increments + countedIncrements).filter { $0.mark.isLater(than: mark) }
    increments = later.filter { !mark.knows($0.mark) }
    countedIncrements = later.filter { mark.knows($0.mark) }
  }

  /// Takes part in what is added to the value.
  mutating func increment(_ mark: EventMark, by amount: Int64) { increments.append((mark, amount)) }

  /// Whether an increment counts for the value that holds.
  func takes(_ mark: EventMark) -> Bool {
    !isSet || (mark.isLater(than: self.mark) && !self.mark.knows(mark))
  }

  /// The value with its increments.
  func counted(_ value: SyncValue) -> SyncValue {
    guard case .int(let number) = value else { return value }
    return .int(increments.reduce(number) { $0 &+ $1.amount })
  }
}
