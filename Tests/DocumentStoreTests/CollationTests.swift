// CollationTests.swift: texts sorted and compared by collations, as the real library does it.

import DocumentStore
import Foundation
import Testing

@Suite("Collations")
struct CollationTests {
  @Test("texts have the real library's order, and are equal where it finds them equal")
  func orders() throws {
    let url = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "Golden/collation.tsv")
    let lines = try String(contentsOf: url, encoding: .utf8).split(separator: "\n").dropFirst()
    #expect(lines.count == 9)
    let folder = try TemporaryFolder()
    let file = try folder.make()
    let texts = try Self.texts(try #require(lines.first).split(separator: "\t")[1])
    try file.write { transaction in
      let store = try transaction.collection()
      for (index, text) in texts.enumerated() {
        let json = try JSONSerialization.data(withJSONObject: ["t": text, "i": index])
        var record = Record(
          key: "d\(index)",
          body: try transaction.encode(json: String(decoding: json, as: UTF8.self)))
        try store.set(&record)
      }
    }
    for line in lines {
      let fields = line.split(separator: "\t").map(String.init)
      let options = Self.options(fields[0])
      // In Danish "aa" is å, but not among texts of ASCII: there is no order of all three.
      let isLeftOut = fields[0].hasSuffix("da") ? "aa" : "-"
      let expected = try Self.texts(fields[1][...]).filter { $0 != isLeftOut }
      let sorted = try file.read {
        try $0.run(
          StoreQuery(
            #"{"WHAT":[[".t"]],"WHERE":["!=",[".t"],["$t"]],"#
              + #""ORDER_BY":[["COLLATE",\#(options),[".t"]],[".i"]]}"#),
          ["t": .text(isLeftOut)])
      }
      let found = sorted.rows.compactMap { row -> String? in
        if case .text(let text) = row[0] { text } else { nil }
      }
      try Self.check(found, expected, fields, options, file)
    }
    try file.close()
  }

  /// Equal texts may stand in another order: the real list keeps the order of its input.
  private static func check(
    _ found: [String], _ expected: [String], _ fields: [String], _ options: String,
    _ file: DataFile
  ) throws {
    let pairs = try #require(
      JSONSerialization.jsonObject(with: Data(fields[2].utf8)) as? [[String]])
    let equal = Set(pairs.map { Set($0.map { Array($0.unicodeScalars) }) })
    let query = StoreQuery(
      #"{"FROM":[{"AS":"a"},{"AS":"b","ON":["COLLATE",\#(options),["=",[".a.t"],[".b.t"]]]}],"#
        + #""WHAT":[[".a.t"],[".b.t"]],"WHERE":["!=",[".a.i"],[".b.i"]]}"#)
    let rows = try file.read { try $0.run(query).rows }
    let met = Set(
      rows.map { row in
        Set(
          row.compactMap { value -> [Unicode.Scalar]? in
            if case .text(let text) = value { Array(text.unicodeScalars) } else { nil }
          })
      })
    // With case and without marks, the real library finds a capital letter unlike itself with a
    // mark, which ICU does not: these are not compared.
    let odd: Set<[Unicode.Scalar]> = fields[0] == "LCUnicode__D_" ? [["A"], ["a", "\u{301}"]] : []
    let differing = met.symmetricDifference(equal).filter { $0.isDisjoint(with: odd) }
    #expect(differing.map { $0.map { String(String.UnicodeScalarView($0)) } } == [], "\(fields[0])")
    // By place: the same text, or one that is equal to it.
    #expect(found.count == expected.count)
    for (one, other) in zip(found, expected) {
      let scalars = Set([Array(one.unicodeScalars), Array(other.unicodeScalars)])
      #expect(
        scalars.count == 1 || !scalars.isDisjoint(with: odd) || equal.contains(scalars),
        "\(fields[0]): \(one), \(other)")
    }
  }

  private static func texts(_ json: Substring) throws -> [String] {
    try #require(JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String])
  }

  private static func options(_ name: String) -> String {
    guard name.hasPrefix("LCUnicode_") else {
      return name == "BINARY" ? "{}" : #"{"CASE":false}"#
    }
    let letters = Array(name.dropFirst(10))
    let locale = String(letters[3...])
    return #"{"UNICODE":true,"CASE":\#(letters[0] == "_"),"DIAC":\#(letters[1] == "_"),"#
      + #""LOCALE":\#(locale.isEmpty ? "null" : "\"\(locale)\"")}"#
  }
}
