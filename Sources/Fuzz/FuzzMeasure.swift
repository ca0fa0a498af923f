// FuzzMeasure.swift: measures how many inputs a target processes per second of processor time.

package enum FuzzMeasure {
  private static let seconds = 2.0

  /// Runs inputs one after the other, repeatedly.
  package static func run(_ target: FuzzTarget, _ inputs: [[UInt8]]) {
    guard !inputs.isEmpty else { return print("\(target.name): no inputs") }
    measure(target.name, inputs.count) { number in _ = target.run(inputs[number]) }
  }

  /// Runs `body` with each of a number of inputs, repeatedly.
  package static func measure(_ name: String, _ count: Int, _ body: (Int) -> Void) {
    for number in 0..<count { body(number) }
    let start = FuzzWatch.processorSeconds()
    var (runs, elapsed) = (0, 0.0)
    while elapsed < seconds {
      for _ in 0..<8 {
        body(runs % count)
        runs += 1
      }
      elapsed = FuzzWatch.processorSeconds() - start
    }
    print("\(name)\t\(Int(Double(runs) / elapsed)) executions/s on \(count) inputs")
  }
}
