// Main.swift: writes a copy of the sources in which many small bugs can be switched on, one at a
// time, and the list of them. run.py builds the copy and runs its tests.
// Usage: mutants TREE COPY LIST SEED COUNT WITHOUT DRAWN KINDS FOLDER…
//   TREE, COPY  two checkouts; files of FOLDER… are read from the first and written into the second
//   LIST        the mutants, as JSON
//   SEED, COUNT which sites are taken, and how many in each folder
//   WITHOUT     numbers, with commas between, of mutants that are not written; `-` for none
//   DRAWN       a file with the mutants that are taken, instead of a draw; `-` for none
//   KINDS       the kinds that are drawn, with commas between; `-` for all

import Foundation
import SwiftOperators
import SwiftParser
import SwiftSyntax

/// A name that no kind of mutant has.
struct UnknownKind: Error, CustomStringConvertible {
  let description: String
}

@main
struct Main {
  static func main() throws {
    let words = CommandLine.arguments
    guard words.count > 9, let seed = UInt64(words[4]), let count = Int(words[5]) else {
      FileHandle.standardError.write(
        Data("usage: mutants TREE COPY LIST SEED COUNT WITHOUT DRAWN KINDS FOLDER…\n".utf8))
      exit(2)
    }
    let without = Set(words[6].split(separator: ",").compactMap { Int($0) })
    let tree = URL(filePath: words[1])
    let keys =
      words[7] == "-"
      ? nil
      : try String(contentsOfFile: words[7], encoding: .utf8).split(separator: "\n")
        .filter { !$0.hasPrefix("#") }.map(String.init)
    let kinds =
      words[8] == "-"
      ? MutantKind.allCases
      : try words[8].split(separator: ",").map { name in
        guard let kind = MutantKind(rawValue: String(name)) else {
          let all = MutantKind.allCases.map(\.rawValue).joined(separator: ", ")
          throw UnknownKind(description: "no kind '\(name)'; there are: \(all)")
        }
        return kind
      }
    var number = 0
    var mutants: [Mutant] = []
    for (index, folder) in words[9...].enumerated() {
      var generator = SeededGenerator(seed: seed &+ UInt64(index) &* 0x1_0000_0001)
      var places: [Place] = []
      for file in try swiftFiles(in: folder, of: tree) {
        let text = try String(contentsOf: tree.appending(path: file), encoding: .utf8)
        places += candidates(in: text, file: file).filter { kinds.contains($0.kind) }
          .map { Place(file: file, candidate: $0) }
      }
      print("\(folder): \(places.count) possible")
      let taken =
        keys.map { standing($0, among: places) }
        ?? draw(count, from: places, using: &generator)
      let drawn =
        taken
        .sorted {
          ($0.file, $0.candidate.span.lowerBound) < ($1.file, $1.candidate.span.lowerBound)
        }
      var numbered: [(place: Place, number: Int)] = []
      for place in drawn {
        number += 1
        numbered.append((place, number))
      }
      for (file, places) in Dictionary(grouping: numbered, by: \.place.file)
        .sorted(by: { $0.key < $1.key })
      {
        // A file whose mutants are all left out is written, too: the copy may have them.
        let kept = places.filter { !without.contains($0.number) }
        mutants += try write(kept, of: file, folder: folder, from: tree, to: words[2])
      }
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    try encoder.encode(mutants).write(to: URL(filePath: words[3]))
    print("\(mutants.count) mutants")
  }

  private static func swiftFiles(in folder: String, of tree: URL) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: tree.appending(path: folder).path)
      .filter { $0.hasSuffix(".swift") }.sorted().map { "\(folder)/\($0)" }
  }

  private static func candidates(in text: String, file: String) -> [Candidate] {
    let parsed = Parser.parse(source: text)
    let folded = OperatorTable.standardOperators.foldAll(parsed, errorHandler: { _ in })
    let finder = SiteFinder(file: file, tree: folded)
    finder.walk(folded)
    return finder.candidates
  }

  /// Writes one file with its switches, and says on which lines they came to stand.
  private static func write(
    _ places: [(place: Place, number: Int)], of file: String, folder: String, from tree: URL,
    to copy: String
  ) throws -> [Mutant] {
    let bytes = try Data(contentsOf: tree.appending(path: file))
    var written: [UInt8] = []
    var line = 1
    var position = 0
    var mutants: [Mutant] = []
    func append(_ more: some Sequence<UInt8>) {
      for byte in more {
        written.append(byte)
        if byte == 10 { line += 1 }
      }
    }
    for (place, number) in places {
      let candidate = place.candidate
      append(bytes[position..<candidate.span.lowerBound])
      let first = line
      append(candidate.replacement("mutantIsOn(\(number))").utf8)
      position = candidate.span.upperBound
      mutants.append(
        Mutant(
          number: number, folder: folder, file: file, line: candidate.line,
          function: candidate.function, kind: candidate.kind, before: candidate.before,
          after: candidate.after, written: [first, line]))
    }
    append(bytes[position...])
    if !String(decoding: bytes, as: UTF8.self).contains("\nimport CSystem") {
      append("\nimport CSystem\n".utf8)
    }
    // A file that is the same keeps its time, and is not built again.
    let target = URL(filePath: copy).appending(path: file)
    if (try? Data(contentsOf: target)) != Data(written) { try Data(written).write(to: target) }
    return mutants
  }
}
