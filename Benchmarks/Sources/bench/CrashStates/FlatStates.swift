// FlatStates.swift [U]: the row states-flat: what a crash state costs in a trace of 100,000
// operations, and in one of 1,000: both passes of the enumeration, the image, and a look at one
// page of it.

import CrashStates
import Foundation
import LabCore
import Recording

/// Writes of 4 KiB into a file of 1 MB, a sync after every fourth, a mark after every eighth.
private struct FlatRun {
  let enumerator: CrashStateEnumerator

  init(operations: Int) throws {
    let file = InodeNumber(rawValue: 2)
    var initial = TreeImage()
    var image = InodeImage(type: .regular, ownership: Ownership(mode: 0o644))
    image.sizeBytes = 1 << 20
    initial.inodes[file] = image
    initial.inodes[.root]?.entries[FileName("data")] = file
    var events: [TraceEvent] = []
    var written = 0
    var random = PRNG(Seed(rawValue: 7))
    for number in 0..<operations {
      if number % 5 == 4 {
        events.append(TraceEvent(.operation(.sync(inode: file, dataOnly: true))))
        if number % 10 == 9 { events.append(TraceEvent(.mark(Recording.Mark("\(written)\n")))) }
        continue
      }
      written += 1
      let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: written), count: 4088)
      let stamp = littleEndian(UInt64(written))
      let offset = UInt64(random.below(256)) * 4096
      events.append(
        TraceEvent(
          .operation(.write(inode: file, offsetBytes: offset, payload: Payload(stamp + bytes)))))
    }
    enumerator = try CrashStateEnumerator(
      trace: Trace(initial: initial, events: events), model: .ext4Ordered, seed: Seed(rawValue: 7))
  }

  /// States per second, over as many whole explorations as it takes.
  func explore(atLeast wanted: Int) throws -> Double {
    let clock = ContinuousClock()
    let start = clock.now
    var states = 0
    var sum = 0
    while states < wanted {
      let plan = try enumerator.plan()
      try enumerator.visit(plan) { (_, image) throws(LabError) in
        states += 1
        guard let entry = image.entry(at: "data") else { throw LabError(.lab, "no file") }
        try unsafe entry.withContent { bytes in sum &+= Int(unsafe bytes[states % 256 << 12]) }
        return .goOn
      }
    }
    guard sum != 0 else { throw BenchError("no image held anything") }
    return Double(states) / (start.duration(to: clock.now) / .seconds(1))
  }
}

private func littleEndian(_ number: UInt64) -> [UInt8] {
  (0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) }
}

extension Benchmark {
  static let flatStates = Benchmark(name: "states-flat") { settings in
    let long = try FlatRun(operations: 100_000)
    let short = try FlatRun(operations: 1_000)
    let measured = try alternating(rounds: settings.rounds) {
      try (settings.peerOnBothSides ? short : long).explore(atLeast: 100_000)
    } peer: {
      try short.explore(atLeast: 100_000)
    }
    return .rate(
      "states-flat", ours: measured.ours, peer: measured.peer,
      peerName: "1,000 operations instead of 100,000", unit: "states/s")
  }
}
