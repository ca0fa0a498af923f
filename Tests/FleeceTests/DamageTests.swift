// DamageTests.swift: bytes that are no Fleece, one kind of damage each; and bytes that mean far
// more than they are, which must cost no more than they are.

import Fleece
import Testing

@Suite("Damaged bytes")
struct DamageTests {
  @Test(
    "are refused when the outermost value is asked for",
    arguments: [
      "", "30", "300030", "30003000", "8001", "80", "20000000c0bf8004", "8000", "80028001",
      "308002", "31008001", "3f00", "f0008001", "9000", "4f8002", "4f0041ff8004",
    ])
  func roots(hex: String) throws {
    let bytes = try #require([UInt8](hex: hex))
    let error = Short.error { () throws(FleeceError) in _ = try FleeceDocument(bytes) }
    #expect(error?.code == .damaged, "\(hex)")
  }

  @Test(
    "are refused by validation, and by whoever comes there",
    arguments: [
      // An item: a pointer to before the bytes; to itself; to the array; a text too long for it.
      ("600180058002", 2), ("600180008002", 2), ("600180018002", 0), ("600142618002", 2),
      // A text that reaches into its array; a pointer to a pointer; a value that is none.
      ("43616200600180028002", 2), ("8001 6001 8002 8002", 0), ("600131008002", 2),
      // Integers and a collection that have no room in a slot.
      ("600111058002", 2), ("600160018002", 2),
    ])
  func items(hex: String, offset: Int) throws {
    let bytes = try #require([UInt8](hex: hex.filter { $0 != " " }))
    try Short.reading(bytes) { (root) throws(FleeceError) in
      let read = Short.error { () throws(FleeceError) in _ = try root.array?.value(at: 0) }
      let validated = Short.error { () throws(FleeceError) in try root.validate() }
      #expect(read?.code == .damaged && read?.offsetBytes == offset, "\(hex)")
      #expect(read == validated)
      let json = Short.error { () throws(FleeceError) in _ = try root.json() }
      #expect(json == read)
    }
  }

  @Test("have no room for the items that they claim", arguments: ["6003", "67ff", "7002", "6802"])
  func counts(hex: String) throws {
    let bytes = try #require([UInt8](hex: hex + "000000008003"))
    #expect(Short.error { () throws(FleeceError) in _ = try FleeceDocument(bytes) } != nil)
    // The same with a count that is larger than memory.
    let large = try #require([UInt8](hex: "67ffffffffff0f008004"))
    #expect(Short.error { () throws(FleeceError) in _ = try FleeceDocument(large) } != nil)
  }

  @Test(
    "have keys that are none, or in disorder",
    arguments: [
      "7001300000018003", "70010fff00018003", "7001600000018003", "700210050001000600018005",
      "7002416200014161000180 05", "7002416100010001000180 05", "700200020001000100018005",
      "0005 7001 8002 0001 8003",
    ])
  func keys(hex: String) throws {
    let bytes = try #require([UInt8](hex: hex.filter { $0 != " " }))
    let error = Short.error { () throws(FleeceError) in _ = try FleeceDocument(validating: bytes) }
    #expect(error?.code == .damaged, "\(hex)")
    // A search ends all the same.
    try Short.reading(bytes) { (root) throws(FleeceError) in
      _ = try? root.dict?.value(for: "c")
      _ = try? root.dict?.value(forShared: 7)
    }
  }

  @Test("may have a key twice, as the real encoder writes it")
  func doubled() throws {
    let bytes = try FleeceEncoder.bytes(ofJSON: #"{"a":1,"b":2,"a":3}"#)
    _ = try FleeceDocument(validating: bytes)
  }

  /// An array that has the one before it twice, and so on.
  private static func doubling(_ levels: Int, inner: UInt16 = 0x0001) -> [UInt8] {
    var bytes: [UInt8] = [0x60, 0x01, UInt8(inner >> 8), UInt8(inner & 255)]
    for level in 0..<levels {
      let back = level == 0 ? 3 : 4
      bytes += [0x60, 0x02, 0x80, UInt8(back), 0x80, UInt8(back + 1)]
    }
    return bytes + [0x80, 0x03]
  }

  /// Whether a copy ends at a bound.
  private func isTooLargeToCopy(_ root: FleeceValue) -> Bool {
    var encoder = FleeceEncoder()
    do throws(FleeceError) { try encoder.copy(root) } catch { return error.code == .limit }
    return false
  }

  @Test(
    "that mean 2²⁰⁰ values are validated at once, and written out up to a bound",
    arguments: [0x0001, 0x6000, 0x7000, 0x3000, 0x4000] as [UInt16])
  func doublings(inner: UInt16) throws {
    try Short.reading(Self.doubling(200, inner: inner)) { (root) throws(FleeceError) in
      try root.validate()
      #expect(Short.error { () throws(FleeceError) in _ = try root.json() }?.code == .limit)
      #expect(isTooLargeToCopy(root))
    }
    // A few levels stay below the bound.
    #expect(try Short.json(Self.doubling(2)) == "[[[1],[1]],[[1],[1]]]")
  }

  @Test(
    "that have one long text a thousand times are written out up to a bound",
    arguments: [false, true])
  func repeatedText(isKey: Bool) throws {
    var bytes: [UInt8] = [0x4f, 0x80, 0x50] + [UInt8](repeating: 0x61, count: 0x2800)
    bytes.append(0)
    let start = bytes.count
    bytes += [isKey ? 0x73 : 0x63, 0xe8]
    for _ in 0..<1000 {
      let back = bytes.count / 2
      bytes += [0x80 | UInt8(back >> 8), UInt8(back & 255)]
      if isKey { bytes += [0x60, 0x00] }
    }
    let root = (bytes.count - start) / 2
    bytes += [0x80 | UInt8(root >> 8), UInt8(root & 255)]
    try Short.reading(bytes) { (root) throws(FleeceError) in
      // Long keys that come again would have to be compared each time.
      let error = Short.error { () throws(FleeceError) in try root.validate() }
      #expect(isKey ? error?.code == .limit : error == nil)
      #expect(Short.error { () throws(FleeceError) in _ = try root.json() }?.code == .limit)
      var options = FleeceJSONOptions()
      options.isCanonical = true
      #expect(
        Short.error { () throws(FleeceError) in _ = try root.json(options: options) }?.code
          == .limit)
      options.sizeMaxBytes = 1 << 24
      let sizeBytes = try root.json(options: options).utf8.count
      #expect(sizeBytes == 1000 * (0x2800 + (isKey ? 6 : 3)) + 1)
      #expect(isTooLargeToCopy(root))
    }
  }

  @Test("that nest deeper than a bound are refused, also where they are reached twice")
  func depth() throws {
    for levels in [255, 256] {
      let bytes = Self.doubling(levels)
      let error = Short.error { () throws(FleeceError) in
        _ = try FleeceDocument(validating: bytes)
      }
      #expect(levels == 255 ? error == nil : error?.code == .limit)
    }
    // What was looked at once near the top is too deep from elsewhere: [x, [[x]]] with x = [[1]].
    let bytes = try #require(
      [UInt8](
        hex: "60010001600180036001800360018003600280078004 8003"
          .filter { $0 != " " }))
    #expect(try Short.json(bytes) == "[[[1]],[[[[1]]]]]")
    try Short.reading(bytes) { (root) throws(FleeceError) in
      try root.validate(depthMax: 5)
      for most in [1, 2, 3, 4] {
        let error = Short.error { () throws(FleeceError) in try root.validate(depthMax: most) }
        #expect(error?.code == .limit, "\(most)")
      }
      var options = FleeceJSONOptions()
      options.depthMax = 4
      let error = Short.error { () throws(FleeceError) in _ = try root.json(options: options) }
      #expect(error?.code == .limit)
    }
  }

  @Test("with collections over each other are refused before that costs anything")
  func overlaps() throws {
    // A wide array of integers of four bytes, the last two of which begin a wide array each.
    let count = 200
    var bytes: [UInt8] = [0x68, UInt8(count)]
    for index in 0..<count { bytes += [0x1a, 0x00, 0x68, UInt8(min(100, count - index - 1))] }
    let start = bytes.count
    bytes += [0x60, UInt8(count)]
    for index in 0..<count {
      let back = (start + 2 + 2 * index - (4 + 4 * index)) / 2
      bytes += [0x80 | UInt8(back >> 8), UInt8(back & 255)]
    }
    bytes += [0x80, UInt8(count + 1)]
    // Each of them can be read.
    try Short.reading(bytes) { (root) throws(FleeceError) in
      #expect(try root.array?.value(at: 0)?.array?.value(at: 99)?.integer == 0x63_6800)
      #expect(try root.array?.value(at: -2)?.array?.count == 1)
    }
    let error = Short.error { () throws(FleeceError) in _ = try FleeceDocument(validating: bytes) }
    #expect(error?.code == .damaged && error?.message == "collections over each other")
  }
}
