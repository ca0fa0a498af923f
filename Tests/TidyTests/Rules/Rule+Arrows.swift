// Rule+Arrows.swift: who may import whom, as a table.

/// Modules that a folder may not import, except in some of its own folders.
private struct Arrow: Sendable {
  let folder: String
  let modules: [String]
  var except: [String] = []
  let reason: String
}

/// The lab's layers, whose manifest holds the arrows between them, and their own C.
private let lab = [
  "CPrivileges",
  "LabCore", "Recording", "FaultFS", "CrashStates", "Findings", "Exploration", "Workload",
  "Oracles", "Workers", "EngineExploration", "Scenarios", "Reports",
]

/// The modules of fuzz targets, each beside what it fuzzes.
private let fuzzed = [
  "EngineFuzz", "QueryFuzz", "FleeceFuzz", "SyncFuzz", "DocumentQueryFuzz", "DocumentStoreFuzz",
  "LabFuzz",
]

/// The databases, and what is built on them.
private let databases = ["Engine", "ObjectDatabase", "Query", "DocumentQuery", "DocumentStore"]

private let forbidden: [Arrow] = [
  Arrow(
    folder: "Sources/Engine",
    modules: lab + ["DocumentStore", "CFuse", "GRDB", "Yams", "Query"],
    reason: "the engine knows nothing of the lab, nor of what is built on it"),
  Arrow(
    folder: "Sources/Cryptography",
    modules: lab + databases + ["CSystem", "CFuse", "GRDB", "Yams", "Foundation"],
    reason: "cryptography is OpenSSL's, and knows nothing of ours"),
  Arrow(
    folder: "Sources/Query",
    modules: lab + ["DocumentStore", "CFuse", "GRDB", "Yams", "Foundation"],
    reason: "queries are about the engine's tables, and fuzzers run them"),
  Arrow(
    folder: "Sources/Engine", modules: ["ObjectDatabase"],
    reason: "the object database stands on the engine, and not the other way round"),
  Arrow(
    folder: "Sources/Query", modules: ["ObjectDatabase"],
    reason: "queries are about tables, and know no objects"),
  Arrow(
    folder: "Sources/ObjectDatabase", modules: lab + ["CFuse", "CSystem", "GRDB", "Yams"],
    reason: "the object database knows the engine, and nothing of the lab"),
  Arrow(
    folder: "Sources/Fleece",
    modules: lab + databases + ["CSystem", "CFuse", "GRDB", "Yams", "Foundation"],
    reason: "Fleece is about bytes, and knows no file and no database"),
  Arrow(
    folder: "Sources/DocumentQuery",
    modules: lab + [
      "Engine", "ObjectDatabase", "Query", "DocumentStore", "CSystem", "CFuse", "GRDB", "Yams",
      "Foundation",
    ],
    reason: "queries over documents become texts, and know no file"),
  Arrow(
    folder: "Sources/DocumentStore",
    modules: lab + ["Engine", "ObjectDatabase", "Query", "CFuse", "Yams", "Foundation"],
    reason: "the document store stands on SQLite and Fleece, and knows nothing else of ours"),
  Arrow(
    folder: "Sources/DocumentDatabase",
    modules: lab + ["Engine", "ObjectDatabase", "Query", "CFuse", "GRDB", "Yams"],
    reason: "the document database stands on the document store, and knows nothing of the lab"),
  Arrow(
    folder: "Sources/DocumentInspection",
    modules: lab + ["Engine", "ObjectDatabase", "Query", "CFuse", "GRDB", "Yams"],
    reason: "an inspection of documents knows the document store alone"),
  Arrow(
    folder: "Sources/DocumentQueryReference",
    modules: lab + databases + [
      "CSystem", "CFuse", "Fleece", "GRDB", "Yams", "Foundation",
    ],
    reason: "the naive evaluator of queries knows neither the translator nor SQL"),
  Arrow(
    folder: "Sources/FleeceReference",
    modules: lab + databases + ["CSystem", "CFuse", "GRDB", "Yams", "Foundation"],
    reason: "the second reader of Fleece knows its bytes alone, and fuzzers run it"),
  Arrow(
    folder: "Sources/SyncCore",
    modules: lab + databases + ["GRDB", "Yams", "Foundation", "Glibc"],
    reason: "the merge is a function of its input, and the same on every machine"),
  Arrow(
    folder: "Sources/SyncClient",
    modules: lab + ["SyncServer", "CFuse", "GRDB", "Yams", "Foundation"],
    reason: "a synchronized file knows the databases, and nothing of the lab or of servers"),
  Arrow(
    folder: "Sources/SyncServer", modules: lab + ["CFuse", "GRDB", "Yams", "Foundation", "Glibc"],
    reason: "a server's file knows the databases, and nothing of the lab"),
  Arrow(
    folder: "Sources/ObjectDatabase", modules: ["SyncCore", "SyncClient", "SyncServer"],
    reason: "the object database says what happens, and knows nothing of synchronization"),
  Arrow(
    folder: "Sources/SyncWorld", modules: lab + databases + ["Foundation", "Glibc"],
    reason: "a world is a function of its seed, and the same on every machine"),
  Arrow(
    folder: "Sources/SyncReference", modules: lab + databases + ["Foundation"],
    reason: "the second merge is written from its contract alone"),
  Arrow(
    folder: "Sources/SyncFuzz",
    modules: lab + databases + ["EngineFuzz", "QueryFuzz", "FleeceFuzz", "LabFuzz", "Foundation"],
    reason: "synchronization is fuzzed by targets that know it alone"),
  Arrow(
    folder: "Sources/Fuzz",
    modules: lab + fuzzed + ["Engine", "Query", "Fleece", "CFuse", "GRDB", "Yams", "Foundation"],
    reason: "what fuzz targets have in common knows none of what is fuzzed"),
  Arrow(
    folder: "Sources/EngineFuzz",
    modules: lab + ["QueryFuzz", "FleeceFuzz", "LabFuzz", "Query", "GRDB", "Yams", "Foundation"],
    reason: "the engine is fuzzed by targets that know the engine alone"),
  Arrow(
    folder: "Sources/QueryFuzz",
    modules: lab + ["EngineFuzz", "FleeceFuzz", "LabFuzz", "GRDB", "Yams", "Foundation"],
    reason: "queries are fuzzed by targets that know the engine and queries alone"),
  Arrow(
    folder: "Sources/FleeceFuzz",
    modules: lab + databases + [
      "EngineFuzz", "QueryFuzz", "LabFuzz", "GRDB", "Yams", "Foundation",
    ],
    reason: "Fleece is fuzzed by targets that know Fleece alone"),
  Arrow(
    folder: "Sources/DocumentQueryFuzz",
    modules: lab + [
      "Engine", "ObjectDatabase", "Query", "EngineFuzz", "QueryFuzz", "FleeceFuzz", "LabFuzz",
      "GRDB", "Yams", "Foundation",
    ],
    reason: "queries over documents are fuzzed by targets that know documents alone"),
  Arrow(
    folder: "Sources/DocumentStoreFuzz",
    modules: lab + ["EngineFuzz", "QueryFuzz", "FleeceFuzz", "LabFuzz", "Engine", "ObjectDatabase"]
      + ["Query", "GRDB", "Yams", "Foundation"],
    reason: "the document store is fuzzed by targets that know it and Fleece alone"),
  Arrow(
    folder: "Sources/CrashSim", modules: ["StressRunner", "Fuzz"] + fuzzed,
    reason: "the library knows nothing of its commands"),
  Arrow(
    folder: "Sources/FaultFSDaemon",
    modules: ["Engine", "ObjectDatabase", "Query", "Yams", "CrashStates", "Findings"],
    reason: "the program that must outlive its clients is small"),
  Arrow(
    folder: "Sources/CrashSim", modules: ["CFuse"], except: ["Sources/CrashSim/FaultFS"],
    reason: "one folder speaks FUSE"),
  Arrow(
    folder: "Sources/CrashSim", modules: ["GRDB"],
    except: ["Sources/CrashSim/Recording", "Sources/CrashSim/DocumentLab"],
    reason: "one folder keeps trace files, and one looks into the document store's"),
  Arrow(
    folder: "Sources/CrashSim", modules: ["Yams"],
    except: ["Sources/CrashSim/Scenarios", "Sources/CrashSim/Workload"],
    reason: "YAML is for scenarios and for models that a user defines"),
  Arrow(
    folder: "Sources/CrashSim/Oracles/XRay", modules: ["Engine"],
    reason: "the second reader of the format shares no code with the first"),
  Arrow(
    folder: "Sources", modules: ["ArgumentParser"],
    except: ["Sources/StressRunner", "Sources/FuzzCommand"],
    reason: "arguments belong to executables"),
  Arrow(
    folder: "Sources", modules: ["Testing", "XCTest", "TestSupport"],
    reason: "shipped code knows nothing of its tests"),
]

extension Rule {
  static let arrows: [Rule] = forbidden.flatMap { arrow in
    arrow.modules.map { module in
      Rule("\(arrow.folder) does not import \(module)") {
        let file = arrow.folder.hasSuffix(".swift")
        let path = file ? arrow.folder : "\(arrow.folder)/Planted.swift"
        return [
          Planted("import \(module)\n", at: path),
          Planted("@testable import \(module)\n", at: path),
          Planted("package import struct \(module).Thing\n", at: path),
        ]
      } innocent: {
        [Planted("// import \(module)\nimport \(module)Else\n", at: "\(arrow.folder)/P.swift")]
          + arrow.except.map { Planted("import \(module)\n", at: "\($0)/Planted.swift") }
      } check: { file in
        guard file.isIn([arrow.folder]), !file.isIn(arrow.except) else { return [] }
        return file.code.enumerated().filter { importedModule($1) == module }.map {
          Violation(
            path: file.path, line: $0.offset + 1, message: "imports \(module): \(arrow.reason)")
        }
      }
    }
  }

  /// The module that a line imports.
  private static func importedModule(_ line: String) -> String? {
    let words = line.split(separator: " ")
    guard let at = words.firstIndex(of: "import") else { return nil }
    let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "func", "var", "let"]
    let rest = words[(at + 1)...].drop { kinds.contains($0) }
    return rest.first?.split(separator: ".").first.map(String.init)
  }
}
