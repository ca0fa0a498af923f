// OrderCheck.swift: small worlds in every order of arrival: they converge to one state (I1, I4),
// with each entry's effect that of the history (I3).

import SyncCore

/// Clients that make their changesets on one version, in all orders.
struct OrderCheck: Sendable {
  /// A realm with what all clients know.
  var start: SyncMerger
  /// How many orders were played to their end.
  private(set) var orderCount = 0
  private(set) var breaches: [String] = []

  init(_ operations: [SyncOperation]) {
    start = SyncMerger()
    Self.take(9, 1, base: 0, stamp: 1, operations, &start)
  }

  /// Accepts a changeset that follows; a merge that cannot take it is broken from then on.
  static func take(
    _ client: UInt64, _ sequence: UInt64, base: UInt64, stamp: UInt64,
    _ operations: [SyncOperation], _ merger: inout SyncMerger
  ) {
    do {
      _ = try merger.accept(
        SyncChangeset(
          client: SyncClient(client), sequence: sequence, base: SyncVersion(base),
          stamp: SyncStamp(bits: stamp), operations: operations))
    } catch { precondition(error.code == .divergence, "\(error)") }
  }

  /// A client's operations as one changeset on the start.
  private func taken(
    _ client: Int, _ operations: [SyncOperation], by merger: SyncMerger
  ) -> SyncMerger {
    var merger = merger
    Self.take(
      UInt64(client + 1), 1, base: 1, stamp: 10 + UInt64(client), operations, &merger)
    return merger
  }

  /// Notes a breach; states that are equal to one whose digest was counted need no other count.
  private mutating func note(
    _ merger: SyncMerger, countsDigest: Bool = true, _ what: @autoclosure () -> String
  ) {
    guard breaches.count < 5, let breach = merger.breach(countsDigest: countsDigest) else {
      return
    }
    breaches.append("\(what()): \(breach)")
  }

  /// All pairs of two clients' programs.
  mutating func pairs(_ first: [[SyncOperation]], _ second: [[SyncOperation]]) {
    let others = second.map { taken(1, $0, by: start) }
    for left in first {
      let leftFirst = taken(0, left, by: start)
      for (number, right) in second.enumerated() {
        let one = taken(1, right, by: leftFirst)
        let two = taken(0, left, by: others[number])
        orderCount += 2
        note(one, "\(left), then \(right)")
        note(two, "\(right), then \(left)")
        if one.state != two.state, breaches.count < 5 {
          breaches.append("\(left) and \(right): \(one.state.objects) or \(two.state.objects)")
        }
      }
    }
  }

  /// All triples of three clients' programs that begin with some of the first client's.
  mutating func triples(
    _ first: [[SyncOperation]], _ second: [[SyncOperation]], _ third: [[SyncOperation]]
  ) {
    let (b, c) = (second.map { taken(1, $0, by: start) }, third.map { taken(2, $0, by: start) })
    // The pairs without the first client are the same for each of its programs.
    let bc = b.map { state in third.map { taken(2, $0, by: state) } }
    let cb = second.map { operations in c.map { taken(1, operations, by: $0) } }
    for left in first {
      let a = taken(0, left, by: start)
      let ac = third.map { taken(2, $0, by: a) }
      let ca = c.map { taken(0, left, by: $0) }
      for (two, middle) in second.enumerated() {
        let (ab, ba) = (taken(1, middle, by: a), taken(0, left, by: b[two]))
        for (three, right) in third.enumerated() {
          let ends = [
            taken(2, right, by: ab), taken(2, right, by: ba), taken(1, middle, by: ac[three]),
            taken(1, middle, by: ca[three]), taken(0, left, by: bc[two][three]),
            taken(0, left, by: cb[two][three]),
          ]
          orderCount += ends.count
          for (order, end) in ends.enumerated() {
            note(end, countsDigest: order == 0, "\(left), \(middle), \(right) in order \(order)")
            if end.state != ends[0].state, breaches.count < 5 {
              breaches.append(
                "\(left), \(middle), \(right): order \(order) gives \(end.state.objects), "
                  + "order 0 \(ends[0].state.objects)")
            }
          }
        }
      }
    }
  }

  /// The same on two threads, which take the first client's programs in turn.
  func parallel(
    _ first: [[SyncOperation]],
    _ body: @Sendable @escaping (inout OrderCheck, [[SyncOperation]]) -> Void
  ) async -> OrderCheck {
    await withTaskGroup(of: OrderCheck.self) { group in
      for part in 0..<2 {
        let programs = first.enumerated().filter { $0.offset % 2 == part }.map(\.element)
        group.addTask {
          var check = self
          body(&check, programs)
          return check
        }
      }
      var sum = self
      for await part in group {
        sum.orderCount += part.orderCount
        sum.breaches += part.breaches
      }
      return sum
    }
  }
}
