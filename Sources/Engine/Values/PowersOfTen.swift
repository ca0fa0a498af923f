// PowersOfTen.swift: the powers of ten that fit 128 bits, and the count of decimal digits.

enum PowersOfTen {
  /// 10^0 to 10^38, the largest that fits.
  static let all: [UInt128] = (0..<38).reduce(into: [1]) { powers, index in
    powers.append(powers[index] * 10)
  }

  /// Decimal digits of a number; 0 has none.
  static func digits(_ number: UInt128) -> Int {
    let bits = 128 - number.leadingZeroBitCount
    // 1233 / 4096 is log10(2) as exactly as 128 bits need: the number of digits or one less.
    let least = (bits * 1233) >> 12
    return number >= all[least] ? least + 1 : least
  }

  /// A number above 0 without the zeros at its end, and how many these were.
  static func withoutTrailingZeros(
    _ number: UInt128, atMost most: Int = 38
  ) -> (number: UInt128, zeros: Int) {
    var (rest, zeros) = (number, 0)
    for step in [16, 8, 4, 2, 1] where zeros + step <= most {
      let (quotient, remainder) = rest.quotientAndRemainder(dividingBy: all[step])
      if remainder == 0 { (rest, zeros) = (quotient, zeros + step) }
    }
    // Steps of 16 to 1 remove 31 zeros; the rest are removed singly.
    while zeros < most, rest % 10 == 0 { (rest, zeros) = (rest / 10, zeros + 1) }
    return (rest, zeros)
  }
}
