// RegularExpressionReader.swift: reads patterns. Depth and repetitions are bounded.

/// Reads a pattern into a tree.
struct RegularExpressionReader {
  indirect enum Tree {
    case step(RegularExpression.Step)
    case sequence([Tree])
    case choice([Tree])
    case group(Int, Tree)
    case repeated(Tree, least: Int, most: Int?, isLazy: Bool)
  }

  private let letters: [UInt32]
  private var place = 0
  private var depth = 0
  private(set) var groups = 1

  init(_ pattern: String) { letters = pattern.unicodeScalars.map(\.value) }

  mutating func read() -> Tree? {
    guard letters.count <= 4096, let tree = choice(), place == letters.count else { return nil }
    return tree
  }

  private func peek(_ letter: Unicode.Scalar) -> Bool {
    place < letters.count && letters[place] == letter.value
  }

  private mutating func take(_ letter: Unicode.Scalar) -> Bool {
    guard peek(letter) else { return false }
    place += 1
    return true
  }

  private mutating func choice() -> Tree? {
    depth += 1
    defer { depth -= 1 }
    guard depth <= 50 else { return nil }
    var branches: [Tree] = []
    repeat {
      var items: [Tree] = []
      while place < letters.count, !peek("|"), !peek(")") {
        guard let item = item(), let repeated = repeated(item) else { return nil }
        items.append(repeated)
      }
      branches.append(.sequence(items))
    } while take("|")
    return branches.count == 1 ? branches[0] : .choice(branches)
  }

  private mutating func item() -> Tree? {
    let letter = letters[place]
    place += 1
    switch Unicode.Scalar(letter) {
    case ".": return .step(.any)
    case "^": return .step(.start)
    case "$": return .step(.end)
    case "[": return set().map { .step(.set($0)) }
    case "(":
      if take("?") {
        guard take(":"), let inner = choice(), take(")") else { return nil }
        return inner
      }
      let number = groups
      groups += 1
      guard groups <= 100, let inner = choice(), take(")") else { return nil }
      return .group(number, inner)
    case "*", "+", "?", "{": return nil
    case "\\": return escape()
    default: return .step(.scalar(letter))
    }
  }

  private mutating func repeated(_ item: Tree) -> Tree? {
    let (least, most): (Int, Int?)
    if take("*") {
      (least, most) = (0, nil)
    } else if take("+") {
      (least, most) = (1, nil)
    } else if take("?") {
      (least, most) = (0, 1)
    } else if take("{") {
      guard let first = number() else { return nil }
      if take(",") {
        (least, most) = (first, peek("}") ? nil : number())
        guard peek("}"), most == nil || most ?? 0 >= least else { return nil }
      } else {
        (least, most) = (first, first)
      }
      guard take("}") else { return nil }
    } else {
      return item
    }
    let isLazy = take("?")
    // A repetition of a repetition is not a pattern.
    guard !peek("*"), !peek("+"), !peek("?") else { return nil }
    return .repeated(item, least: least, most: most, isLazy: isLazy)
  }

  private mutating func number() -> Int? {
    var (number, start) = (0, place)
    while place < letters.count, (0x30...0x39).contains(letters[place]) {
      number = number * 10 + Int(letters[place] - 0x30)
      guard number <= 1000 else { return nil }
      place += 1
    }
    swap(&start, &place)
    defer { place = start }
    return start > place ? number : nil
  }

  private mutating func escape() -> Tree? {
    guard place < letters.count else { return nil }
    if take("b") { return .step(.boundary(true)) }
    if take("B") { return .step(.boundary(false)) }
    if let set = classEscape() { return .step(.set(set)) }
    guard let letter = letterEscape() else { return nil }
    return .step(.scalar(letter))
  }

  private mutating func classEscape() -> RegularExpressionSet? {
    let set: RegularExpressionSet
    switch Unicode.Scalar(letters[place]) {
    case "d", "D": set = .digits
    case "w", "W": set = .words
    case "s", "S": set = .spaces
    default: return nil
    }
    let isNegated = letters[place] < 0x61
    place += 1
    return RegularExpressionSet(ranges: set.ranges, isNegated: isNegated)
  }

  private mutating func letterEscape() -> UInt32? {
    let letter = letters[place]
    place += 1
    switch Unicode.Scalar(letter) {
    case "t": return 9
    case "n": return 10
    case "v": return 11
    case "f": return 12
    case "r": return 13
    case "x": return hexadecimal(2)
    case "u": return hexadecimal(4)
    case "0": return 0
    case let scalar? where scalar.value < 128 && scalar.properties.isAlphabetic: return nil
    case let scalar? where ("1"..."9").contains(scalar): return nil
    default: return letter
    }
  }

  private mutating func hexadecimal(_ count: Int) -> UInt32? {
    guard place + count <= letters.count else { return nil }
    var number: UInt32 = 0
    for _ in 0..<count {
      guard let scalar = Unicode.Scalar(letters[place]),
        let digit = Character(scalar).hexDigitValue, scalar.isASCII
      else { return nil }
      number = number << 4 | UInt32(digit)
      place += 1
    }
    return number
  }

  private mutating func set() -> RegularExpressionSet? {
    var set = RegularExpressionSet()
    set.isNegated = take("^")
    while !take("]") {
      guard place < letters.count else { return nil }
      guard let first = setItem(&set) else { continue }
      guard let first = first.letter else { return nil }
      guard peek("-"), place + 1 < letters.count, letters[place + 1] != 0x5d else {
        set.ranges.append(first...first)
        continue
      }
      place += 1
      guard let last = setItem(&set)?.letter, last >= first else { return nil }
      set.ranges.append(first...last)
    }
    return set
  }

  /// A letter of a set; nil where it was a class, a letter of nil where it was neither.
  private mutating func setItem(_ set: inout RegularExpressionSet) -> (letter: UInt32?, Void)? {
    let letter = letters[place]
    place += 1
    guard letter == 0x5c else { return (letter, ()) }
    guard place < letters.count else { return (nil, ()) }
    if let found = classEscape() {
      set.ranges += found.isNegated ? found.inverted : found.ranges
      return nil
    }
    if take("b") { return (8, ()) }
    return (letterEscape(), ())
  }
}
