// FineDateTests.swift: a date keeps the Double that Foundation's dates are made of. The story: half
// of all dates of 2026 came back 0.12 µs off: they were kept as seconds since 1970, of which a
// Double holds a bit less than of those since 2001.

import Testing

@testable import Engine

@Suite("fine dates")
struct FineDateTests {
  /// Doubles of every kind: of all sizes, near whole seconds, near the borders of what nanoseconds
  /// and 64 bits can express.
  private static func intervals() -> [Double] {
    var random = TestRandom(31)
    var intervals: [Double] = [
      .nan, .infinity, 0, .leastNonzeroMagnitude, .leastNormalMagnitude, .greatestFiniteMagnitude,
      800_000_000.001, 793_109_282.061, 63_113_904_000, 1e-20, 0.1, 978_307_200,
    ]
    for center in [0.5, 1, 1000, 0x1p22, 0x1p23, 0x1p24, 978_307_200, 8e8, 0x1p53, 0x1p63, 0x1p64] {
      for ulps in -3...3 { intervals.append(center + Double(ulps) * center.ulp) }
      intervals.append(center.nextDown)
    }
    for _ in 0..<20_000 {
      intervals.append(Double(bitPattern: random.next()))
      intervals.append(Double(random.below(1 << 50)) / 0x1p20)
      intervals.append(Double(random.below(1 << 50)) / 0x1p27)
      intervals.append(Double(random.below(1 << 50)) / 0x1p60)
    }
    return intervals.filter { !$0.isNaN } + intervals.filter { !$0.isNaN }.map { -$0 } + [.nan]
  }

  private static func interval(_ value: Value) -> Double {
    guard case .date(let seconds, let nanoseconds) = value else { return .nan }
    return Value.sinceReferenceDate(seconds: seconds, nanoseconds: nanoseconds)
  }

  @Test("every Double comes back, and is what a file may hold")
  func roundTrip() throws {
    for interval in Self.intervals() {
      let value = Value.date(sinceReferenceDate: interval)
      let back = Self.interval(value)
      #expect(back == interval || back.isNaN && interval.isNaN, "\(interval) is \(value)")
      guard case .date(let seconds, let part) = value else { continue }
      #expect(FineDates.isPart(part, of: seconds), "\(interval) is \(value)")
      // Far from 2001 nanoseconds are enough.
      if (0x1p23..<0x1p62).contains(interval.magnitude) { #expect(part < 1_000_000_000) }
      // The index orders by seconds.
      let floor = interval.rounded(.down)
      if floor.magnitude < 0x1p62 { #expect(seconds == Int64(floor) + 978_307_200) }
    }
  }

  @Test("values ascend as Doubles do")
  func order() {
    let sorted = Self.intervals().sorted { $1.isNaN ? false : $0.isNaN || $0 < $1 }
    for (left, right) in zip(sorted, sorted.dropFirst()) {
      let expected = left == right || left.isNaN && right.isNaN ? 0 : -1
      let values = (Value.date(sinceReferenceDate: left), Value.date(sinceReferenceDate: right))
      #expect(Value.order(values.0, values.1) == expected, "\(left) \(right)")
      #expect(Value.order(values.1, values.0) == -expected, "\(left) \(right)")
    }
    #expect(Value.order(.firstDate, .date(sinceReferenceDate: -.infinity)) < 0)
    #expect(Value.order(.lastDate, .date(seconds: .max, nanoseconds: 999_999_999)) > 0)
  }

  @Test("nanoseconds and fine dates have one order, which is transitive")
  func mixedOrder() {
    var random = TestRandom(32)
    let values = (0..<600).map { _ -> Value in
      let near = Int64(978_307_200 + [-1, 0, 1, 8_388_607, 8_388_608][random.below(5)])
      let sign = near < 978_307_200 ? -1.0 : 1
      let offset = near < 978_307_200 ? 1.0 : Double(near - 978_307_200)
      return random.below(2) == 0
        ? .date(seconds: near, nanoseconds: Int64(random.below(2_000)) / 3)
        : .date(sinceReferenceDate: sign * (offset + Double(random.below(2_000)) / 3e9))
    }
    let sorted = values.sorted(by: Value.precedes)
    for left in stride(from: 0, to: sorted.count, by: 7) {
      for right in left..<sorted.count {
        #expect(Value.order(sorted[left], sorted[right]) <= 0)
        #expect(Value.order(sorted[right], sorted[left]) >= 0)
        let same = Value.order(sorted[left], sorted[right]) == 0
        #expect(same == (sorted[left] == sorted[right]))
      }
    }
  }

  /// What programs wrote and read before: Doubles of seconds since 1970.
  @Test("what older programs wrote reads as they read it, and is found by that date")
  func olderFiles() {
    var random = TestRandom(33)
    for _ in 0..<40_000 {
      let span = [1e3, 0x1p23, 0x1p24, 2e9, 1e12][random.below(5)]
      let date = Double(random.below(1 << 53)) / 0x1p52 * span - span
      let since1970 = date + 978_307_200
      let whole = since1970.rounded(.down)
      let nanoseconds = ((since1970 - whole) * 1e9).rounded()
      let old =
        nanoseconds < 1e9
        ? Value.date(seconds: Int64(whole), nanoseconds: Int64(nanoseconds))
        : .date(seconds: Int64(whole) + 1, nanoseconds: 0)
      guard case .date(let seconds, let part) = old else { continue }
      let read = Double(seconds) + Double(part) / 1e9 - 978_307_200
      #expect(Self.interval(old) == read, "\(date)")
      #expect(Value.date(sinceReferenceDate: read) == old, "\(date)")
    }
  }

  @Test("what is neither nanoseconds nor a fine date of its second is refused")
  func refused() {
    for (seconds, part) in [
      (0, -1), (0, 1_000_000_000), (978_307_200, 1_000_000_000), (0, .max),
      (978_307_200, .min), (Int64.max, 1_000_000_000), (.min, .max),
      // 0.5 s after 2001, which has nanoseconds; 0.1 s in another second; another NaN.
      (978_307_200, 0x401c << 48), (978_307_201, 0x4045_9999_9999_999a), (.min, 0x5 << 48),
    ] as [(Int64, Int64)] {
      #expect(!FineDates.isPart(part, of: seconds), "\(seconds) \(part)")
    }
    #expect(FineDates.isPart(0x4045_9999_9999_999a, of: 978_307_200))
  }
}
