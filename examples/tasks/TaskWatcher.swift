// TaskWatcher.swift: says what other processes change, as soon as this one sees it.

import Foundation
import ObjectDatabase

/// Looks at a list until it has seen a number of changes.
struct TaskWatcher {
  let list: TaskList
  /// Prints one line.
  let say: (String) -> Void
  private static let pauseSeconds = 0.02
  /// When nothing happens for so long, nothing will.
  private static let patienceSeconds = 120.0

  /// - Returns: Whether all changes came.
  func watch(changes: Int) -> Bool {
    say("watching \(list.all.count) tasks")
    var known = lines()
    for _ in 0..<changes {
      guard wait() else { return false }
      let now = lines()
      for number in known.keys.sorted() where now[number] == nil { say("- \(number)") }
      for (number, line) in now.sorted(by: { $0.key < $1.key }) where known[number] != line {
        say("\(known[number] == nil ? "+" : "*") \(line)")
      }
      say(".")
      known = now
    }
    return true
  }

  private func lines() -> [Int: String] {
    Dictionary(list.all.map { ($0.number, $0.line) }, uniquingKeysWith: { first, _ in first })
  }

  /// Waits for a newer version of the file, and goes to it.
  private func wait() -> Bool {
    var waited = 0.0
    while !list.realm.refresh() {
      guard waited < Self.patienceSeconds else { return false }
      Thread.sleep(forTimeInterval: Self.pauseSeconds)
      waited += Self.pauseSeconds
    }
    return true
  }
}
