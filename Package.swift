// swift-tools-version: 6.2
import PackageDescription

// Every target of ours is checked for memory-unsafe constructs (each use is spelled `unsafe`), and
// a warning is an error: what the compiler doubts does not land.
let house: [SwiftSetting] = [.strictMemorySafety(), .treatAllWarnings(as: .error)]

// What tests and smoke scenarios spend their time in. FAULTLINE_OPTIMIZED=1, as in CI, optimizes it
// in debug builds, too (decision 0931).
let isOptimized = Context.environment["FAULTLINE_OPTIMIZED"] != nil
let hot = house + (isOptimized ? [.unsafeFlags(["-O"], .when(configuration: .debug))] : [])

// The lab's layers, lowest first: each may import those before it that its target names.
let lab = [
  "LabCore", "Recording", "FaultFS", "CrashStates", "Findings", "Exploration", "Workload",
  "Oracles", "Workers", "EngineExploration", "DocumentLab", "SyncLab", "Scenarios",
  "Reports",
]

// The program `fuzz` has the lab's targets, too. Whoever fuzzes the engine again and again builds
// it without them (decision 0923): FUZZ_WITHOUT_LAB=1 swift build --product fuzz.
let fuzzesLab = Context.environment["FUZZ_WITHOUT_LAB"] == nil

let package = Package(
  name: "faultline",
  products: [
    .executable(name: "faultline", targets: ["StressRunner"]),
    .library(name: "Engine", targets: ["Engine"]),
    .library(name: "ObjectDatabase", targets: ["ObjectDatabase"]),
    // The bytes of Couchbase Lite's documents; it needs nothing of ours, and no Foundation.
    .library(name: "Fleece", targets: ["Fleece"]),
    // What a synchronized realm's changesets mean: merge and bytes, without I/O, clock or engine.
    .library(name: "SyncCore", targets: ["SyncCore"]),
    // The files of Couchbase Lite's storage layer, on SQLite.
    .library(name: "DocumentStore", targets: ["DocumentStore"]),
    // Documents under the names of Couchbase Lite's Swift API.
    .library(name: "DocumentDatabase", targets: ["DocumentDatabase"]),
    // The lab by layers; a package of yours can take FaultFS, the crash states, or the exploration
    // of any program, and needs no engine for them.
    .library(name: "FaultFS", targets: ["LabCore", "Recording", "FaultFS"]),
    .library(name: "CrashStates", targets: ["LabCore", "Recording", "CrashStates"]),
    .library(
      name: "Exploration",
      targets: ["LabCore", "Recording", "FaultFS", "CrashStates", "Findings", "Exploration"]),
    .library(name: "CrashSim", targets: lab),
    // Every fuzz target: a command for people (`faultline fuzz`), and what fuzzers are linked into.
    .executable(name: "fuzz", targets: ["FuzzCommand"]),
    // The mutations of all targets, for AFL++ to load (fuzz/afl.sh).
    .library(name: "fuzz-mutators", type: .dynamic, targets: ["FuzzMutators"]),
    // Serves one FaultFS mount; `faultline` finds it beside itself and starts it.
    .executable(name: "faultline-fs", targets: ["FaultFSDaemon"]),
    // Loaded into programs under test by `--stacks`; `faultline` finds it beside itself.
    .library(name: "faultline-stacks", type: .dynamic, targets: ["CallStacks"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
  ],
  targets: [
    // C: what Swift cannot import from glibc (variadics, _GNU_SOURCE), and nothing else.
    .target(name: "CSystem"),
    // C: capabilities and namespaces, for the lab alone.
    .target(name: "CPrivileges"),
    // C: loaded into programs under test, where it leaves their call stacks; linked to nothing.
    // Optimised in debug builds too, because it runs in every file operation of those programs; and
    // without Swift's start-up code, so that it brings no Swift runtime into them; nor a
    // sanitizer's, which they would not have.
    .target(
      name: "CallStacks", cSettings: [.unsafeFlags(["-O2", "-fno-sanitize=all"])],
      linkerSettings: [.unsafeFlags(["-nostartfiles"])]),
    .systemLibrary(name: "CFuse", pkgConfig: "fuse3", providers: [.apt(["libfuse3-dev"])]),

    .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    // OpenSSL's ciphers and digests for files and tokens: nothing of its own.
    .target(name: "Cryptography", dependencies: ["COpenSSL"], swiftSettings: hot),
    .target(
      name: "Engine",
      dependencies: ["CSystem", "Cryptography"], swiftSettings: hot),
    .target(
      name: "ObjectDatabase", dependencies: ["Engine", "Query"], swiftSettings: house),
    // The query language: reads, binds, plans and runs queries over the engine's tables.
    .target(name: "Query", dependencies: ["Engine"], swiftSettings: hot),
    // The bytes of documents: no file, no database.
    .target(name: "Fleece", swiftSettings: house),
    // Synchronization's core: changesets, their merge and their bytes. It knows neither engine nor
    // lab.
    .target(name: "SyncCore", swiftSettings: hot),
    // The file of a synchronized client: records a realm's transactions.
    .target(
      name: "SyncClient", dependencies: ["Engine", "ObjectDatabase", "SyncCore"],
      swiftSettings: hot),
    // The file of a synchronized realm's server: log, objects, clients.
    .target(
      name: "SyncServer", dependencies: ["Engine", "ObjectDatabase", "SyncClient", "SyncCore"],
      swiftSettings: hot),
    // Clients and a server on a seeded network, and all small worlds of them, on SyncCore's
    // machines.
    .target(name: "SyncWorld", dependencies: ["SyncCore"], swiftSettings: hot),
    // The merge once more, the simple way: what SyncCore is held against by tests and fuzzing.
    .target(name: "SyncReference", dependencies: ["SyncCore"], swiftSettings: hot),
    // Queries over documents as SQL: no file, no database.
    .target(name: "DocumentQuery", dependencies: ["Fleece"], swiftSettings: house),
    // C: the tokenizer of full-text indexes, which SQLite calls back for each word; it loads
    // libstemmer when an index wants stems.
    .target(name: "CTokenizer", linkerSettings: [.linkedLibrary("sqlite3")]),
    // Collections of documents in SQLite files, as Couchbase Lite has them.
    .target(
      name: "DocumentStore",
      dependencies: [
        "CSystem", "CTokenizer", "Fleece", "DocumentQuery",
        .product(name: "GRDB", package: "GRDB.swift"),
      ],
      swiftSettings: house),
    // Documents, collections and queries under Couchbase Lite's names.
    .target(
      name: "DocumentDatabase", dependencies: ["DocumentStore", "DocumentQuery", "Fleece"],
      swiftSettings: house),
    // What `faultline inspect` shows of a bundle of documents.
    .target(
      name: "DocumentInspection", dependencies: ["DocumentStore"], swiftSettings: house),
    // The lab; docs/explanation/architecture.md says what each layer holds. Nothing up to
    // Exploration knows the engine.
    .target(
      name: "LabCore", dependencies: ["CSystem", "CPrivileges"],
      path: "Sources/CrashSim/LabCore", swiftSettings: hot),
    .target(
      name: "Recording",
      dependencies: ["CSystem", "LabCore", .product(name: "GRDB", package: "GRDB.swift")],
      path: "Sources/CrashSim/Recording", swiftSettings: hot),
    .target(
      name: "FaultFS",
      dependencies: ["CSystem", "CPrivileges", "CFuse", "LabCore", "Recording"],
      path: "Sources/CrashSim/FaultFS", swiftSettings: hot),
    .target(
      name: "CrashStates", dependencies: ["CSystem", "LabCore", "Recording"],
      path: "Sources/CrashSim/CrashStates", swiftSettings: hot),
    .target(
      name: "Findings",
      dependencies: [
        "CSystem", "Cryptography", "LabCore", "Recording", "FaultFS", "CrashStates",
      ],
      path: "Sources/CrashSim/Findings", swiftSettings: house),
    .target(
      name: "Exploration",
      dependencies: ["CSystem", "LabCore", "Recording", "FaultFS", "CrashStates", "Findings"],
      path: "Sources/CrashSim/Exploration", swiftSettings: house),
    .target(
      name: "Workload",
      dependencies: [
        "LabCore", "Recording", "FaultFS", "CrashStates", "Findings", "Exploration", "Engine",
        "ObjectDatabase", .product(name: "Yams", package: "Yams"),
      ],
      path: "Sources/CrashSim/Workload", swiftSettings: house, plugins: ["EngineFingerprint"]),
    .target(
      name: "Oracles",
      dependencies: [
        "LabCore", "Recording", "FaultFS", "CrashStates", "Findings", "Workload", "Engine",
        "ObjectDatabase", "Query", "QueryReference",
      ],
      path: "Sources/CrashSim/Oracles", swiftSettings: hot),
    .target(
      name: "Workers",
      dependencies: [
        "CSystem", "LabCore", "FaultFS", "Findings", "Workload", "Oracles", "Engine",
        "ObjectDatabase",
      ],
      path: "Sources/CrashSim/Workers", swiftSettings: house),
    .target(
      name: "EngineExploration",
      dependencies: [
        "CSystem", "LabCore", "Recording", "CrashStates", "Findings", "Exploration", "Workload",
        "Oracles", "Workers", "Engine",
      ],
      path: "Sources/CrashSim/EngineExploration", swiftSettings: house),
    // C: a VFS that says before each of SQLite's calls what it is about to do.
    .target(name: "CSQLitePoints", linkerSettings: [.linkedLibrary("sqlite3")]),
    // Documents under crashes: a reference model, the steps of scenarios, and what they are judged by.
    .target(
      name: "DocumentLab",
      dependencies: [
        "Cryptography", "CSQLitePoints", "LabCore", "Workload", "DocumentStore", "Fleece",
        "FleeceReference",
        .product(name: "GRDB", package: "GRDB.swift"),
      ],
      path: "Sources/CrashSim/DocumentLab", swiftSettings: house,
      plugins: ["EngineFingerprint"]),
    // A server and clients of a realm on the lab's storage and network, and what they are judged by.
    .target(
      name: "SyncLab",
      dependencies: [
        "Cryptography", "LabCore", "Recording", "FaultFS", "CrashStates", "Workload", "Engine",
        "ObjectDatabase", "SyncCore", "SyncClient", "SyncServer",
      ],
      path: "Sources/CrashSim/SyncLab", swiftSettings: hot),
    .target(
      name: "Scenarios",
      dependencies: [
        "CSystem", "LabCore", "Recording", "FaultFS", "CrashStates", "Findings", "Exploration",
        "Workload", "Oracles", "Workers", "EngineExploration", "DocumentLab", "SyncLab",
        "Engine",
        .product(name: "Yams", package: "Yams"),
      ],
      path: "Sources/CrashSim/Scenarios", swiftSettings: house),
    .target(
      name: "Reports",
      dependencies: [
        "LabCore", "CrashStates", "Findings", "Exploration", "Oracles", "Engine",
      ],
      path: "Sources/CrashSim/Reports",
      // The page's style sheet and script lie in the program, so that a page needs nothing beside
      // it.
      resources: [.embedInCode("HTML/report.css"), .embedInCode("HTML/report.js")],
      swiftSettings: house),
    // Writes a hash of the engine's sources down, for replay tokens.
    .plugin(name: "EngineFingerprint", capability: .buildTool()),
    .plugin(name: "BuildCommit", capability: .buildTool()),
    .executableTarget(
      name: "StressRunner",
      dependencies: lab.map { .target(name: $0) } + [
        "DocumentInspection",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: house, plugins: ["BuildCommit"]),
    .executableTarget(
      name: "FaultFSDaemon", dependencies: ["LabCore", "Recording", "FaultFS"],
      swiftSettings: house),
    // Queries answered the simple way, and a generator of queries: what the query language is held
    // against, by its tests and by fuzzing.
    .target(name: "QueryReference", dependencies: ["Query", "Engine"], swiftSettings: hot),
    // Fleece read the simple way, and drawn values: what Fleece is held against, by its tests and
    // by fuzzing.
    .target(name: "FleeceReference", dependencies: ["Fleece"], swiftSettings: house),
    // Queries over documents answered the simple way, and drawn documents and queries.
    .target(name: "DocumentQueryReference", swiftSettings: house),
    // What fuzz targets have in common; then the targets, each module beside what it fuzzes.
    .target(name: "Fuzz", swiftSettings: house),
    .target(name: "EngineFuzz", dependencies: ["Fuzz", "Engine"], swiftSettings: hot),
    .target(
      name: "QueryFuzz",
      dependencies: ["Fuzz", "Engine", "ObjectDatabase", "Query", "QueryReference"],
      swiftSettings: house),
    .target(
      name: "FleeceFuzz", dependencies: ["Fuzz", "Fleece", "FleeceReference"],
      swiftSettings: house),
    // With the lab's: the engine's and the queries' are built without SQLite.
    .target(
      name: "DocumentStoreFuzz", dependencies: ["Fuzz", "Fleece", "DocumentStore"],
      swiftSettings: house),
    .target(
      name: "SyncFuzz", dependencies: ["Fuzz", "SyncCore", "SyncReference"], swiftSettings: hot),
    .target(
      name: "DocumentQueryFuzz",
      dependencies: ["Fuzz", "DocumentQuery", "DocumentQueryReference", "DocumentStore"],
      swiftSettings: house),
    .target(
      name: "LabFuzz",
      dependencies: [
        "Fuzz", "EngineFuzz", "QueryFuzz", "FleeceFuzz", "SyncFuzz", "DocumentQueryFuzz",
        "DocumentStoreFuzz",
      ] + lab.map { .target(name: $0) },
      swiftSettings: house),
    .target(name: "FuzzMutators", dependencies: ["Fuzz", "LabFuzz"], swiftSettings: house),
    .executableTarget(
      name: "FuzzCommand",
      dependencies: [
        "Fuzz", "EngineFuzz", "QueryFuzz", "FleeceFuzz", "SyncFuzz",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ] + (fuzzesLab ? ["LabFuzz"] : []),
      swiftSettings: house + (fuzzesLab ? [.define("FUZZ_LAB")] : [])),

    // What tests need of the machine: skipped without it, or red where CI demands it.
    .target(name: "Requirements", path: "Tests/Requirements", swiftSettings: house),
    .testTarget(
      name: "RequirementsTests", dependencies: ["Requirements"], swiftSettings: house),
    .target(
      name: "TestSupport",
      dependencies: ["CSystem", "LabCore", "Recording", "FaultFS", "Requirements"],
      path: "Tests/TestSupport",
      swiftSettings: house),
    // C: a pass over POSIX that runs on any file system; the tests run it on a mount.
    .executableTarget(name: "posix-cases", path: "Tests/PosixCases"),
    // C: two functions that forget the same sync; findings have to name the line of each.
    .executableTarget(name: "two-savers", path: "Tests/TwoSavers"),
    // Saves documents, and checks what a crash left of them.
    .executableTarget(
      name: "document-saver", dependencies: ["DocumentStore"], path: "Tests/DocumentSaver",
      swiftSettings: house),
    // Writers of a synchronized file, its agent with a server, and the judge of what they left.
    .executableTarget(
      name: "sync-writer",
      dependencies: ["SyncClient", "SyncServer", "SyncCore", "ObjectDatabase", "Engine"],
      path: "Tests/SyncWriter", swiftSettings: house),
    // C: breaks only when a mapped page is written back between two stores.
    .executableTarget(name: "mapped-order", path: "Tests/MappedOrder"),
    // One process of several that use one database; the engine's tests run and kill it.
    .executableTarget(
      name: "engine-worker", dependencies: ["Engine", "CSystem"], path: "Tests/EngineWorker",
      swiftSettings: house),
    .testTarget(
      name: "EngineTests",
      dependencies: [
        "Engine", "Cryptography", "CSystem", "Requirements", "engine-worker", "FuzzCommand",
      ],
      exclude: ["Golden"],
      swiftSettings: house),
    // A task list that several processes share: what a program on the object database looks like.
    .executableTarget(
      name: "tasks", dependencies: ["ObjectDatabase"], path: "examples/tasks",
      exclude: ["README.md"], swiftSettings: house),
    // A database of dogs: the program of a tutorial.
    .executableTarget(
      name: "dogs", dependencies: ["ObjectDatabase"], path: "examples/dogs", swiftSettings: house),
    // A database of notes: the program of another.
    .executableTarget(
      name: "documents", dependencies: ["DocumentDatabase"], path: "examples/documents",
      exclude: ["README.md"], swiftSettings: house),
    // A program with an asynchronous `main`, in which the main thread ends and its queue goes on.
    .executableTarget(
      name: "async-main", dependencies: ["ObjectDatabase"], path: "Tests/AsyncMain",
      swiftSettings: house),
    .testTarget(
      name: "ObjectDatabaseTests",
      dependencies: ["ObjectDatabase", "Engine", "Requirements", "tasks", "async-main"],
      swiftSettings: house),
    .testTarget(
      name: "QueryTests",
      dependencies: [
        "Query", "QueryReference", "Engine", .product(name: "GRDB", package: "GRDB.swift"),
      ],
      swiftSettings: house),
    // Golden files and drawn numbers, for tests that know nothing of the lab.
    .target(name: "TestFiles", path: "Tests/TestFiles", swiftSettings: house),
    .testTarget(
      name: "FleeceTests",
      dependencies: ["Fleece", "FleeceReference", "Requirements", "TestFiles"],
      exclude: ["Golden"],
      swiftSettings: house),
    .testTarget(
      name: "SyncCoreTests",
      dependencies: ["SyncCore", "SyncReference", "SyncFuzz", "Fuzz", "Requirements"],
      swiftSettings: house),
    .testTarget(
      name: "DocumentQueryTests", dependencies: ["DocumentQuery", "TestFiles"],
      exclude: ["Golden"],
      swiftSettings: house),
    .testTarget(
      name: "DocumentStoreTests",
      dependencies: [
        "DocumentStore", "DocumentQueryReference", "Fleece", "Requirements", "TestFiles",
        .product(name: "GRDB", package: "GRDB.swift"),
      ],
      exclude: ["Golden"],
      swiftSettings: house),
    // As a client in another module: nothing in it is `@testable`.
    .testTarget(
      name: "DocumentDatabaseTests", dependencies: ["DocumentDatabase"], swiftSettings: house),
    .testTarget(
      name: "DocumentInspectionTests", dependencies: ["DocumentInspection", "DocumentStore"],
      swiftSettings: house),
    .testTarget(
      name: "SyncClientTests",
      dependencies: [
        "SyncClient", "SyncServer", "ObjectDatabase", "Engine", "SyncCore", "Requirements",
      ],
      swiftSettings: house),
    .testTarget(
      name: "SyncServerTests",
      dependencies: [
        "SyncServer", "SyncClient", "ObjectDatabase", "Engine", "SyncCore", "Requirements",
      ],
      swiftSettings: house),
    .testTarget(
      name: "SyncWorldTests", dependencies: ["SyncWorld", "SyncCore", "Requirements"],
      swiftSettings: house),
    .testTarget(
      name: "FuzzTests",
      dependencies: [
        "Fuzz", "EngineFuzz", "QueryFuzz", "FleeceFuzz", "SyncFuzz", "DocumentQueryFuzz", "LabFuzz",
        "FuzzMutators", "FuzzCommand", "TestSupport",
      ],
      exclude: ["Corpora"], swiftSettings: house),
    .testTarget(
      name: "CrashSimTests",
      dependencies: lab.map { .target(name: $0) } + [
        "TestSupport", "CSystem", "FaultFSDaemon", "posix-cases",
      ],
      swiftSettings: house),
    .testTarget(
      name: "ScenarioTests",
      dependencies: lab.map { .target(name: $0) } + [
        "TestSupport", "Engine", "Query", .product(name: "GRDB", package: "GRDB.swift"),
      ],
      swiftSettings: house),
    // Runs the built command as a user does; found beside the tests' own program.
    .testTarget(
      name: "CommandTests",
      dependencies: lab.map { .target(name: $0) } + [
        "TestSupport", "StressRunner", "FaultFSDaemon", "FuzzCommand", "document-saver",
        "documents",
        "dogs", "mapped-order",
        "posix-cases", "two-savers", "sync-writer",
        .product(name: "Yams", package: "Yams"),
      ],
      swiftSettings: house),
    // The lint of the report's style sheet and script (make lint).
    .executableTarget(name: "page-lint", path: "Tests/PageLint", swiftSettings: house),
    // Reads every file letter by letter, which takes a minute without optimisation.
    .testTarget(
      name: "TidyTests", dependencies: ["page-lint"], swiftSettings: house + [.unsafeFlags(["-O"])]),
  ],
  swiftLanguageModes: [.v6]
)

// What a few targets need and nothing else, built in minutes: FAULTLINE_ONLY="SyncCoreTests" with a
// --scratch-path of its own.
if let only = Context.environment["FAULTLINE_ONLY"] {
  var needed = Set(only.split(separator: " ").map(String.init))
  func names(_ target: Target) -> [String] {
    let plugins: [String] = (target.plugins ?? []).compactMap {
      if case .plugin(let name, _) = $0 { name } else { nil }
    }
    return plugins
      + target.dependencies.compactMap {
        switch $0 {
        case .targetItem(let name, _), .byNameItem(let name, _): name
        default: nil
        }
      }
  }
  for _ in package.targets {
    for target in package.targets where needed.contains(target.name) {
      needed.formUnion(names(target))
    }
  }
  package.targets.removeAll { !needed.contains($0.name) }
  package.products = []
}
