// FuzzMeasure.swift: how many inputs a target takes in a second of one core's time.

import Engine
import Query

enum FuzzMeasure {
  private static let seconds = 2.0

  /// Runs inputs one after the other, again and again.
  static func run(_ target: FuzzTarget, _ inputs: [[UInt8]]) {
    guard !inputs.isEmpty else { return print("\(target.name): no inputs") }
    measure(target.name, inputs.count) { number in _ = target.run(inputs[number]) }
  }

  /// Reading of texts alone: the parser, on the seeds of the query target.
  static func parse() {
    let texts = QueryTarget.target.seeds().map { String(decoding: $0, as: UTF8.self) }
    measure("parse", texts.count) { number in _ = try? ParsedQuery(parsing: texts[number]) }
  }

  /// Opening and full verification of the two smallest files.
  static func open() {
    let files = MutantBase.all.prefix(2).map(\.bytes)
    measure("open and verify", files.count) { number in
      guard let database = try? Database.open(backend: FuzzBackend(files[number])) else { return }
      _ = try? database.verify()
      _ = try? database.close()
    }
  }

  private static func measure(_ name: String, _ count: Int, _ body: (Int) -> Void) {
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
