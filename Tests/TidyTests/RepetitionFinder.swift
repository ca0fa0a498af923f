// RepetitionFinder.swift: finds code that stands twice. Lines are compared without their
// indentation; blank lines, imports and the comment that opens a file do not count. It looks
// twice: at code with its comments, and at code alone, so that other comments hide no copy.

/// Code that stands in two places.
struct Repetition: CustomStringConvertible, Equatable {
  let lineCount: Int
  let first: String
  let second: String

  var description: String {
    "\(first) and \(second) share \(lineCount) lines; let one piece of code serve both"
  }
}

/// Finds code that stands twice.
struct RepetitionFinder {
  /// Shortest run of lines that counts.
  static let linesMin = 12

  /// Second readers: they share no code with what they judge, so a copy there is none.
  static let secondReaders = [
    "Sources/Engine/Inspection", "Sources/CrashSim/Oracles/XRay", "Sources/QueryReference",
    "Sources/FleeceReference", "Sources/SyncReference", "Sources/DocumentQueryReference",
  ]

  private struct Line {
    let number: Int
    /// Equal for equal texts.
    let text: Int
  }

  private struct Place {
    let file: Int
    let index: Int
  }

  private let files: [SourceFile]
  private var lines: [[Line]] = []
  private var texts: [Substring: Int] = [:]

  init(_ files: [SourceFile]) { self.files = files }

  /// All repetitions, ordered by place.
  mutating func repetitions() -> [Repetition] {
    var found = find(withComments: false)
    for other in find(withComments: true)
    where !found.contains(where: { $0.first == other.first && $0.second == other.second }) {
      found.append(other)
    }
    return found
  }

  private mutating func find(withComments: Bool) -> [Repetition] {
    lines = files.map { read($0, withComments: withComments) }
    var pairs: [(Place, Place)] = []
    var earlier: [Int: [Place]] = [:]
    for file in lines.indices where lines[file].count >= Self.linesMin {
      for index in 0...(lines[file].count - Self.linesMin) {
        let place = Place(file: file, index: index)
        let others = earlier[sum(of: place), default: []]
        pairs += others.filter { isSame($0, place) }.map { ($0, place) }
        earlier[sum(of: place)] = others + [place]
      }
    }
    let ordered = pairs.sorted { left, right in
      (left.0.file, left.0.index, left.1.file, left.1.index)
        < (right.0.file, right.0.index, right.1.file, right.1.index)
    }
    return ordered.compactMap(repetition)
  }

  /// The lines that count.
  private mutating func read(_ file: SourceFile, withComments: Bool) -> [Line] {
    var kept: [Line] = []
    var isHeader = true
    for (index, line) in file.lines.enumerated() {
      let text = line[...].drop { $0 == " " }
      let isComment = file.code[index].allSatisfy { $0 == " " } && text.hasPrefix("//")
      isHeader = isHeader && (isComment || text.isEmpty)
      let isImport =
        !isComment && (text.hasPrefix("import ") || text.contains(" import "))
      if text.isEmpty || isHeader || isImport || (isComment && !withComments) { continue }
      let number = texts[text] ?? texts.count
      texts[text] = number
      kept.append(Line(number: index + 1, text: number))
    }
    return kept
  }

  /// Equal for equal windows, and seldom for others.
  private func sum(of place: Place) -> Int {
    var sum = 0
    for offset in 0..<Self.linesMin {
      sum = sum &* 1_000_003 &+ lines[place.file][place.index + offset].text
    }
    return sum
  }

  private func isSame(_ left: Place, _ right: Place) -> Bool {
    (0..<Self.linesMin).allSatisfy {
      lines[left.file][left.index + $0].text == lines[right.file][right.index + $0].text
    }
  }

  /// The longest run from two equal windows on; nil when it began before, or need not be shared.
  private func repetition(_ first: Place, _ second: Place) -> Repetition? {
    let (left, right) = (lines[first.file], lines[second.file])
    let goesOnFromBefore =
      first.index > 0 && second.index > 0
      && left[first.index - 1].text == right[second.index - 1].text
    let overlaps = first.file == second.file && second.index - first.index < Self.linesMin
    if goesOnFromBefore || overlaps || judge(first.file) != judge(second.file) { return nil }
    var count = Self.linesMin
    while first.index + count < left.count, second.index + count < right.count,
      left[first.index + count].text == right[second.index + count].text
    { count += 1 }
    return Repetition(
      lineCount: count, first: name(first, count), second: name(second, count))
  }

  /// The second reader that a file belongs to.
  private func judge(_ file: Int) -> String? {
    Self.secondReaders.first { files[file].isIn([$0]) }
  }

  private func name(_ place: Place, _ count: Int) -> String {
    let run = lines[place.file][place.index..<(place.index + count)]
    return "\(files[place.file].path):\(run.first?.number ?? 0)-\(run.last?.number ?? 0)"
  }
}
