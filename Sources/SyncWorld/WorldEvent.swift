// WorldEvent.swift: the events of a world: one letter and up to two numbers each, so a life is a
// line of text. Invariant: an event that does not apply changes nothing, so any subsequence of a
// life is a life.

/// Something that happens; a client is named by its place, a message by its number in flight.
package enum WorldEvent: Hashable, Sendable {
  /// An app commits a transaction of a kind.
  case write(Int, Int)
  /// A client connects.
  case connect(Int)
  /// A client's connection ends.
  case hangUp(Int)
  /// A client waited in vain.
  case tick(Int)
  /// A message arrives.
  case deliver(Int)
  /// A message is lost.
  case drop(Int)
  /// A message is there twice.
  case duplicate(Int)
  /// Messages to the server are lost from now on.
  case cutUp(Int)
  /// Messages from the server are lost from now on.
  case cutDown(Int)
  /// Messages are no longer lost.
  case heal(Int)
  /// A client's store has ended.
  case stored(Int)
  /// The server's store has ended.
  case serverStored
  /// Power fails at a client.
  case crash(Int)
  /// Power fails at the server.
  case serverCrash
  /// A client's clock is this many seconds ahead.
  case clock(Int, Int)
  /// The server's clock is this many seconds ahead.
  case serverClock(Int)
  /// A client's file is copied over another one's.
  case clone(Int, Int)
  /// A client's file is copied.
  case save(Int)
  /// A client's file is restored from its copy.
  case restore(Int)
  /// The server removes entries that no client needs.
  case trim
  /// The server expires a client.
  case expire(Int)
  /// The server's file is copied.
  case saveServer
  /// The server's file is restored from its copy, which gets another epoch.
  case restoreServer
  /// Power fails, and the server's last stores are lost although its disk reported them as durable.
  case loseStores(Int)

  /// Letters of all kinds, in the order of `parts`.
  private static let letters = Array("wchtdxyuvlsSkKjJbmrTEMRL")

  private var parts: (kind: Int, first: Int?, second: Int?) {
    switch self {
    case .write(let slot, let kind): (0, slot, kind)
    case .connect(let slot): (1, slot, nil)
    case .hangUp(let slot): (2, slot, nil)
    case .tick(let slot): (3, slot, nil)
    case .deliver(let index): (4, index, nil)
    case .drop(let index): (5, index, nil)
    case .duplicate(let index): (6, index, nil)
    case .cutUp(let slot): (7, slot, nil)
    case .cutDown(let slot): (8, slot, nil)
    case .heal(let slot): (9, slot, nil)
    case .stored(let slot): (10, slot, nil)
    case .serverStored: (11, nil, nil)
    case .crash(let slot): (12, slot, nil)
    case .serverCrash: (13, nil, nil)
    case .clock(let slot, let seconds): (14, slot, seconds)
    case .serverClock(let seconds): (15, seconds, nil)
    case .clone(let source, let target): (16, source, target)
    case .save(let slot): (17, slot, nil)
    case .restore(let slot): (18, slot, nil)
    case .trim: (19, nil, nil)
    case .expire(let slot): (20, slot, nil)
    case .saveServer: (21, nil, nil)
    case .restoreServer: (22, nil, nil)
    case .loseStores(let count): (23, count, nil)
    }
  }

  /// The event as a letter and its numbers.
  package var text: String {
    let (kind, first, second) = parts
    let numbers = [first, second].compactMap { $0.map(String.init) }.joined(separator: ",")
    return String(Self.letters[kind]) + numbers
  }

  /// The event of a text; nil for an invalid text.
  package init?(_ text: some StringProtocol) {
    guard let letter = text.first, let kind = Self.letters.firstIndex(of: letter) else {
      return nil
    }
    let numbers = text.dropFirst().split(separator: ",").map { Int($0) }
    let (first, second) = (numbers.first ?? 0, numbers.dropFirst().first ?? 0)
    guard let first, let second, numbers.count < 3 else { return nil }
    guard let event = Self.event(kind, first: first, second: second), event.text == text else {
      return nil
    }
    self = event
  }

  private static func event(_ kind: Int, first: Int, second: Int) -> WorldEvent? {
    let all: [WorldEvent] = [
      .write(first, second), .connect(first), .hangUp(first), .tick(first), .deliver(first),
      .drop(first), .duplicate(first), .cutUp(first), .cutDown(first), .heal(first),
      .stored(first), .serverStored, .crash(first), .serverCrash, .clock(first, second),
      .serverClock(first), .clone(first, second), .save(first), .restore(first), .trim,
      .expire(first), .saveServer, .restoreServer, .loseStores(first),
    ]
    return all.indices.contains(kind) ? all[kind] : nil
  }
}
