// FuzzPack.swift: stores many inputs in one file, so that a corpus is not hundreds of files.
//   offset_bytes  size  field
//              0     8  "FLPACK1\n"
//              8     …  inputs, one after the other: number of bytes; then, until all are there,
//                       runs: number of literal bytes, number of zeros, the literal bytes
// Numbers are LEB128. Database files consist mostly of zeros, which are not stored.
// Invariant: whatever bytes are read, an unpacked input has at most `bytesMax` bytes.

/// Packs of inputs.
package enum FuzzPack {
  private static let magic = Array("FLPACK1\n".utf8)
  private static let bytesMax = 1 << 28

  /// Whether bytes are a pack.
  package static func isPack(_ bytes: [UInt8]) -> Bool { bytes.starts(with: magic) }

  /// The pack of some inputs.
  package static func pack(_ inputs: [[UInt8]]) -> [UInt8] {
    var packed = magic
    for input in inputs {
      append(input.count, to: &packed)
      var start = 0
      while start < input.count {
        let (literalEnd, zeroEnd) = run(input, from: start)
        append(literalEnd - start, to: &packed)
        append(zeroEnd - literalEnd, to: &packed)
        packed += input[start..<literalEnd]
        start = zeroEnd
      }
    }
    return packed
  }

  /// The end of the literal bytes, and of the zeros after them; short runs of zeros are literal.
  private static func run(_ input: [UInt8], from start: Int) -> (Int, Int) {
    var index = start
    while index < input.count {
      var end = index
      while end < input.count, input[end] == 0 { end += 1 }
      if end - index >= 8 { return (index, end) }
      index = max(end, index + 1)
    }
    return (input.count, input.count)
  }

  private static func append(_ number: Int, to bytes: inout [UInt8]) {
    var rest = number
    while rest > 127 {
      bytes.append(UInt8(rest & 127 | 128))
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  /// The inputs of a pack; nil when it is damaged.
  package static func unpack(_ bytes: [UInt8]) -> [[UInt8]]? {
    guard isPack(bytes) else { return nil }
    var (rest, inputs, total) = (bytes[magic.count...], [[UInt8]](), 0)
    while !rest.isEmpty {
      guard let count = number(&rest) else { return nil }
      total += count
      guard total <= bytesMax else { return nil }
      var input: [UInt8] = []
      while input.count < count {
        guard let literal = number(&rest), let zeros = number(&rest), literal <= rest.count,
          literal + zeros <= count - input.count, literal + zeros > 0
        else { return nil }
        input += rest.prefix(literal)
        input += repeatElement(0, count: zeros)
        rest = rest.dropFirst(literal)
      }
      inputs.append(input)
    }
    return inputs
  }

  private static func number(_ bytes: inout ArraySlice<UInt8>) -> Int? {
    var number = 0
    for shift in stride(from: 0, to: 35, by: 7) {
      guard let byte = bytes.popFirst() else { return nil }
      number |= Int(byte & 127) << shift
      if byte < 128 { return number }
    }
    return nil
  }
}
