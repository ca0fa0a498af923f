// LeakWatchTests.swift: what grows from round to round is told.

import Glibc
import Testing

@testable import CrashSim

@Suite("leak watch")
struct LeakWatchTests {
  @Test("a process that keeps what it has leaks nothing")
  func steady() {
    var watch = LeakWatch()
    for _ in 0..<20 {
      watch.sample("lab", ProcessFootprint(descriptors: 10, residentBytes: 40 << 20))
      watch.endRound()
    }
    #expect(watch.leaks.filter { $0.hasPrefix("lab") } == [])
  }

  @Test("one descriptor more in each round is told")
  func descriptors() {
    var watch = LeakWatch()
    var held: [Int32] = []
    for _ in 0..<60 {
      held.append(dup(0))
      watch.sample("lab", ProcessFootprint(process: getpid()))
      watch.endRound()
    }
    for descriptor in held { close(descriptor) }
    #expect(watch.leaks.contains { $0.contains("descriptors after 60 rounds") }, "\(watch.leaks)")
  }

  @Test("memory that grows is told")
  func memory() {
    var watch = LeakWatch()
    for round in 0..<40 {
      let bytes = (40 + 5 * round) << 20
      watch.sample("daemon", ProcessFootprint(descriptors: 9, residentBytes: bytes))
      watch.endRound()
    }
    #expect(watch.leaks.contains { $0.contains("MiB after 40 rounds") }, "\(watch.leaks)")
  }
}
