// PackedArray.swift [U]: integers of one width, read in place. An element is base + the unsigned
// number of `width` bits, modulo 2^64; base is the smallest element, so negative numbers need no
// special case, and a leaf of large keys that are close together is as narrow as one near 0.
// Widths: 0, 1, 2, 4, 8, 16, 32, 64. Element i of a narrow width starts at bit (i × width) % 8 of
// byte (i × width) / 8, lowest bit first. Arrays start at multiples of 8 bytes.

/// Integers of one width inside a node.
@safe struct PackedArray: @unchecked Sendable {
  // Safety: init checks that count elements of this width are inside the node's bytes; the node's
  // owner keeps them alive and they are not written.
  @unsafe let elements: UnsafeRawPointer
  let count: Int
  let width: Int
  let base: UInt64

  /// The widths there are.
  static let widths = [0, 1, 2, 4, 8, 16, 32, 64]

  /// Bytes of an array, padded to 8.
  static func sizeBytes(count: Int, width: Int) -> Int {
    ((count * width + 7) / 8 + 7) / 8 * 8
  }

  /// The smallest width for numbers up to `range`.
  static func width(forRange range: UInt64) -> Int {
    switch range {
    case 0: return 0
    case 1: return 1
    case 2...3: return 2
    case 4...15: return 4
    case 16...0xff: return 8
    case 0x100...0xffff: return 16
    case 0x1_0000...0xffff_ffff: return 32
    default: return 64
    }
  }

  /// The array at `offset` of a node, or nil when it is not inside the node.
  @inline(__always)
  init?(in node: RawBytes, at offset: Int, count: Int, width: Int, base: UInt64) {
    switch width {
    case 0, 1, 2, 4, 8, 16, 32, 64: break
    default: return nil
    }
    guard count >= 0, count <= node.count * 8 || width == 0, offset >= 0, offset % 8 == 0,
      offset <= node.count, Self.sizeBytes(count: count, width: width) <= node.count - offset
    else { return nil }
    unsafe elements = unsafe node.base + offset
    self.count = count
    self.width = width
    self.base = base
  }

  /// The memory of the elements.
  @inline(__always)
  var bytes: RawBytes {
    unsafe RawBytes(
      UnsafeRawBufferPointer(start: elements, count: Self.sizeBytes(count: count, width: width)))
  }

  /// An array of equal elements, which takes no bytes; `node` is any memory that outlives it.
  @inline(__always)
  init(constant: UInt64, count: Int, in node: RawBytes) {
    unsafe elements = unsafe node.base
    self.count = count
    width = 0
    base = constant
  }

  /// The element at an index.
  @inline(__always)
  subscript(index: Int) -> Int64 {
    precondition(index >= 0 && index < count)
    return Int64(bitPattern: base &+ number(index))
  }

  @inline(__always)
  func number(_ index: Int) -> UInt64 {
    switch width {
    case 0: return 0
    case 1, 2, 4:
      let bit = index * width
      let byte = unsafe elements.load(fromByteOffset: bit >> 3, as: UInt8.self)
      return UInt64(byte >> UInt8(bit & 7)) & ((1 << UInt64(width)) - 1)
    case 8: return UInt64(unsafe elements.load(fromByteOffset: index, as: UInt8.self))
    case 16: return UInt64(load(index, UInt16.self))
    case 32: return UInt64(load(index, UInt32.self))
    default: return load(index, UInt64.self)
    }
  }

  @inline(__always)
  func load<Number: FixedWidthInteger & BitwiseCopyable>(
    _ index: Int, _ type: Number.Type
  ) -> Number {
    unsafe Number(
      littleEndian: elements.loadUnaligned(
        fromByteOffset: index &* MemoryLayout<Number>.size, as: Number.self))
  }

  /// The first index whose element is not smaller than `key`; the elements must ascend.
  @inline(__always)
  func firstIndex(notBelow key: Int64) -> Int {
    var low = 0
    var length = count
    while length > 0 {
      let half = length >> 1
      if self[low + half] < key {
        low += half + 1
        length -= half + 1
      } else {
        length = half
      }
    }
    return low
  }

  /// Replaces the content of `values` by all elements.
  func decode(into values: inout [Int64]) {
    unsafe values = Array(unsafeUninitializedCapacity: count) { buffer, filled in
      switch width {
      case 8: unsafe fill(buffer, UInt8.self)
      case 16: unsafe fill(buffer, UInt16.self)
      case 32: unsafe fill(buffer, UInt32.self)
      case 64: unsafe fill(buffer, UInt64.self)
      default:
        for index in 0..<count {
          unsafe buffer[index] = Int64(bitPattern: base &+ number(index))
        }
      }
      filled = count
    }
  }

  private func fill<Number: FixedWidthInteger & BitwiseCopyable>(
    _ buffer: UnsafeMutableBufferPointer<Int64>, _ type: Number.Type
  ) {
    for index in 0..<count {
      unsafe buffer[index] = Int64(
        bitPattern: base &+ UInt64(truncatingIfNeeded: load(index, type)))
    }
  }

  /// Writes the values at `offset` of a node, with zeros up to a multiple of 8 bytes.
  static func encode(
    _ values: [Int64], base: UInt64, width: Int, into node: MutableBytes, at offset: Int
  ) {
    let size = sizeBytes(count: values.count, width: width)
    precondition(offset % 8 == 0 && offset >= 0 && size <= node.count - offset)
    let target = unsafe node.base + offset
    switch width {
    case 0: break
    case 1, 2, 4:
      node.clear(from: offset, to: offset + size)
      for index in values.indices {
        let bit = index * width
        let number = UInt8(truncatingIfNeeded: UInt64(bitPattern: values[index]) &- base)
        let old = unsafe target.load(fromByteOffset: bit >> 3, as: UInt8.self)
        unsafe target.storeBytes(
          of: old | (number << UInt8(bit & 7)), toByteOffset: bit >> 3, as: UInt8.self)
      }
    case 8: unsafe store(values, base, UInt8.self, target, size)
    case 16: unsafe store(values, base, UInt16.self, target, size)
    case 32: unsafe store(values, base, UInt32.self, target, size)
    default: unsafe store(values, base, UInt64.self, target, size)
    }
  }

  private static func store<Number: FixedWidthInteger & BitwiseCopyable>(
    _ values: [Int64], _ base: UInt64, _ type: Number.Type, _ target: UnsafeMutableRawPointer,
    _ size: Int
  ) {
    let stride = MemoryLayout<Number>.size
    for index in values.indices {
      let number = Number(truncatingIfNeeded: UInt64(bitPattern: values[index]) &- base)
      unsafe target.storeBytes(
        of: number.littleEndian, toByteOffset: index * stride, as: Number.self)
    }
    let written = values.count * stride
    unsafe (target + written).initializeMemory(
      as: UInt8.self, repeating: 0, count: size - written)
  }
}
