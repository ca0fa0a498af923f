// LineChannel.swift [U]: lines over two descriptors, with read(2) and write(2).

import Glibc

/// Lines in and lines out.
package struct LineChannel {
  private let input: Int32
  private let output: Int32
  private var buffer = LineBuffer()
  private var chunk = [UInt8](repeating: 0, count: 1 << 16)

  package init(input: Int32, output: Int32) {
    self.input = input
    self.output = output
  }

  /// The next line without its line feed; nil at the end of the input.
  /// - Throws: `LabError` with code `.lab` when reading fails or a line is too long.
  package mutating func readLine() throws(LabError) -> [UInt8]? {
    while true {
      if let line = buffer.next() { return line }
      guard buffer.countBytes <= LineBuffer.lineBytesMax else {
        throw .lab("line_bytes>\(LineBuffer.lineBytesMax)")
      }
      // Safety: read(2) fills at most the chunk.
      let count = unsafe chunk.withUnsafeMutableBytes { space in
        unsafe Glibc.read(input, space.baseAddress, space.count)
      }
      if count == 0 { return nil }
      if count < 0 {
        if errno == EINTR { continue }
        throw .lab("worker protocol: read failed, errno \(errno)")
      }
      buffer.append(chunk[..<count])
    }
  }

  /// Writes all bytes.
  /// - Throws: `LabError` with code `.lab` when writing fails.
  package func write(_ bytes: [UInt8]) throws(LabError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      // Safety: write(2) reads at most the slice.
      let count = unsafe rest.withUnsafeBytes { space in
        unsafe Glibc.write(output, space.baseAddress, space.count)
      }
      if count < 0 {
        if errno == EINTR { continue }
        throw .lab("worker protocol: write failed, errno \(errno)")
      }
      rest = rest.dropFirst(count)
    }
  }
}
