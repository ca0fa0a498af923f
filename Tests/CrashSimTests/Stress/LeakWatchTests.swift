// LeakWatchTests.swift: what grows from round to round is told.

import Glibc
import Testing

@testable import Scenarios

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

  @Test("a daemon that writes pages back in the last round only leaks nothing")
  func writeBack() {
    var watch = LeakWatch()
    for round in 0..<20 {
      let descriptors = round < 19 ? 14 : 16
      watch.sample("daemon", ProcessFootprint(descriptors: descriptors, residentBytes: 30 << 20))
      watch.endRound()
    }
    #expect(watch.leaks.filter { $0.hasPrefix("daemon") } == [])
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
