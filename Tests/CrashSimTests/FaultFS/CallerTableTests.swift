// CallerTableTests.swift: a thread's number that another process has by now.

import Testing

@testable import Recording

@Suite("Callers")
struct CallerTableTests {
  private let second: UInt64 = 1_000_000_000

  @Test("the system is asked once a second, and a number that comes again is somebody else's")
  func numbersComeAgain() {
    var table = CallerTable()
    var asked = 0
    var process: Int32 = 40
    let lookUp = { (thread: Int32) -> Int32? in
      asked += 1
      return process
    }
    for now in stride(from: second, to: 2 * second, by: Int(second) / 10) {
      #expect(table.caller(thread: 7, now: now, lookUp: lookUp).process == 40)
    }
    #expect(asked == 1)
    process = 50
    #expect(table.caller(thread: 7, now: 2 * second, lookUp: lookUp).process == 50)
    // Others between make no difference.
    #expect(table.caller(thread: 9, now: 2 * second, lookUp: lookUp).thread == 9)
    process = 60
    #expect(table.caller(thread: 7, now: 2 * second + 5, lookUp: lookUp).process == 50)
    #expect(table.caller(thread: 7, now: 3 * second, lookUp: lookUp).process == 60)
    process = 70
    table.expire()
    #expect(table.caller(thread: 7, now: 3 * second, lookUp: lookUp).process == 70)
    #expect(table.sorted.map(\.thread) == [7, 9])
  }

  @Test("a thread that is gone is who it was; one that was never seen is its own process")
  func goneThreads() {
    var table = CallerTable()
    #expect(table.caller(thread: 7, now: second, lookUp: { _ in 40 }).process == 40)
    #expect(table.caller(thread: 7, now: 9 * second, lookUp: { _ in nil }).process == 40)
    #expect(table.caller(thread: 8, now: 9 * second, lookUp: { _ in nil }).process == 8)
    #expect(table.caller(thread: 0, now: 9 * second, lookUp: { _ in 1 }) == Caller())
  }
}
