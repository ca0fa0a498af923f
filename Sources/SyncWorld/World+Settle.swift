// World+Settle.swift: the second phase of a life: no more faults, and the world has to come to
// rest.

import SyncCore

extension World {
  /// Whether no message is in flight and all clients have all entries.
  var isAtRest: Bool {
    let head = server.machine.file.log.head
    return packets.isEmpty && server.storing == nil
      && clients.allSatisfy {
        $0.storing == nil && $0.machine.isLive && $0.machine.file.pending.isEmpty
          && $0.machine.file.log.head == head
      }
  }

  /// Rounds of waiting within which the world must come to rest.
  static let roundsMax = 40

  /// Ends all faults, and delivers everything.
  ///
  /// I23: the world is at rest within 40 rounds of waiting and 4,000 deliveries. I1: then all
  /// clients have the server's state. I25: then waiting sends no entry and stores nothing. I22:
  /// then strangers get nothing and change nothing.
  package mutating func settle() {
    for slot in clients.indices { step(.heal(slot)) }
    let before = deliveredCount
    for _ in 0..<Self.roundsMax where breach == nil {
      drain(deliveredMax: before + 4000)
      guard breach == nil, !isAtRest else { break }
      for slot in clients.indices {
        step(.connect(slot))
        step(.tick(slot))
      }
    }
    guard breach == nil else { return }
    if isAtRest { return judgeRest() }
    let what = restlessness
    breaks("I23", what)
  }

  private mutating func drain(deliveredMax: Int) {
    while breach == nil {
      if server.storing != nil {
        step(.serverStored)
      } else if let slot = clients.firstIndex(where: { $0.storing != nil }) {
        step(.stored(slot))
      } else if !packets.isEmpty {
        guard deliveredCount < deliveredMax else {
          let count = packets.count
          return breaks("I23", "messages do not end: \(count) in flight")
        }
        step(.deliver(0))
      } else {
        return
      }
    }
  }

  private var restlessness: String {
    let head = server.machine.file.log.head.number
    let lines = clients.enumerated().map { slot, node in
      "client \(slot) has \(node.machine.file.log.head.number) of \(head) and "
        + "\(node.machine.file.pending.count) pending"
    }
    return "no rest after \(Self.roundsMax) rounds: " + lines.joined(separator: ", ")
  }

  private mutating func judgeRest() {
    let state = server.machine.file.log.state
    for (slot, node) in clients.enumerated() {
      if node.machine.file.log.state != state {
        breaks("I1", "client \(slot) has another state than the server")
      }
      for id in node.promised where state.objects[Self.object(id)] == nil {
        breaks("I7", "transaction \(id) of client \(slot) is not at the server")
      }
    }
    let (entries, stores) = (entryMessageCount, storeCount)
    let delivered = deliveredCount
    for slot in clients.indices { step(.tick(slot)) }
    drain(deliveredMax: delivered + 100)
    if entryMessageCount != entries { breaks("I25", "entries are sent at rest") }
    if storeCount != stores { breaks("I25", "something is stored at rest") }
    judgeStrangers()
  }

  /// Checks the server's merge by recomputing it.
  package mutating func judgeMerge() {
    if let wrong = server.machine.file.log.breach() { breaks("I3", wrong) }
    if let wrong = server.machine.file.log.replayBreach() { breaks("I15", wrong) }
  }
}
