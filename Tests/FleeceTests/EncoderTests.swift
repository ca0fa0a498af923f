// EncoderTests.swift: what the encoder writes where no golden pair looks: each bound of sharing and
// of pointers, copies, and the inputs of public bug reports.

import Fleece
import FleeceReference
import Testing

@Suite("The encoder")
struct EncoderTests {
  @Test("writes integers around each power of two so that they come back, with and without a sign")
  func integers() throws {
    for power in 6...63 {
      for near in -2...2 {
        let bits = (1 as UInt64) << UInt64(power) &+ UInt64(bitPattern: Int64(near))
        for number in [Int64(bitPattern: bits), 0 &- Int64(bitPattern: bits)] {
          let bytes = try Short.bytes { (encoder) throws(FleeceError) in
            try encoder.integer(number)
          }
          try Short.reading(bytes) { (root) throws(FleeceError) in
            #expect(root.integer == number && !root.isUnsigned)
          }
        }
        let bytes = try Short.bytes { (encoder) throws(FleeceError) in
          try encoder.unsignedInteger(bits)
        }
        try Short.reading(bytes) { (root) throws(FleeceError) in
          #expect(root.unsignedInteger == bits)
        }
      }
    }
    // Three bytes without room for the sign once read back as -4431538.
    let signed = try Short.bytes { (encoder) throws(FleeceError) in
      try encoder.integer(12_345_678)
    }
    #expect(signed.hex == "134e61bc00008003")
  }

  @Test("refuses what is not a number, and writes infinity")
  func noNumber() throws {
    let double = Short.error { () throws(FleeceError) in
      _ = try Short.bytes { (encoder) throws(FleeceError) in try encoder.double(.nan) }
    }
    let float = Short.error { () throws(FleeceError) in
      _ = try Short.bytes { (encoder) throws(FleeceError) in try encoder.float(.nan) }
    }
    #expect(double?.code == .value && float == double)
    let bytes = try Short.bytes { (encoder) throws(FleeceError) in
      try encoder.beginArray()
      try encoder.double(-.infinity)
      try encoder.float(.infinity)
      encoder.undefined()
      try encoder.endArray()
    }
    #expect(try Short.json(bytes) == "[-inf,inf,undefined]")
  }

  /// The bytes of `["xx", data of that many bytes, "xx"]`.
  private func spaced(_ count: Int) throws -> [UInt8] {
    try Short.bytes { (encoder) throws(FleeceError) in
      try encoder.beginArray()
      try encoder.text("xx")
      try encoder.data([UInt8](repeating: 1, count: count))
      try encoder.text("xx")
      try encoder.endArray()
    }
  }

  @Test("points to a short text again up to 32,734 bytes later, then writes it anew")
  func sharing() throws {
    // 4 bytes of "xx" with their padding, 4 of the data's head.
    let near = try spaced(32_734 - 8)
    let far = try spaced(32_734 - 6)
    #expect(far.count == near.count + 2 + 4)
    for bytes in [near, far] {
      _ = try FleeceDocument(validating: bytes)
      try Short.reading(bytes) { (root) throws(FleeceError) in
        #expect(try root.array?.value(at: 2)?.text == "xx")
      }
    }
  }

  @Test("takes no text for another that zeros end")
  func zeros() throws {
    for size in 2...14 {
      let text = String(repeating: "a", count: size)
      let bytes = try Short.bytes { (encoder) throws(FleeceError) in
        try encoder.beginArray()
        for end in ["", "\0", "", "\0"] { try encoder.text(text + end) }
        try encoder.endArray()
      }
      try Short.reading(bytes) { (root) throws(FleeceError) in
        for index in 0..<4 {
          #expect(try root.array?.value(at: index)?.text == text + (index % 2 == 0 ? "" : "\0"))
        }
      }
    }
  }

  @Test("makes a collection wide when one of its pointers does not reach, and no other")
  func wide() throws {
    func document(_ count: Int) throws -> [UInt8] {
      try Short.bytes { (encoder) throws(FleeceError) in
        try encoder.beginArray()
        try encoder.data([UInt8](repeating: 1, count: count))
        try encoder.beginArray()
        try encoder.text("in")
        try encoder.endArray()
        try encoder.endArray()
      }
    }
    // The first slot lies 4 + count + 4 + 4 + 2 bytes behind the data.
    let narrow = try document(32_766 - 14)
    let wide = try document(32_766 - 12)
    #expect(narrow.hex.hasSuffix("600180036002bfff80048003"))
    #expect(wide.hex.hasSuffix("6001800368028000400080000005" + "8005"))
  }

  @Test("makes a collection wide when only its last pointer does not reach", arguments: [0, 1, 2])
  func lastPointer(nulls: Int) throws {
    // The first slot lies 32,764 bytes behind the data, which the last slot holds.
    let bytes = try Short.bytes { (encoder) throws(FleeceError) in
      try encoder.beginArray()
      for _ in 0..<nulls { encoder.null() }
      try encoder.data([UInt8](repeating: 1, count: 32_764 - 6))
      try encoder.endArray()
    }
    let slots = ["6001bffe8002", "60023000bfff8003", "68033000000030000000800040028007"]
    #expect(bytes.hex.hasSuffix(slots[nulls]))
  }

  @Test("ends with a pointer of four bytes where two do not reach", arguments: [16_381, 16_382])
  func wideRoot(count: Int) throws {
    let bytes = try Short.bytes { (encoder) throws(FleeceError) in
      try encoder.beginArray()
      for _ in 0..<count { encoder.null() }
      try encoder.endArray()
    }
    #expect(bytes.hex.hasSuffix(count == 16_381 ? "3000bfff" : "3000800040008002"))
    try Short.reading(bytes) { (root) throws(FleeceError) in
      #expect(root.array?.count == count)
    }
  }

  @Test("writes a document of 5,000 texts whose first come again at the end")
  func manyTexts() throws {
    var text = #"{"name":"a far text","#
    text +=
      "\"list\":["
      + (0..<5000).map { "\"text of 20 bytes\(1000 + $0)\"" }
      .joined(separator: ",")
    text += #"],"z":{"name":"a far text"},"y":""# + String(repeating: "y", count: 40_000) + "\"}"
    let bytes = try FleeceEncoder.bytes(ofJSON: text)
    _ = try FleeceDocument(validating: bytes)
    try Short.reading(bytes) { (root) throws(FleeceError) in
      #expect(try root.dict?.value(for: "z")?.dict?.value(for: "name")?.text == "a far text")
      #expect(try root.dict?.value(for: "list")?.array?.value(at: -1)?.text?.count == 20)
      #expect(try root.dict?.value(for: "y")?.text?.utf8.count == 40_000)
    }
  }

  @Test("sorts pairs by number, then by bytes, and keeps equal keys in order", arguments: [7, 60])
  func order(count: Int) throws {
    let keys = Short.keys((0..<20).map { "k\($0)" })
    var encoder = FleeceEncoder(sharedKeys: keys)
    try encoder.beginDict()
    for number in 0..<count {
      switch number % 4 {
      case 0: try encoder.key(shared: (number * 7) % 20)
      case 1: try encoder.key(number % 8 == 1 ? "" : "é")
      case 2: try encoder.key("\(UnicodeScalar(33 + UInt8(number * 11 % 15)))")
      default: try encoder.key("long key, \(number * 13 % 40)")
      }
      try encoder.unsignedInteger(UInt64(number))
    }
    try encoder.endDict()
    let bytes = try encoder.finish()
    guard case .success(.dict(let pairs)) = NaiveReader.read(bytes) else {
      Issue.record("the second reader refuses it")
      return
    }
    #expect(pairs.count == count)
    for (first, second) in zip(pairs, pairs.dropFirst()) where first.key == second.key {
      guard case .signed(let one) = first.value, case .signed(let other) = second.value else {
        throw Missing.error
      }
      #expect(one < other, "\(first.key)")
    }
  }

  @Test("puts copied integers of four bytes into the slots, as the real one does")
  func copies() throws {
    let bytes = try FleeceEncoder.bytes(ofJSON: #"[3000,"abc",1.5,{"a":-3000,"b":[65536]}]"#)
    var encoder = FleeceEncoder()
    try Short.reading(bytes) { (root) throws(FleeceError) in try encoder.copy(root) }
    let copy = try encoder.finish()
    #expect(try Short.json(copy) == Short.json(bytes))
    // The array, its array and the dict have items of four bytes; [65536] has one in one.
    #expect(copy.hex.contains("68011a000001"))
    #expect(copy.hex.contains("7802416100001148f40041620000"))
    // Alone, too.
    try Short.reading(FleeceEncoder.bytes(ofJSON: "[3000]")) { (root) throws(FleeceError) in
      if let item = try root.array?.value(at: 0) { try encoder.copy(item) }
    }
    let alone = try encoder.finish()
    #expect(alone.hex == "19b80b008002")
  }

  @Test("copies between tables of shared keys, and refuses numbers that no table has")
  func copiedKeys() throws {
    var from = FleeceSharedKeys()
    let json = #"{"name":"Ann","list":[{"age":1,"not eligible":2}]}"#
    let bytes = try FleeceEncoder.bytes(ofJSON: json, sharedKeys: &from)
    let keys = from
    try Short.reading(bytes) { (root) throws(FleeceError) in
      var plain = FleeceEncoder()
      try plain.copy(root, keys: keys)
      let texts = try plain.finish()
      #expect(try Short.json(texts) == #"{"list":[{"age":1,"not eligible":2}],"name":"Ann"}"#)
      var other = FleeceEncoder(sharedKeys: Short.keys(["x", "age"]))
      try other.copy(root, keys: keys)
      let table = other.sharedKeys
      #expect(table?.keys == ["x", "age", "name", "list"])
      do throws(FleeceError) {
        try plain.copy(root)
        Issue.record("copied")
      } catch { #expect(error.code == .unknownSharedKey) }
    }
  }

  @Test("is as new after reset, with its table")
  func reset() throws {
    var encoder = FleeceEncoder(sharedKeys: FleeceSharedKeys())
    try encoder.beginDict()
    try encoder.key("first")
    try encoder.text("first")
    encoder.reset()
    try encoder.beginDict()
    try encoder.key("second")
    try encoder.text("first")
    try encoder.endDict()
    let bytes = try encoder.finish()
    #expect(try Short.json(bytes, Short.keys(["first", "second"])) == #"{"second":"first"}"#)
    try encoder.text("first")
    let hex = try encoder.finish { (bytes) throws(FleeceError) in bytes.array.hex }
    #expect(hex == "456669727374" + "8003")
  }

  @Test("refuses nesting beyond its bound")
  func depth() throws {
    let error = Short.error { () throws(FleeceError) in
      var encoder = FleeceEncoder()
      for _ in 0...256 { try encoder.beginArray() }
    }
    #expect(error?.code == .limit)
  }

  @Test("stops who calls in a wrong order")
  func misuse() async {
    await #expect(processExitsWith: .failure) {
      var encoder = FleeceEncoder()
      try encoder.beginDict()
      encoder.null()
    }
    await #expect(processExitsWith: .failure) {
      var encoder = FleeceEncoder()
      try encoder.beginDict()
      try encoder.key("a")
      try encoder.endDict()
    }
    await #expect(processExitsWith: .failure) {
      var encoder = FleeceEncoder()
      try encoder.beginArray()
      try encoder.endDict()
    }
    await #expect(processExitsWith: .failure) {
      var encoder = FleeceEncoder()
      _ = try encoder.finish()
    }
    await #expect(processExitsWith: .failure) {
      var encoder = FleeceEncoder()
      encoder.null()
      encoder.null()
    }
  }
}
