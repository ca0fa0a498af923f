// VersionVector+Bytes.swift: the stored form of vectors (3.2 and later; that of 3.0 and 3.1 was
// different).
//   00      distinguishes a vector from a tree's revision ID
//   each version:
//     varint  time, compressed; after the first, the time before it minus this one, which may be
//             negative and stands as its 64 bits
//     1       size of the source, with 0x80 for current versions
//     …       source
// Compression: a number whose low 16 bits are not all 0 is stored doubled plus 1, others without 15
// of their zeros.

extension VersionVector {
  /// Whether a column `version` has a vector.
  static func isVector(_ bytes: [UInt8]) -> Bool { bytes.first == 0 }

  /// Reads a vector.
  /// - Parameter bytes: The column `version`.
  /// - Throws: `DocumentStoreError` with code `.badRevisionID`.
  /// - Complexity: O(bytes).
  public init(stored bytes: [UInt8]) throws(DocumentStoreError) {
    var reader = ByteReader(bytes)
    guard reader.uint8() == 0 else { throw Self.damaged("it does not begin with 00") }
    var (versions, currentCount, time) = ([Version](), 0, UInt64(0))
    while reader.left > 0 {
      guard let number = reader.varint(), let size = reader.uint8(),
        let source = reader.take(Int(size & 0x7f)), let source = VersionSource(stored: source)
      else { throw Self.damaged("byte \(reader.offset) ends in a version") }
      let change = UInt64(bitPattern: Self.expanded(Int64(bitPattern: number)))
      time = versions.isEmpty ? change : time &- change
      if size & 0x80 != 0 {
        guard currentCount == versions.count else {
          throw Self.damaged("a current version comes after others")
        }
        currentCount += 1
      }
      versions.append(Version(time: time, source: source))
    }
    try self.init(versions, currentCount: max(1, currentCount))
  }

  /// The bytes.
  /// - Throws: `DocumentStoreError` with code `.badRevisionID` for times too far from each other to
  ///   be stored.
  /// - Complexity: O(versions).
  public func stored() throws(DocumentStoreError) -> [UInt8] {
    var (output, last) = ([UInt8(0)], UInt64(0))
    for (index, version) in versions.enumerated() {
      let change = Int64(bitPattern: index == 0 ? version.time : last &- version.time)
      let number = Self.compressed(change)
      guard Self.expanded(number) == change else {
        throw Self.damaged("the time of \(version) is too far from the one before it")
      }
      output.append(varint: UInt64(bitPattern: number))
      let source = version.source.stored
      output.append(UInt8(source.count) | (index < currentCount ? 0x80 : 0))
      output += source
      last = version.time
    }
    return output
  }

  private static func compressed(_ number: Int64) -> Int64 {
    number & 0xffff != 0 ? number << 1 | 1 : number / 0x8000
  }

  private static func expanded(_ number: Int64) -> Int64 {
    number & 1 != 0 ? number >> 1 : number &* 0x8000
  }

  private static func damaged(_ what: String) -> DocumentStoreError {
    DocumentStoreError(.badRevisionID, "a version vector is damaged: \(what)")
  }
}
