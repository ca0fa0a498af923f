// TextMutator.swift: changes texts like an author: words and lines are inserted, removed,
// duplicated and exchanged, or replaced by parts of other texts.

/// Mutates texts of one language.
package struct TextMutator: Sendable {
  /// Words of the language.
  let words: [String]
  /// Another text of the language, from which parts are taken.
  let sample: @Sendable (inout MutantChoices) -> String

  package init(
    words: [String], sample: @escaping @Sendable (inout MutantChoices) -> String
  ) {
    self.words = words
    self.sample = sample
  }

  /// A mutation for targets whose inputs are such texts.
  package var mutation: FuzzMutation {
    { input, sizeMax, choices in
      var bytes = input
      let kind = choices.below(10)
      if kind >= 8 { return nil }
      for _ in 0...choices.below(3) { change(&bytes, choices.below(8), &choices) }
      return bytes.count <= sizeMax ? bytes : nil
    }
  }

  private func change(_ bytes: inout [UInt8], _ kind: Int, _ choices: inout MutantChoices) {
    guard !bytes.isEmpty, kind != 7 else {
      bytes = Array(sample(&choices).utf8)
      return
    }
    let places = Self.boundaries(bytes)
    let index = choices.below(places.count)
    let start = places[index]
    let end = places[min(places.count - 1, index + 1 + choices.below(4))]
    switch kind {
    case 0: bytes.insert(contentsOf: word(&choices), at: start)
    case 1, 2: bytes.replaceSubrange(start..<end, with: word(&choices))
    case 3: bytes.removeSubrange(start..<end)
    case 4: bytes.insert(contentsOf: bytes[start..<end], at: places[choices.below(places.count)])
    case 5: splice(&bytes, start, end, &choices)
    default: changeLine(&bytes, &choices)
    }
  }

  private func word(_ choices: inout MutantChoices) -> [UInt8] {
    guard !words.isEmpty else { return [] }
    let word = Array(words[choices.below(words.count)].utf8)
    return choices.below(2) == 0 ? word : [32] + word + [32]
  }

  /// Replaces a part of the text by a part of another one.
  private func splice(
    _ bytes: inout [UInt8], _ start: Int, _ end: Int, _ choices: inout MutantChoices
  ) {
    let other = Array(sample(&choices).utf8)
    let places = Self.boundaries(other)
    let first = choices.below(places.count)
    let last = min(places.count - 1, first + 1 + choices.below(24))
    bytes.replaceSubrange(start..<end, with: other[places[first]..<places[last]])
  }

  private func changeLine(_ bytes: inout [UInt8], _ choices: inout MutantChoices) {
    var lines = bytes.split(separator: 10, omittingEmptySubsequences: false).map(Array.init)
    let (first, second) = (choices.below(lines.count), choices.below(lines.count))
    switch choices.below(3) {
    case 0: lines.swapAt(first, second)
    case 1: lines.insert(lines[first], at: second)
    default: lines.remove(at: first)
    }
    bytes = Array(lines.joined(separator: [10]))
  }

  /// Start and end positions of words, including those of the text.
  private static func boundaries(_ bytes: [UInt8]) -> [Int] {
    var places = [0]
    for index in bytes.indices.dropFirst() where kind(bytes[index]) != kind(bytes[index - 1]) {
      places.append(index)
    }
    if !bytes.isEmpty { places.append(bytes.count) }
    return places
  }

  private static func kind(_ byte: UInt8) -> Int {
    switch byte {
    case 48...57, 65...90, 95, 97...122, 128...255: 0
    case 9, 10, 32: 1
    default: 2 + Int(byte)
    }
  }
}
