// ScenarioParser+Media.swift: parses the possible faults of a medium in the database at rest, and
// the fault budget.

import CrashStates
import Exploration
import Workload

extension ScenarioParser {
  func readMedia(_ node: ScenarioNode) -> MediaDeclaration? {
    guard let fields = reader.fields(node, .media) else { return nil }
    var media = MediaDeclaration()
    media.fileGlob = DatabaseFile.name
    if let faults = fields["faults"] {
      let words = MediumFault.Kind.allCases.map(\.rawValue)
      let chosen = reader.oneOrMore(faults, of: "faults").compactMap { item in
        reader.word(item, "fault of a medium", of: words)
      }
      media.kinds = MediumFault.Kind.allCases.filter { chosen.contains($0.rawValue) }
    }
    if let files = fields["files"] {
      media.fileGlob = reader.text(files, "a glob") ?? media.fileGlob
    }
    media.place = fields["at"].flatMap { readMediaPlace($0) }
    if let bytes = fields["sectorBytes"] {
      let word = reader.word(bytes, "size of a sector", of: GrammarWords.sectorSizes)
      media.sectorBytes = word.flatMap { Int($0) } ?? media.sectorBytes
    }
    if let moment = fields["when"] {
      let words = MediaMoment.allCases.map(\.rawValue)
      media.moment =
        reader.word(moment, "moment of rest", of: words).flatMap { MediaMoment(rawValue: $0) }
        ?? .end
    }
    if let each = fields["each"] {
      media.each = reader.integer(each, "a number of faults", in: 1...2).map { Int($0) } ?? 1
    }
    media.survives = readParts(fields["survives"], .survives, "a number of damaged sectors")
    media.mayGoBack = readParts(fields["mayGoBack"], .mayGoBack, "a number of versions")
    if let budget = fields["budget"],
      let parts = reader.fields(budget, .budget, required: ["states"]), let states = parts["states"]
    {
      let count = reader.integer(
        states, "a number of states", in: 1...Int64(MediaDeclaration.budgetMax))
      media.budgetStates = count.map { Int($0) } ?? media.budgetStates
    }
    return media
  }

  private func readMediaPlace(_ node: ScenarioNode) -> MediaPlace? {
    guard let fields = reader.fields(node, .mediaPlace) else { return nil }
    if let structure = fields["structure"] {
      for key in ["offset", "length"] where fields[key] != nil {
        reader.report(
          fields.keyPosition(key) ?? node.position, "'\(key)' does not go with 'structure'",
          "write either structure, or offset and length")
      }
      let words = FileStructure.allCases.map(\.rawValue)
      let parts = reader.oneOrMore(structure, of: "parts of the file").compactMap {
        reader.word($0, "part of the file", of: words).flatMap { FileStructure(rawValue: $0) }
      }
      return parts.isEmpty ? nil : .parts(parts)
    }
    guard let length = fields["length"] else {
      reader.report(
        node.position, "a place lacks 'structure', or 'offset' and 'length'",
        "write as in {structure: slots} or {offset: 4096, length: 8192}")
      return nil
    }
    let offset = fields["offset"].flatMap {
      reader.integer($0, "an offset in bytes", in: 0...ScenarioBounds.mediaBytes)
    }
    let count = reader.integer(length, "a number of bytes", in: 1...ScenarioBounds.mediaBytes)
    guard let count, fields["offset"] == nil || offset != nil else { return nil }
    return .bytes(offset: UInt64(offset ?? 0), length: UInt64(count))
  }

  /// Numbers for parts of the file.
  private func readParts(
    _ node: ScenarioNode?, _ object: GrammarObject, _ what: String
  ) -> [FileStructure: Int] {
    guard let node, let fields = reader.fields(node, object) else { return [:] }
    var numbers: [FileStructure: Int] = [:]
    for part in FileStructure.allCases {
      guard let value = fields[part.rawValue] else { continue }
      numbers[part] = reader.integer(value, what, in: 1...1_000_000).map { Int($0) }
    }
    return numbers
  }
}
