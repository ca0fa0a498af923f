// LeakWatch.swift: the resources of processes, from /proc, and their growth over the rounds.

import Foundation
import Glibc
import LabCore

/// Number of descriptors and memory of a process at one moment.
struct ProcessFootprint: Sendable, Hashable {
  var descriptors: Int
  var residentBytes: Int

  init(descriptors: Int, residentBytes: Int) {
    self.descriptors = descriptors
    self.residentBytes = residentBytes
  }

  /// Nil when the process has ended.
  init?(process: Int32) {
    guard
      let names = try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd"),
      let text = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8),
      let line = text.split(separator: "\n").first(where: { $0.hasPrefix("VmRSS:") }),
      let kibibytes = line.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
    else { return nil }
    descriptors = names.count
    residentBytes = kibibytes << 10
  }
}

/// Compares the first rounds with the last.
struct LeakWatch: Sendable {
  /// Rounds in which caches and pools fill.
  static let warmUpRounds = 5
  /// Allowed growth of memory, because the history of acknowledgements is kept.
  static let growthBytesMax = 96 << 20

  /// Allowed growth of the number of descriptors; a leak adds some in each round: a daemon has two
  /// for the process that writes pages back, in lives and rounds with write-back.
  static let spareDescriptors = 2

  private(set) var rounds = 0
  private(set) var first: [String: ProcessFootprint] = [:]
  private(set) var last: [String: ProcessFootprint] = [:]
  private(set) var zombies = 0

  /// Records the resources of a process at the end of a round.
  mutating func sample(_ role: String, _ footprint: ProcessFootprint?) {
    guard let footprint else { return }
    if rounds < Self.warmUpRounds {
      let seen = first[role] ?? footprint
      first[role] = ProcessFootprint(
        descriptors: max(seen.descriptors, footprint.descriptors),
        residentBytes: max(seen.residentBytes, footprint.residentBytes))
    }
    last[role] = footprint
  }

  /// Ends a round: counts unreaped children.
  mutating func endRound() {
    rounds += 1
    zombies = Self.zombieCount()
  }

  /// The last resources of each process, by role.
  var footprints: [(role: String, footprint: ProcessFootprint)] {
    last.sorted { $0.key < $1.key }.map { (role: $0.key, footprint: $0.value) }
  }

  /// The growing resources, in words; empty if there are none.
  var leaks: [String] {
    var leaks: [String] = []
    for role in last.keys.sorted() {
      guard let before = first[role], let after = last[role] else { continue }
      if after.descriptors > before.descriptors + Self.spareDescriptors {
        leaks.append(
          "\(role) has \(after.descriptors) descriptors after \(rounds) rounds, at first "
            + "\(before.descriptors)")
      }
      if after.residentBytes > before.residentBytes + Self.growthBytesMax {
        leaks.append(
          "\(role) uses \(after.residentBytes >> 20) MiB after \(rounds) rounds, at first "
            + "\(before.residentBytes >> 20) MiB")
      }
    }
    if zombies > 0 { leaks.append("\(Formatting.counted(zombies, "child")) not reaped") }
    return leaks
  }

  /// For example `lab: 12 → 12 descriptors, 40 → 43 MiB`.
  var text: String {
    last.keys.sorted().compactMap { role in
      guard let before = first[role], let after = last[role] else { return nil }
      return "\(role): \(before.descriptors) → \(after.descriptors) descriptors, "
        + "\(before.residentBytes >> 20) → \(after.residentBytes >> 20) MiB"
    }.joined(separator: "; ")
  }

  private static func zombieCount() -> Int {
    let children = "/proc/self/task/\(getpid())/children"
    let text = (try? String(contentsOfFile: children, encoding: .utf8)) ?? ""
    return text.split(separator: " ").count { pid in
      let stat = (try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)) ?? ""
      return stat.lastIndex(of: ")").map { stat[$0...].hasPrefix(") Z") } ?? false
    }
  }
}
