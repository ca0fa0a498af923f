// LayerTests.swift: the lab's layers, as Package.swift declares them, are those of
// docs/explanation/architecture.md, and each imports only layers below its own.

import Foundation
import Testing

@Suite("The lab's layers")
struct LayerTests {
  /// A target of the lab, with what it depends on of ours.
  private struct Layer: Equatable {
    let name: String
    let imports: Set<String>
  }

  /// Targets of ours that are no layer and that a layer may use.
  private static let below: Set<String> = engine.union(bottom)
  /// What lies below all layers, and is in no table.
  private static let bottom: Set<String> = [
    "CSystem", "CPrivileges", "CFuse", "CSQLitePoints", "Cryptography",
  ]
  /// Those that only layers behind the first six may use.
  private static let engine: Set<String> = [
    "Engine", "ObjectDatabase", "Query", "QueryReference", "DocumentStore", "Fleece",
    "FleeceReference", "SyncCore", "SyncClient", "SyncServer",
  ]

  @Test("stand in Package.swift in one order, and use only what stands before them")
  func order() throws {
    let layers = try Self.declared()
    #expect(layers.count == 14)
    #expect(Self.breaches(of: layers) == [])
  }

  @Test("that use one above them are noticed")
  func plantedBreach() throws {
    var layers = try Self.declared()
    layers[2] = Layer(name: layers[2].name, imports: layers[2].imports.union(["Engine"]))
    #expect(Self.breaches(of: layers) == ["FaultFS uses Engine, and the engine is not for it"])
    layers[2] = Layer(name: layers[2].name, imports: ["Findings"])
    #expect(Self.breaches(of: layers) == ["FaultFS uses Findings, which is not below it"])
  }

  @Test("are those of docs/explanation/architecture.md, with the same arrows")
  func documented() throws {
    let layers = try Self.declared()
    let text = try Self.text("docs/explanation/architecture.md")
    var rows: [Layer] = []
    for line in text.split(separator: "\n") where line.hasPrefix("| `") {
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count == 3, let name = cells.first?.split(separator: "`").first,
        layers.contains(where: { $0.name == name })
      else { continue }
      let imports = cells[2].split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
      rows.append(Layer(name: String(name), imports: Set(imports).subtracting(["–"])))
    }
    #expect(rows.map(\.name) == layers.map(\.name))
    for (row, layer) in zip(rows, layers) {
      let named = layer.imports.subtracting(Self.bottom)
      #expect(row.imports == named, "\(layer.name): \(named.sorted().joined(separator: ", "))")
    }
  }

  /// What stands against the order, in words.
  private static func breaches(of layers: [Layer]) -> [String] {
    var found: [String] = []
    var seen = below
    for (place, layer) in layers.enumerated() {
      for name in layer.imports.subtracting(seen).sorted() {
        found.append("\(layer.name) uses \(name), which is not below it")
      }
      // Exploration is the sixth.
      for name in layer.imports.intersection(engine).sorted() where place < 6 {
        found.append("\(layer.name) uses \(name), and the engine is not for it")
      }
      seen.insert(layer.name)
    }
    return found
  }

  private static func text(_ path: String) throws -> String {
    try String(contentsOf: SourceTree.root.appending(path: path), encoding: .utf8)
  }

  /// The targets below Sources/CrashSim in the order of the manifest.
  private static func declared() throws -> [Layer] {
    let targets = try text("Package.swift").components(separatedBy: ".target(").dropFirst()
    var layers: [Layer] = []
    for target in targets {
      let body = target.components(separatedBy: "swiftSettings")[0]
      guard body.contains("path: \"Sources/CrashSim/"),
        let list = body.firstMatch(of: /dependencies: \[(.*?)\],\s+path/.dotMatchesNewlines())
      else { continue }
      let name = try #require(body.firstMatch(of: /name: "(\w+)"/))
      let plain = list.1.replacing(/\.product\([^)]*\)/, with: "")
      let imports = plain.matches(of: /"(\w+)"/).map { String($0.1) }
      layers.append(Layer(name: String(name.1), imports: Set(imports)))
    }
    return layers
  }
}
