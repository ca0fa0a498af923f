// NearestName.swift: finds the known name closest to a misspelled one.

/// The name with the fewest letters to change, at most a third of them; the first of equals.
/// - Complexity: O(names · letters²); names longer than 40 letters have none.
func nearestName(to name: String, among names: some Sequence<String>) -> String? {
  let wanted = Array(name.lowercased().unicodeScalars.prefix(41))
  guard !wanted.isEmpty, wanted.count <= 40 else { return nil }
  var best: (name: String, distance: Int)?
  for candidate in names {
    let letters = Array(candidate.lowercased().unicodeScalars.prefix(41))
    guard abs(letters.count - wanted.count) <= 3 else { continue }
    let distance = editDistance(wanted, letters)
    guard distance <= max(1, wanted.count / 3), distance < best?.distance ?? .max else { continue }
    best = (candidate, distance)
  }
  return best?.name
}

/// How many letters to insert, remove or replace.
private func editDistance(_ first: [Unicode.Scalar], _ second: [Unicode.Scalar]) -> Int {
  var row = Array(0...second.count)
  for (index, letter) in first.enumerated() {
    var diagonal = row[0]
    row[0] = index + 1
    for (place, other) in second.enumerated() {
      let replaced = diagonal + (letter == other ? 0 : 1)
      diagonal = row[place + 1]
      row[place + 1] = min(replaced, diagonal + 1, row[place] + 1)
    }
  }
  return row[second.count]
}
