// TokenizerTests.swift: the tokenizer's words, beside those of the real library.

import Foundation
import Requirements
import TestFiles
import Testing

@testable import DocumentStore

@Suite("The tokenizer unicodesn")
struct TokenizerTests {
  /// A word as SQLite's table `fts3tokenize` has it.
  private struct Token: Equatable {
    var text: String
    var places: [Int64]
  }

  private func tokens(
    _ text: String, options: [String], on connection: Connection
  ) throws -> [Token] {
    let arguments = (["unicodesn"] + options).map(literal).joined(separator: ", ")
    try connection.execute(
      "DROP TABLE IF EXISTS temp.words; "
        + "CREATE VIRTUAL TABLE temp.words USING fts3tokenize(\(arguments))")
    let statement = try connection.statement(
      "SELECT token, start, \"end\", position FROM temp.words WHERE input = ?")
    defer { statement.reset() }
    try statement.bind(text, at: 1)
    var tokens: [Token] = []
    while try statement.step() {
      tokens.append(Token(text: statement.text(0), places: (1...3).map { statement.int64($0) }))
    }
    return tokens
  }

  @Test(
    "finds the real library's words, offsets and positions in 240 texts", .requires(.stemmer))
  func golden() throws {
    let path = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "Golden/fts-tokens.tsv")
    let lines = try String(contentsOf: path, encoding: .utf8).split(separator: "\n").dropFirst()
    #expect(lines.count == 240)
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try file.writer.run { () throws in
      for line in lines {
        let fields = try line.split(separator: "\t", omittingEmptySubsequences: false).map {
          try JSONSerialization.jsonObject(with: Data($0.utf8), options: .fragmentsAllowed)
        }
        let options = try #require(fields[0] as? [String])
        let text = try #require(fields[1] as? String)
        let expected = try #require(fields[2] as? [[Any]]).map { row in
          Token(
            text: try #require(row[0] as? String),
            places: try row[1...].map { try #require($0 as? NSNumber).int64Value })
        }
        let found = try tokens(text, options: options, on: file.writer)
        #expect(found == expected, "\(options) \(text)")
      }
    }
    try file.close()
  }

  @Test("keeps a stop word that a star follows, and drops it elsewhere")
  func stars() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try file.writer.run { () throws in
      for options in [["stopwords=en"], ["stopwordlist=  the   of "]] {
        let found = try tokens("the the* of", options: options, on: file.writer)
        #expect(found == [Token(text: "the", places: [4, 7, 0])])
      }
    }
    try file.close()
  }

  @Test("refuses options that nobody has, and takes languages without stop words")
  func options() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try file.writer.run { () throws in
      for bad in ["stemmer=xx", "stemmer=", "nonsense=1", "remove_diacritics=x"] {
        #expect(code { _ = try tokens("a", options: [bad], on: file.writer) } == .sqlite, "\(bad)")
      }
      let many = (0..<40).map { "tokenchars=\($0)" }
      #expect(code { _ = try tokens("a", options: many, on: file.writer) } == .sqlite)
      let german = try tokens("der", options: ["stopwords=de"], on: file.writer)
      #expect(german.map(\.text) == ["der"])
      let joined = try tokens("a-b c", options: ["tokenchars=-"], on: file.writer)
      #expect(joined.map(\.text) == ["a-b", "c"])
    }
    try file.close()
  }

  @Test("takes bytes that are no text", .requires(.stemmer), arguments: [0, 1, 2, 3])
  func hostile(seed: UInt64) throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try file.writer.run { () throws in
      var numbers = SeededNumbers(seed: seed)
      for _ in 0..<200 {
        let bytes = (0..<numbers.below(60)).map { _ in UInt8(truncatingIfNeeded: numbers.next()) }
        let text = String(decoding: bytes, as: UTF8.self)
        let found = try tokens(text, options: ["stemmer=en", "stopwords=fr"], on: file.writer)
        for token in found {
          #expect(token.places[0] < token.places[1] && token.places[1] <= text.utf8.count)
        }
      }
    }
    try file.close()
  }
}
