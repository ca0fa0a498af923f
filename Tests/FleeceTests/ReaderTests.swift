// ReaderTests.swift: values read where they lie, from bytes written by hand.

import Fleece
import Testing

@Suite("The reader")
struct ReaderTests {
  @Test(
    "reads every form of an integer",
    arguments: [
      ("07ff", 2047), ("0800", -2048), ("0fff", -1), ("10058001", 5), ("10ff8001", -1),
      ("18ff8001", 255), ("11fff7008002", -2049), ("13000000800080 03", -2_147_483_648),
      ("17000000000000008000 8005", Int64.min),
    ])
  func integers(hex: String, number: Int64) throws {
    let bytes = try #require([UInt8](hex: hex.filter { $0 != " " }))
    try Short.reading(bytes) { (root) throws(FleeceError) in
      #expect(root.kind == .integer && root.integer == number)
      #expect(root.unsignedInteger == UInt64(exactly: number))
      #expect(root.double == Double(number))
      #expect(root.text == nil && root.boolean == nil && root.array == nil && root.dict == nil)
    }
  }

  @Test("keeps integers above 2⁶³ and says which have no sign")
  func large() throws {
    let bytes = try Short.bytes { (encoder) throws(FleeceError) in
      try encoder.unsignedInteger(.max)
    }
    try Short.reading(bytes) { (root) throws(FleeceError) in
      #expect(root.integer == nil && root.unsignedInteger == .max && root.isUnsigned)
      #expect(root.double == 18_446_744_073_709_551_616)
    }
  }

  @Test("tells floats, short doubles and doubles apart")
  func reals() throws {
    for (hex, isDouble, value) in [
      ("20000000c03f8003", false, 1.5), ("24000000c03f8003", true, 1.5),
      ("28009a9999999999b93f8005", true, 0.1),
    ] {
      let bytes = try #require([UInt8](hex: hex))
      try Short.reading(bytes) { (root) throws(FleeceError) in
        #expect(root.kind == .real && root.isDouble == isDouble && root.double == value)
        #expect(root.integer == nil)
      }
    }
  }

  @Test("finds items by index from either end, and pairs by either kind of key")
  func collections() throws {
    var keys = FleeceSharedKeys()
    let json = #"{"name":"Ann","list":[10,20,30],"not eligible":{"é":null},"z z":1}"#
    let bytes = try FleeceEncoder.bytes(ofJSON: json, sharedKeys: &keys)
    #expect(keys.keys == ["name", "list"])
    let table = keys
    try Short.reading(bytes) { (root) throws(FleeceError) in
      guard let dict = root.dict else { throw Missing.error }
      #expect(dict.count == 4)
      #expect(try dict.value(for: "name", in: table)?.text == "Ann")
      #expect(try dict.value(for: "name") == nil, "a number is not text")
      #expect(try dict.value(forShared: 1)?.array?.value(at: -1)?.integer == 30)
      #expect(try dict.value(for: "list", in: table)?.array?.value(at: 3) == nil)
      #expect(try dict.value(for: "list", in: table)?.array?.value(at: -4) == nil)
      #expect(try dict.value(for: "not eligible", in: table)?.dict?.value(for: "é")?.kind == .null)
      #expect(try dict.value(for: "z z", in: table)?.integer == 1)
      #expect(try dict.value(for: "z", in: table) == nil)
      #expect(try dict.value(forShared: 2) == nil)
      guard case .shared(1) = try dict.key(at: 1), case .text(let text) = try dict.key(at: 2)
      else { throw Missing.error }
      #expect(text.text == "not eligible" && text[0] == UInt8(ascii: "n"))
    }
  }

  @Test("finds every key of a large dict, in wide items and in narrow ones", arguments: [9, 900])
  func lookup(size: Int) throws {
    let text = String(repeating: "v", count: size)
    let bytes = try Short.bytes { (encoder) throws(FleeceError) in
      try encoder.beginDict()
      for number in 0..<100 {
        try encoder.key("key \(number * 7 % 100)")
        try encoder.text("\(text)\(number)")
      }
      try encoder.endDict()
    }
    try Short.reading(bytes) { (root) throws(FleeceError) in
      for number in 0..<100 {
        let value = try root.dict?.value(for: "key \(number * 7 % 100)")
        #expect(value?.text == "\(text)\(number)")
      }
      #expect(try root.dict?.value(for: "key 100") == nil)
    }
  }

  @Test("follows extern pointers into what lies before, and others not")
  func externPointers() throws {
    let base = try FleeceEncoder.bytes(ofJSON: #"["first","second"]"#)
    // Behind it: an array whose item is the text at offset 0, 18 bytes and 2 of a header earlier.
    let size = base.count
    func behind(_ pointer: Int) -> [UInt8] {
      base + [0x60, 0x01, UInt8(pointer >> 8), UInt8(pointer & 255), 0x80, 0x02]
    }
    let distance = (size + 2) / 2
    try FleeceBytes.over(behind(0xc000 | distance)) { (view) throws(FleeceError) in
      let root = try FleeceValue.root(of: view, baseSizeBytes: size)
      try root.validate()
      #expect(try root.array?.value(at: 0)?.text == "first")
      #expect(root.documentSizeBytes == size + 6)
    }
    try FleeceBytes.over(behind(0x8000 | distance)) { (view) throws(FleeceError) in
      let root = try FleeceValue.root(of: view, baseSizeBytes: size)
      #expect(Short.error { () throws(FleeceError) in _ = try root.array?.value(at: 0) } != nil)
      #expect(Short.error { () throws(FleeceError) in try root.validate() }?.code == .damaged)
    }
  }

  @Test("takes bit 14 of a pointer for distance where no extern value is")
  func longPointers() throws {
    // The text "far" lies 0x8000 bytes before its pointer.
    let far: [UInt8] = [0x43] + Array("far".utf8)
    let bytes =
      far + [UInt8](repeating: 0, count: 0x8000 - 4 - 2) + [0x60, 0x01, 0xc0, 0x00, 0x80, 0x02]
    try Short.reading(bytes) { (root) throws(FleeceError) in
      #expect(try root.array?.value(at: 0)?.text == "far")
      try root.validate()
    }
    // A pointer of four bytes has bits enough.
    let wide = Array(bytes.dropLast(6)) + [0x68, 0x01, 0xc0, 0x00, 0x00, 0x00, 0x80, 0x03]
    try Short.reading(wide) { (root) throws(FleeceError) in
      #expect(Short.error { () throws(FleeceError) in _ = try root.array?.value(at: 0) } != nil)
    }
  }

  @Test("takes a pointer of four bytes to the outermost value only where there is room for it")
  func roomForRoot() throws {
    // The last four bytes, read as one pointer, would lead to the start.
    let bytes = [0x30, 0x00] + [UInt8](repeating: 0, count: 65536) + [0x80, 0x00, 0x80, 0x01]
    let error = Short.error { () throws(FleeceError) in _ = try FleeceDocument(bytes) }
    #expect(error?.code == .damaged && error?.offsetBytes == 65538)
  }

  @Test("takes a text that is not UTF-8, and lends its bytes")
  func noUTF8() throws {
    try Short.reading([0x42, 0xff, 0x61, 0, 0x80, 0x02]) { (root) throws(FleeceError) in
      try root.validate()
      #expect(root.text == "\u{fffd}a" && root.textBytes?.array == [0xff, 0x61])
      #expect(try root.json() == "\"\u{fffd}a\"")
    }
  }
}

/// Something is missing that a test needs.
enum Missing {
  static var error: FleeceError {
    Short.error { () throws(FleeceError) in _ = try FleeceDocument([]) }
      ?? { preconditionFailure("no bytes are no document") }()
  }
}
