// DocumentSet.swift: the documents of the benchmarks, the same on all sides, drawn from one seed.

import Foundation

/// What a document holds: some 200 bytes of JSON, or more with a longer text.
struct BenchNote: Codable, Equatable {
  var name: String
  var age: Int
  var score: Double
  var city: String
  var tags: [String]
  var text: String
}

/// Documents by ID.
struct DocumentSet: Sendable {
  /// The IDs, in the order of saving.
  let ids: [String]
  let notes: [BenchNote]
  var count: Int { ids.count }

  static let large = DocumentSet(count: 100_000)
  static let small = DocumentSet(count: 300)
  /// Documents of 0.2 to 2 KB.
  static let long = DocumentSet(count: 20_000, words: 10..<280)

  private static let words = [
    "river", "stone", "amber", "quiet", "signal", "harbor", "copper", "meadow", "winter", "lantern",
    "orchard", "velvet", "thunder", "paper", "garden", "silver", "window", "marble", "forest",
    "candle", "bridge", "shadow", "morning", "cotton", "island", "desert", "valley", "engine",
    "pocket", "needle", "ribbon", "saddle",
  ]

  private init(count: Int, words: Range<Int> = 10..<11) {
    var state: UInt64 = 42
    func next(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % bound
    }
    let width = 7
    ids = (0..<count).map { number in
      let digits = "\(number)"
      return "note-" + String(repeating: "0", count: width - digits.count) + digits
    }
    notes = (0..<count).map { _ in
      let letters = (0..<12).map { _ in "abcdefghijklmnopqrstuvwxyz".map(String.init)[next(26)] }
      let wordCount = words.lowerBound + (words.count > 1 ? next(words.count) : 0)
      return BenchNote(
        name: letters.joined(), age: next(100), score: Double(next(1_000_000)) / 1000,
        city: "city-\(next(50))", tags: (0..<3).map { _ in "tag-\(next(200))" },
        text: (0..<wordCount).map { _ in Self.words[next(Self.words.count)] }.joined(separator: " ")
      )
    }
  }
}

/// What reading a document must give.
struct NoteSum: Equatable {
  var ages = 0
  var letters = 0

  mutating func add(age: Int, name: String) {
    ages += age
    letters += name.utf8.count
  }
}
