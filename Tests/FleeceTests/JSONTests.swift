// JSONTests.swift: JSON where no golden pair looks: what is refused, and where; numbers; bounds.

import Fleece
import TestFiles
import Testing

@Suite("JSON")
struct JSONTests {
  @Test(
    "that is none is refused with its place",
    arguments: [
      ("", 0, 1, 1), ("1", 0, 1, 1), ("[", 1, 1, 2), ("[1,]", 3, 1, 4), ("[1 2]", 3, 1, 4),
      ("[01]", 2, 1, 3), ("[-]", 2, 1, 3), ("[1.]", 3, 1, 4), ("[1e]", 3, 1, 4), ("[+1]", 1, 1, 2),
      ("[.5]", 1, 1, 2), ("[NaN]", 1, 1, 2), ("[nul]", 1, 1, 2), ("[\"a", 3, 1, 4),
      ("[\n \"é\", x]", 9, 2, 7), ("{1:2}", 1, 1, 2), ("{\"a\"}", 4, 1, 5), ("{\"a\":1,}", 7, 1, 8),
      ("[\"\\x\"]", 3, 1, 4), ("[\"\\u12g4\"]", 6, 1, 7), ("[\"\\ud800\"]", 2, 1, 3),
      ("[\"\\ud800\\u0041\"]", 2, 1, 3), ("[\"\\udc00\"]", 2, 1, 3), ("[\"\t\"]", 2, 1, 3),
      ("[] []", 3, 1, 4), ("[]]", 2, 1, 3), ("[1}", 2, 1, 3), ("{\"a\":1]", 6, 1, 7),
      ("['a']", 1, 1, 2), ("[1,,2]", 3, 1, 4), ("// a\n[]", 0, 1, 1),
    ])
  func refused(text: String, offset: Int, line: Int, column: Int) throws {
    let error = Short.error { () throws(FleeceError) in
      _ = try FleeceEncoder.bytes(ofJSON: text)
    }
    #expect(error?.code == .json, "\(text)")
    #expect(error?.position?.offsetBytes == offset, "\(text): \(String(describing: error))")
    #expect(error?.position?.line == line && error?.position?.column == column, "\(text)")
    #expect(error?.description.hasPrefix("\(line):\(column): json: ") == true)
  }

  @Test("that is none is refused with what was found and what could stand there")
  func words() {
    for (text, message) in [
      ("[01]", "found '1', expected no digit after a leading 0"),
      ("[1", "the text ends; expected , or ]"),
      ("[\u{1}]", "found byte 1, expected a value"), ("{é", "found 'é', expected a key"),
    ] {
      let error = Short.error { () throws(FleeceError) in
        _ = try FleeceEncoder.bytes(ofJSON: text)
      }
      #expect(error?.message == message)
    }
  }

  @Test(
    "with bytes that are no UTF-8 is refused",
    arguments: [
      "ff", "80", "c0af", "c3", "e0809f", "eda080", "f08080af", "f4908080", "e282", "f09f9a",
    ])
  func noUTF8(hex: String) throws {
    let bytes = try Array("[\"aaaaaaaaaaaa".utf8) + #require([UInt8](hex: hex)) + Array("\"]".utf8)
    var encoder = FleeceEncoder()
    do throws(FleeceError) {
      try FleeceBytes.over(bytes) { (view) throws(FleeceError) in try encoder.json(view) }
      Issue.record("\(hex) was taken")
    } catch { #expect(error.code == .json && error.position?.offsetBytes == 14) }
  }

  @Test("keeps every character, escaped or not, wherever it stands in eight bytes")
  func characters() throws {
    for scalar in (0...0x7ff as ClosedRange<UInt32>) {
      guard let character = Unicode.Scalar(scalar) else { continue }
      for before in [0, 5, 9] {
        let text = String(repeating: "a", count: before) + String(character) + "bbbbbbbbb"
        let digits = String(scalar, radix: 16)
        let escape = "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        let json = "[\"" + String(repeating: "a", count: before) + escape + "bbbbbbbbb\"]"
        let bytes = try FleeceEncoder.bytes(ofJSON: json)
        try Short.reading(bytes) { (root) throws(FleeceError) in
          #expect(try root.array?.value(at: 0)?.text == text, "\(scalar)")
        }
        let written = try Short.json(bytes)
        #expect(try FleeceEncoder.bytes(ofJSON: written) == bytes, "\(scalar)")
        let isEscaped = scalar < 32 || scalar == 34 || scalar == 92 || scalar == 127
        #expect(written.contains("\\") == isEscaped, "\(scalar)")
      }
    }
    let pair = try FleeceEncoder.bytes(ofJSON: #"["\uD83D\uDE80\udbff\udfff"]"#)
    #expect(try Short.json(pair) == "[\"🚀\u{10ffff}\"]")
  }

  @Test("has numbers that are the doubles nearest to them")
  func numbers() throws {
    var numbers = SeededNumbers(seed: 34)
    var texts = [
      "0.1e1", "1e22", "1e23", "9007199254740993.0", "9007199254740992e22", "9007199254740993e0",
      "-0.0", "123456789012345678901234567890.5e-20", "4.9e-324", "2.4703282292062327e-324",
      "1.7976931348623157e308", "0.000000000000000000000000000001", "-0e5", "1e-22", "3e-23",
    ]
    for _ in 0..<3000 {
      let digits = String(numbers.next() >> UInt64(numbers.below(60)))
      let point = numbers.below(digits.count + 1)
      let exponent = numbers.below(3) == 0 ? "e\(numbers.below(60) - 30)" : ""
      texts.append(point == 0 ? "0.\(digits)\(exponent)" : "\(digits.prefix(point)).0\(exponent)")
      let double = Double(bitPattern: numbers.next())
      if double.isFinite { texts.append(double.description) }
    }
    for text in texts {
      let bytes = try FleeceEncoder.bytes(ofJSON: "[\(text)]")
      let expected = try #require(Double(text))
      try Short.reading(bytes) { (root) throws(FleeceError) in
        #expect(try root.array?.value(at: 0)?.double?.bitPattern == expected.bitPattern, "\(text)")
      }
      #expect(try Short.json(bytes) == "[\(expected)]", "\(text)")
    }
  }

  @Test("has integers of 64 bits, and doubles beyond them; -0 is 0")
  func integers() throws {
    for (text, written) in [
      ("18446744073709551615", "18446744073709551615"),
      ("18446744073709551616", "1.8446744073709552e+19"),
      ("-9223372036854775808", "-9223372036854775808"),
      ("-9223372036854775809", "-9.223372036854776e+18"), ("-0", "0"), ("-1", "-1"),
      ("100000000000000000000000", "1e+23"), ("99999999999999999999999", "1e+23"),
    ] {
      #expect(try Short.json(FleeceEncoder.bytes(ofJSON: "[\(text)]")) == "[\(written)]")
    }
  }

  @Test("nests as deep as the real library is known to read, and no deeper")
  func depth() {
    for levels in [101, 102, 100_000] {
      let text = String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
      let error = Short.error { () throws(FleeceError) in
        _ = try FleeceEncoder.bytes(ofJSON: text)
      }
      #expect(levels == 101 ? error == nil : error?.code == .limit)
      if levels > 101 { #expect(error?.position?.offsetBytes == 101) }
    }
  }

  @Test("is written in the order of keys' texts when that is asked for")
  func canonical() throws {
    var keys = FleeceSharedKeys()
    let bytes = try FleeceEncoder.bytes(
      ofJSON: #"{"z":1,"a b":{"y":1,"x":2},"b":2,"":3}"#, sharedKeys: &keys)
    let table = keys
    var options = FleeceJSONOptions()
    options.isCanonical = true
    try Short.reading(bytes) { (root) throws(FleeceError) in
      #expect(try root.json(keys: table) == #"{"z":1,"b":2,"":3,"a b":{"y":1,"x":2}}"#)
      let json = try root.json(keys: table, options: options)
      #expect(json == #"{"":3,"a b":{"x":2,"y":1},"b":2,"z":1}"#)
      #expect(try root.jsonBytes(keys: table, options: options) == Array(json.utf8))
    }
    // A key that is there twice stays in order.
    let twice = try FleeceEncoder.bytes(ofJSON: #"{"a":1,"b":2,"a":3,"a":0}"#)
    try Short.reading(twice) { (root) throws(FleeceError) in
      #expect(try root.json(options: options) == #"{"a":1,"a":3,"a":0,"b":2}"#)
    }
  }
}
