// SyncWorld.swift: choices → clients that write, upload and download, some of them away for long.
// Invariants checked: every changeset is accepted; its author's view is the same at the server
// (I15); each entry's effect is the history's (I3), with the digest of the objects (I2) and without
// dangling links (I13); each client's replay of an entry is the server's; replays from the barrier
// and from the beginning agree (I15); a log trimmed to what clients need makes the same entries
// (I16); at rest all states are equal (I1), and the reference's.

import Fuzz
import SyncCore
import SyncReference

/// A world of clients and a server.
package struct SyncWorld {
  /// A client: its part of the log, and its pending changesets.
  private struct Client {
    var replica = SyncMerger()
    var pending: [SyncChangeset] = []
    /// The view in which each pending changeset was made.
    var seen: [SyncState] = []
    var sequence: UInt64 = 0
    var stamp = SyncStamp.zero
    var sentCount = 0
    var isAway = false
  }

  package private(set) var server = SyncMerger()
  /// The server's log once more: trimmed, and at times built anew from its parts.
  private var trimmed = SyncMerger()
  package private(set) var staleCount = 0
  private var clients = [Client](repeating: Client(), count: 3)
  private var choices: MutantChoices
  private let operation: DrawnOperation
  private var time: UInt64 = 0

  package init(_ choices: MutantChoices, range: Int = 0) {
    self.choices = choices
    var operation = DrawnOperation()
    operation.range = range
    self.operation = operation
  }

  /// Runs the world.
  /// - Returns: A description of an error; nil when there is none.
  package mutating func run(steps: Int) -> String? {
    for step in 0..<steps where !choices.isAtEnd {
      let client = choices.below(3)
      if choices.below(16) == 0 { clients[client].isAway.toggle() }
      let kind = choices.below(20)
      if kind < 9 {
        write(client)
      } else if clients[client].isAway {
        continue
      } else if kind < 15 {
        if let wrong = upload(client) { return "step \(step): \(wrong)" }
      } else {
        let most = choices.below(4) == 0 ? 100 : 1 + choices.below(4)
        if let wrong = download(client, most: most) { return "step \(step): \(wrong)" }
      }
    }
    return settle()
  }

  /// Makes a transaction of one to three operations, each on what the client then shows.
  private mutating func write(_ number: Int) {
    var client = clients[number]
    let id = SyncClient(UInt64(number + 1))
    time += UInt64(choices.below(3))
    let now = time &+ (choices.below(5) == 0 ? UInt64(choices.below(40)) : 0)
    let known = max(
      client.stamp, client.replica.knownStamp(client: id, base: client.replica.head))
    guard let stamp = SyncStamp.next(now: now, after: known), client.pending.count < 12 else {
      return
    }
    var changeset = SyncChangeset(
      client: id, sequence: client.sequence + 1, base: client.replica.head, stamp: stamp,
      operations: [])
    var shown = client.replica.visible(to: id, pending: client.pending)
    client.seen.append(shown)
    for count in 0...choices.below(3) {
      if count > 0 {
        shown = client.replica.visible(to: id, pending: client.pending + [changeset])
      }
      changeset.operations += operation.draw(shown, &choices)
    }
    client.pending.append(changeset)
    client.sequence += 1
    client.stamp = stamp
    clients[number] = client
  }

  /// The log in words, a line for each entry.
  package var log: [String] { SyncWords.lines(server.entries) }

  private mutating func upload(_ number: Int) -> String? {
    let client = clients[number]
    guard client.sentCount < client.pending.count else { return nil }
    let changeset = client.pending[client.sentCount]
    let seen = client.seen[client.sentCount]
    let there = server.authorState(of: changeset)
    guard there == seen else {
      return "the author of \(changeset) saw \(seen.objects), at the server \(there.objects)"
    }
    clients[number].sentCount += 1
    var goal: SyncVersion?
    switch choices.below(12) {
    case 0: goal = server.head
    case 1...6:
      goal = clients.filter { !$0.isAway }.map { $0.pending.first?.base ?? $0.replica.head }.min()
    default: break
    }
    do {
      let refusal: UInt32? = choices.below(40) == 3 ? 7 : nil
      let entry = try server.accept(changeset, refusal: refusal, barrierAtMost: goal)
      if entry.isStale { staleCount += 1 }
      let other = try trimmed.accept(changeset, refusal: refusal, barrierAtMost: goal)
      guard other == entry, trimmed.state == server.state else {
        return "\(changeset) makes \(entry), in the log from \(trimmed.start.number) on \(other)"
      }
      if let wrong = try trim() { return wrong }
    } catch { return "\(changeset) is refused: \(error)" }
    if let breach = server.breach() { return "after \(changeset): \(breach)" }
    return choices.below(4) == 0 ? server.replayBreach() : nil
  }

  /// Sometimes forgets what no client needs, or builds the trimmed log from its parts.
  private mutating func trim() throws -> String? {
    switch choices.below(8) {
    case 0:
      let needed = clients.enumerated().map { number, client in
        trimmed.needed(
          by: SyncClient(UInt64(number + 1)),
          base: client.pending.first?.base ?? client.replica.head)
      }
      trimmed.trim(to: needed.min() ?? trimmed.start)
    case 1:
      let built = try SyncMerger(
        trimmed.startInWords, objects: trimmed.startState, entries: trimmed.entries)
      guard built == trimmed else {
        return "the log from \(trimmed.start.number) on differs when it is built from its parts"
      }
      trimmed = built
    default: break
    }
    let version = SyncVersion(trimmed.start.number + UInt64(choices.below(9)))
    guard trimmed.chain(at: version) == (version > trimmed.head ? nil : server.chain(at: version))
    else { return "the chain at \(version.number) is another one in the trimmed log" }
    return nil
  }

  private mutating func download(_ number: Int, most: Int) -> String? {
    for _ in 0..<most {
      let next = SyncVersion(clients[number].replica.head.number + 1)
      guard let entry = server[next] else { return nil }
      do { try clients[number].replica.take(entry) } catch {
        return "client \(number + 1) takes version \(next.number) otherwise: \(error)"
      }
      if entry.changeset.client.number == UInt64(number + 1) {
        clients[number].pending.removeFirst()
        clients[number].seen.removeFirst()
        clients[number].sentCount -= 1
      }
    }
    return nil
  }

  /// Delivers everything, and compares.
  private mutating func settle() -> String? {
    for number in clients.indices {
      for _ in clients[number].pending.indices {
        if let wrong = upload(number) { return wrong }
      }
    }
    for number in clients.indices {
      if let wrong = download(number, most: .max) { return wrong }
      guard clients[number].replica.state == server.state else {
        return "client \(number + 1) has \(clients[number].replica.state.objects), the server "
          + "\(server.state.objects)"
      }
    }
    return server.replayBreach() ?? SyncJudge.difference(server)
  }
}
