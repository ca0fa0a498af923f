// CanaryTarget.swift: a queue with a planted bug, compared with an array. A campaign that does not
// find the bug tests nothing. The bug needs a few specific steps in a row, and gives a wrong answer
// instead of a trap.

package enum CanaryTarget {
  package static let target = FuzzTarget(
    name: "canary", judges: "pushes and pops of a queue with a planted bug; must be found",
    smokeCount: 20_000, seeds: { [[0, 1, 0, 1, 0, 0, 1]] }, run: { run($0) }
  ).with { $0.isPlanted = true }

  /// A ring buffer with four elements.
  private struct Ring {
    private var places = [UInt8](repeating: 0, count: 4)
    private var first = 0
    private(set) var count = 0

    mutating func push(_ byte: UInt8) -> Bool {
      guard count < places.count else { return false }
      // The planted bug: a full ring that starts in the middle overwrites its first element.
      let place = count == 3 && first == 2 ? first : (first + count) % places.count
      places[place] = byte
      count += 1
      return true
    }

    mutating func pop() -> UInt8? {
      guard count > 0 else { return nil }
      defer { (first, count) = ((first + 1) % places.count, count - 1) }
      return places[first]
    }
  }

  private static func run(_ input: [UInt8]) -> FuzzOutcome {
    var (ring, model) = (Ring(), [UInt8]())
    for (index, byte) in input.prefix(256).enumerated() {
      guard byte & 1 == 1 else {
        let value = UInt8(truncatingIfNeeded: index)
        let fits = model.count < 4
        guard ring.push(value) == fits else { return .finding("push \(index) of a full queue") }
        if fits { model.append(value) }
        continue
      }
      let (popped, expected) = (ring.pop(), model.isEmpty ? nil : model.removeFirst())
      guard popped == expected else {
        return .finding("step \(index) popped \(popped ?? 0), not \(expected ?? 0)")
      }
    }
    return .accepted
  }
}
