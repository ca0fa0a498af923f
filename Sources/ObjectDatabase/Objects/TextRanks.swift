// TextRanks.swift: numbers in the place of texts: equal texts have one number, and numbers are in
// the order of the texts' bytes. Texts are sorted by their first eight bytes as one number, and
// only where these are equal by all bytes.

import Engine

/// Numbers in the order of texts.
enum TextRanks {
  /// A number for each text, from 0 on.
  /// - Complexity: O(texts), and O(n log n × bytes) for n texts that begin with the same eight
  ///   bytes.
  static func ranks(_ texts: GatheredTexts) -> [Int64] {
    let ends = texts.ends
    return RawBytes.over(texts.bytes) { bytes in
      func text(_ number: UInt32) -> RawBytes {
        let start = number == 0 ? 0 : ends[Int(number) - 1]
        return bytes.part(at: start, count: ends[Int(number)] - start)
      }
      var order = Array(0..<UInt32(ends.count))
      let heads = order.map { head(text($0)) }
      RadixSort.sort(&order, by: heads)
      var ranks = [Int64](repeating: 0, count: order.count)
      var rank: Int64 = -1
      var start = 0
      while start < order.count {
        let head = heads[Int(order[start])]
        var end = start + 1
        while end < order.count, heads[Int(order[end])] == head { end += 1 }
        let first = text(order[start])
        if !order[start + 1..<end].allSatisfy({ text($0).order(first) == 0 }) {
          order[start..<end].sort { text($0).order(text($1)) < 0 }
        }
        for place in start..<end {
          let number = order[place]
          if place == start || text(number).order(text(order[place - 1])) != 0 { rank += 1 }
          ranks[Int(number)] = rank
        }
        start = end
      }
      return ranks
    }
  }

  /// The first eight bytes as a number that sorts as they do; a shorter text ends in zeros.
  @inline(__always)
  private static func head(_ text: RawBytes) -> UInt64 {
    if text.count >= 8 { return text.uint64(0).byteSwapped }
    var head: UInt64 = 0
    for index in 0..<text.count { head |= UInt64(text.uint8(index)) << UInt64(56 - 8 * index) }
    return head
  }
}
