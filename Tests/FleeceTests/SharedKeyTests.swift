// SharedKeyTests.swift: the table of shared keys: what may go in, how it is cut, and how it is
// kept.

import Fleece
import TestFiles
import Testing

@Suite("Shared keys")
struct SharedKeyTests {
  @Test(
    "are letters, digits, _ and -, 16 bytes at most",
    arguments: [
      ("", true), ("a", true), ("A-Z_09", true), ("0123456789abcdef", true),
      ("0123456789abcdefg", false), ("a b", false), ("é", false), ("a.b", false), ("@type", false),
      ("[", false), ("`", false), ("{", false), ("/", false), (":", false), ("\u{0}", false),
    ])
  func eligible(key: String, isEligible: Bool) {
    var keys = FleeceSharedKeys()
    #expect(keys.numberAdding(key) == (isEligible ? 0 : nil))
    #expect(keys.count == (isEligible ? 1 : 0))
    #expect(keys.number(of: key) == (isEligible ? 0 : nil))
  }

  @Test("are 2048 at most; one that is there keeps its number")
  func full() throws {
    var keys = FleeceSharedKeys()
    for number in 0..<2048 { #expect(keys.numberAdding("k\(number)") == number) }
    #expect(keys.numberAdding("more") == nil && keys.count == 2048)
    for number in 0..<2048 {
      #expect(keys.numberAdding("k\(number)") == number && keys.key(of: number) == "k\(number)")
    }
    #expect(keys.key(of: 2048) == nil && keys.key(of: -1) == nil)
    #expect(try FleeceSharedKeys(reading: keys.encoded()) == keys)
    var encoder = FleeceEncoder(sharedKeys: keys)
    try encoder.beginDict()
    for key in ["more", "k2047"] {
      try encoder.key(key)
      encoder.null()
    }
    try encoder.endDict()
    let bytes = try encoder.finish()
    #expect(bytes.hex == "446d6f726500700207ff300080063000" + "8005")
  }

  @Test("that a transaction added are gone when it is rolled back, and their numbers are free")
  func rollback() throws {
    var keys = Short.keys(["a", "b"])
    let before = keys
    var numbers = SeededNumbers(seed: 7)
    for _ in 0..<200 {
      let kept = keys
      for _ in 0..<numbers.below(40) { _ = keys.numberAdding("k\(numbers.below(300))") }
      let added = keys.keys.dropFirst(kept.count)
      if numbers.below(3) > 0 {
        keys.removeAll(from: kept.count)
        #expect(keys == kept && keys.hashValue == kept.hashValue)
        for key in added { #expect(keys.number(of: key) == nil) }
      }
      for (number, key) in keys.keys.enumerated() { #expect(keys.number(of: key) == number) }
    }
    keys.removeAll(from: 2)
    #expect(keys == before && keys != Short.keys(["b", "a"]))
    // A key cached across a rollback once returned another property's value.
    let first = try FleeceEncoder.bytes(ofJSON: #"{"x":1}"#, sharedKeys: &keys)
    keys.removeAll(from: 2)
    let second = try FleeceEncoder.bytes(ofJSON: #"{"y":2}"#, sharedKeys: &keys)
    #expect(first.hex == "7001000200018003" && second.hex == "7001000200028003")
    let table = keys
    try Short.reading(second) { (root) throws(FleeceError) in
      #expect(try root.dict?.value(for: "x", in: table) == nil)
      #expect(try root.dict?.value(for: "y", in: table)?.integer == 2)
    }
  }

  @Test("stay as they were when a text is not JSON")
  func failedText() {
    var keys = Short.keys(["a"])
    let error = Short.error { () throws(FleeceError) in
      _ = try FleeceEncoder.bytes(ofJSON: #"{"b":1,}"#, sharedKeys: &keys)
    }
    #expect(error?.code == .json && keys == Short.keys(["a"]))
  }

  @Test(
    "are refused as a table of something else",
    arguments: ["{}", "[1]", #"["a","b","a"]"#, "[[]]", "3000"])
  func noTable(json: String) throws {
    let bytes =
      json == "3000" ? [0x30, 0x00] as [UInt8] : try FleeceEncoder.bytes(ofJSON: json)
    let error = Short.error { () throws(FleeceError) in
      _ = try FleeceSharedKeys(reading: bytes)
    }
    #expect(error?.code == .sharedKeys)
  }

  @Test("of too many, or of none, are a table or not")
  func sizes() throws {
    #expect(try FleeceSharedKeys(reading: FleeceSharedKeys().encoded()).count == 0)
    let many = "[" + (0...2048).map { "\"k\($0)\"" }.joined(separator: ",") + "]"
    let bytes = try FleeceEncoder.bytes(ofJSON: many)
    let error = Short.error { () throws(FleeceError) in
      _ = try FleeceSharedKeys(reading: bytes)
    }
    #expect(error?.code == .sharedKeys)
  }

  @Test("that a table does not have are an error with that name")
  func unknown() throws {
    let bytes = try #require([UInt8](hex: "7001000500018003"))
    let error = Short.error { () throws(FleeceError) in _ = try Short.json(bytes) }
    #expect(error?.code == .unknownSharedKey && error?.message == "5 of 0 shared keys")
  }
}
