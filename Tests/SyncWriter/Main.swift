// Main.swift: `sync-writer`, one of several processes on a synchronized file: writers of it, the
// agent that synchronizes it with a server's file beside it, and the judge of what they left. Alone
// it measures what synchronization costs a writer.

import Foundation
import ObjectDatabase

@main
struct SyncWriter {
  private static func stop(_ message: String) -> Never {
    print(message)
    exit(1)
  }

  /// For example `ann:3`.
  private static func counts(_ words: [String]) -> [String: Int] {
    var counts: [String: Int] = [:]
    for word in words {
      let parts = word.split(separator: ":")
      guard parts.count == 2, let count = Int(parts[1]) else { stop("'\(word)' is no count") }
      counts[String(parts[0])] = count
    }
    return counts
  }

  static func main() {
    let words = Array(CommandLine.arguments.dropFirst())
    do {
      switch (words.first, words.count) {
      case ("make", 1): try Exchange.makeFiles()
      case ("write", 3): try Writing.add(Int(words[1]) ?? 1, as: words[2])
      case ("agent", 2): try Exchange().serve(until: words[1])
      case ("check", 1...):
        if let fault = try Judging.fault(counts(Array(words.dropFirst()))) { stop(fault) }
      case ("cost", 1): try Costs.measure()
      default: stop("cost | make | write COUNT NAME | agent FILE | check NAME:COUNT…")
      }
    } catch { stop("\(error)") }
  }
}
