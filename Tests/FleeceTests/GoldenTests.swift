// GoldenTests.swift: pairs of JSON and Fleece that the real library wrote, and bodies of documents
// in files that it made, both ways: byte by byte, and letter by letter.

import Fleece
import Testing

@Suite("What the real library wrote")
struct GoldenTests {
  private static func json(_ bytes: [UInt8], _ keys: FleeceSharedKeys = .init()) throws -> String {
    let document = try FleeceDocument(validating: bytes)
    return try document.withRoot { (root) throws(FleeceError) in try root.json(keys: keys) }
  }

  @Test(
    "is read as the same JSON, and JSON is written as the same bytes",
    arguments: ["fleece.tsv", "fleece-large.tsv.gz"])
  func pairs(name: String) throws {
    let rows = try GoldenFile.rows(name)
    #expect(rows.count == (name == "fleece.tsv" ? 225 : 14))
    var (keys, kinds) = (FleeceSharedKeys(), [String: Int]())
    for row in rows {
      try #require(row.count == 5)
      let (how, input, hex, text) = (row[1], row[2], row[3], row[4])
      kinds[how, default: 0] += 1
      guard hex != "!" else {
        #expect(throws: FleeceError.self, "\(row[0])") { try FleeceEncoder.bytes(ofJSON: input) }
        continue
      }
      let bytes = try #require([UInt8](hex: hex), "\(row[0])")
      switch how {
      case "json": #expect(try FleeceEncoder.bytes(ofJSON: input).hex == hex, "\(row[0])")
      case "root": #expect(try Self.scalar(input).hex == hex, "\(row[0])")
      case "api": #expect(try EncoderCall(row[0], input).bytes().hex == hex, "\(row[0])")
      case "json+sharedkeys":
        let written = try FleeceEncoder.bytes(ofJSON: input, sharedKeys: &keys)
        #expect(written.hex == hex, "\(row[0])")
      default:
        #expect(how == "SharedKeys.stateData")
        #expect(try keys.encoded().hex == hex)
        #expect(try FleeceSharedKeys(reading: bytes) == keys)
      }
      #expect(try Self.json(bytes, keys) == text, "\(row[0])")
    }
    if name == "fleece.tsv" {
      #expect(
        kinds == [
          "json": 104, "root": 78, "api": 38, "json+sharedkeys": 4,
          "SharedKeys.stateData": 1,
        ])
    }
  }

  /// A scalar as an encoder writes it alone: the item of an array, copied out.
  private static func scalar(_ json: String) throws -> [UInt8] {
    var encoder = FleeceEncoder()
    if json.hasPrefix("\"") {
      let text = try FleeceDocument(FleeceEncoder.bytes(ofJSON: "[\(json)]")).withRoot {
        (root) throws(FleeceError) in try root.array?.value(at: 0)?.text
      }
      try encoder.text(#require(text))
    } else if json == "null" {
      encoder.null()
    } else if let flag = Bool(json) {
      encoder.boolean(flag)
    } else if let number = UInt64(json) {
      try encoder.unsignedInteger(number)
    } else if let number = Int64(json) {
      try encoder.integer(number)
    } else {
      try encoder.double(#require(Double(json)))
    }
    return try encoder.finish()
  }

  @Test("in bodies of documents is read as the notes say, and written again as it was")
  func bodies() throws {
    let rows = try GoldenFile.rows("bodies.tsv.gz")
    var (keys, counts) = (FleeceSharedKeys(), [String: Int]())
    for row in rows {
      try #require(row.count == 5)
      let (place, hex, json) = ("\(row[0]) \(row[1])", row[2], row[3])
      let given = row[4].isEmpty ? json : row[4]
      let bytes = try #require([UInt8](hex: hex))
      guard row[1] != "SharedKeys" else {
        keys = bytes.isEmpty ? FleeceSharedKeys() : try FleeceSharedKeys(reading: bytes)
        if !bytes.isEmpty { #expect(try keys.encoded().hex == hex, "\(place)") }
        continue
      }
      counts[row[0], default: 0] += 1
      #expect(try Self.json(bytes, keys) == json, "\(place)")
      var grown = keys
      #expect(try FleeceEncoder.bytes(ofJSON: given, sharedKeys: &grown).hex == hex, "\(place)")
      #expect(grown == keys, "\(place): keys were added")
    }
    #expect(counts.values.reduce(0, +) == 745 && counts.count == 12, "\(counts)")
  }
}

/// A call of the encoder, as the golden file names it.
private struct EncoderCall {
  let name: String
  let text: String

  init(_ name: String, _ text: String) {
    self.name = name
    self.text = text
  }

  func bytes() throws -> [UInt8] {
    var encoder = FleeceEncoder()
    let word = text.prefix { $0 != "(" }
    let argument = String(text.dropFirst(word.count + 1).dropLast())
    switch word {
    case "writeInt": try encoder.integer(#require(Int64(argument)))
    case "writeFloat":
      try encoder.float(#require(Float(argument.filter { $0 != "f" })))
    case "writeDouble": try encoder.double(#require(Double(argument)))
    case "writeUndefined": encoder.undefined()
    case "writeData":
      let count = try #require(Int(argument.prefix { $0 != " " }))
      try encoder.data((0..<count).map { UInt8(truncatingIfNeeded: $0) })
    default:
      try #require(name == "array_of_data")
      try encoder.beginArray()
      for _ in 0..<2 { try encoder.data([1, 2]) }
      try encoder.endArray()
    }
    return try encoder.finish()
  }
}
