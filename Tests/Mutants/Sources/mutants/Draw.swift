// Draw.swift: which of the possible changes are taken, from a seed.
// Invariant: equal sources, seed and count give the same mutants with the same numbers. A draw from
// other sources is another one, so the mutants of one seed are kept by their text.

/// SplitMix64; the same numbers everywhere.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

/// A candidate and its file.
struct Place {
  let file: String
  let candidate: Candidate

  /// What it is in the lists of mutants, whatever stands elsewhere in the file.
  var key: String {
    let words = [
      file, candidate.function, candidate.kind.rawValue, candidate.before, candidate.after,
    ]
    return words.map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
      .joined(separator: " | ")
  }
}

/// The places that were drawn before, by their keys; of equal ones as many as then, the first.
func standing(_ keys: [String], among places: [Place]) -> [Place] {
  var left = Dictionary(keys.map { ($0, 1) }, uniquingKeysWith: +)
  return places.filter { place in
    guard let count = left[place.key], count > 0 else { return false }
    left[place.key] = count - 1
    return true
  }
}

/// Takes `count` of the places, kinds in turn, none of which lies in another.
/// - Complexity: O(places × taken places of one file).
func draw(
  _ count: Int, from places: [Place], using generator: inout SeededGenerator
) -> [Place] {
  var byKind = MutantKind.allCases.map { kind in places.filter { $0.candidate.kind == kind } }
  for index in byKind.indices { byKind[index].shuffle(using: &generator) }
  var spans: [String: [Range<Int>]] = [:]
  var taken: [Place] = []
  while taken.count < count, byKind.contains(where: { !$0.isEmpty }) {
    for index in byKind.indices {
      while let place = byKind[index].popLast() {
        let span = place.candidate.span
        let isFree = spans[place.file, default: []].allSatisfy { !$0.overlaps(span) }
        guard isFree else { continue }
        spans[place.file, default: []].append(span)
        taken.append(place)
        break
      }
      guard taken.count < count else { break }
    }
  }
  return taken
}
