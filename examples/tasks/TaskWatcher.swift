// TaskWatcher.swift: says what other processes change, when they do.

import Foundation
import ObjectDatabase

/// Observes a list until it has seen a number of changes.
final class TaskWatcher {
  private let list: TaskList
  /// Prints one line.
  private let say: (String) -> Void
  private var known: [Int: String] = [:]
  private var left = 0
  /// When nothing happens for so long, nothing will.
  private static let patienceSeconds = 120.0

  init(list: TaskList, say: @escaping (String) -> Void) {
    self.list = list
    self.say = say
  }

  /// - Returns: Whether all changes came.
  func watch(changes: Int) -> Bool {
    known = lines()
    left = changes
    say("watching \(known.count) tasks")
    // The realm of this thread goes on with each commit of others, from the run loop.
    let token = list.all.observe { [unowned self] _ in tell() }
    defer { token.invalidate() }
    var lastLeft = left
    var end = Date(timeIntervalSinceNow: Self.patienceSeconds)
    while left > 0, Date() < end {
      _ = RunLoop.current.run(mode: .default, before: end)
      if left != lastLeft { end = Date(timeIntervalSinceNow: Self.patienceSeconds) }
      lastLeft = left
    }
    return left == 0
  }

  /// Says what differs from what was said before.
  private func tell() {
    let now = lines()
    guard left > 0, now != known else { return }
    for number in known.keys.sorted() where now[number] == nil { say("- \(number)") }
    for (number, line) in now.sorted(by: { $0.key < $1.key }) where known[number] != line {
      say("\(known[number] == nil ? "+" : "*") \(line)")
    }
    say(".")
    known = now
    left -= 1
  }

  private func lines() -> [Int: String] {
    Dictionary(list.all.map { ($0.number, $0.line) }, uniquingKeysWith: { first, _ in first })
  }
}
