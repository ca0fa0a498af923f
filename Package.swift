// swift-tools-version: 6.2
import PackageDescription

// Every target of ours is checked for memory-unsafe constructs (each use is spelled `unsafe`), and
// a warning is an error: what the compiler doubts does not land.
let house: [SwiftSetting] = [.strictMemorySafety(), .treatAllWarnings(as: .error)]

let package = Package(
  name: "faultline",
  products: [
    .executable(name: "faultline", targets: ["StressRunner"]),
    .library(name: "Engine", targets: ["Engine"]),
    .library(name: "ObjectDatabase", targets: ["ObjectDatabase"]),
    .library(name: "CrashSim", targets: ["CrashSim"]),
    // Targets that need the engine and the query language only; small, so that fuzzing builds are.
    .executable(name: "fuzz", targets: ["FuzzCommand"]),
    // The same, with the targets that need the lab.
    .executable(name: "fuzz-lab", targets: ["FuzzLabCommand"]),
    // The mutations of all targets, for AFL++ to load (fuzz/afl.sh).
    .library(name: "fuzz-mutators", type: .dynamic, targets: ["FuzzMutators"]),
    // Serves one FaultFS mount; `faultline` finds it beside itself and starts it.
    .executable(name: "faultline-fs", targets: ["FaultFSDaemon"]),
    // Loaded into programs under test by `--stacks`; `faultline` finds it beside itself.
    .library(name: "faultline-stacks", type: .dynamic, targets: ["CallStacks"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
  ],
  targets: [
    // C: what Swift cannot import from glibc (variadics, _GNU_SOURCE), and nothing else.
    .target(name: "CSystem"),
    // C: loaded into programs under test, where it leaves their call stacks; linked to nothing.
    // Optimised in debug builds too, because it runs in every file operation of those programs; and
    // without Swift's start-up code, so that it brings no Swift runtime into them; nor a sanitizer's,
    // which they would not have.
    .target(
      name: "CallStacks", cSettings: [.unsafeFlags(["-O2", "-fno-sanitize=all"])],
      linkerSettings: [.unsafeFlags(["-nostartfiles"])]),
    .systemLibrary(name: "CFuse", pkgConfig: "fuse3", providers: [.apt(["libfuse3-dev"])]),

    .target(
      name: "Engine",
      dependencies: ["CSystem", .product(name: "Crypto", package: "swift-crypto")],
      swiftSettings: house),
    .target(
      name: "ObjectDatabase", dependencies: ["Engine", "Query"], swiftSettings: house),
    // The query language: reads, binds, plans and runs queries over the engine's tables.
    .target(name: "Query", dependencies: ["Engine"], swiftSettings: house),
    .target(
      name: "CrashSim",
      dependencies: [
        "CSystem", "CFuse", "Engine", "ObjectDatabase",
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "Yams", package: "Yams"),
      ],
      swiftSettings: house, plugins: ["EngineFingerprint"]),
    // Writes a hash of the engine's sources down, for replay tokens.
    .plugin(name: "EngineFingerprint", capability: .buildTool()),
    .executableTarget(
      name: "StressRunner",
      dependencies: [
        "CrashSim", "FuzzLab", .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: house),
    .executableTarget(
      name: "FaultFSDaemon", dependencies: ["CrashSim"], swiftSettings: house),
    // Queries answered the simple way, and a generator of queries: what the query language is held
    // against, by its tests and by fuzzing.
    .target(name: "QueryReference", dependencies: ["Query", "Engine"], swiftSettings: house),
    .target(
      name: "Fuzz", dependencies: ["Engine", "Query", "QueryReference"], swiftSettings: house),
    .target(name: "FuzzLab", dependencies: ["Fuzz", "CrashSim"], swiftSettings: house),
    .target(name: "FuzzMutators", dependencies: ["FuzzLab"], swiftSettings: house),
    .executableTarget(name: "FuzzCommand", dependencies: ["Fuzz"], swiftSettings: house),
    .executableTarget(name: "FuzzLabCommand", dependencies: ["FuzzLab"], swiftSettings: house),

    .target(
      name: "TestSupport", dependencies: ["CSystem", "CrashSim"], path: "Tests/TestSupport",
      swiftSettings: house),
    // C: a pass over POSIX that runs on any file system; the tests run it on a mount.
    .executableTarget(name: "posix-cases", path: "Tests/PosixCases"),
    // C: two functions that forget the same sync; findings have to name the line of each.
    .executableTarget(name: "two-savers", path: "Tests/TwoSavers"),
    // C: breaks only when a mapped page is written back between two stores.
    .executableTarget(name: "mapped-order", path: "Tests/MappedOrder"),
    // One process of several that use one database; the engine's tests run and kill it.
    .executableTarget(
      name: "engine-worker", dependencies: ["Engine", "CSystem"], path: "Tests/EngineWorker",
      swiftSettings: house),
    .testTarget(
      name: "EngineTests", dependencies: ["Engine", "CSystem", "engine-worker", "FuzzCommand"],
      exclude: ["Golden"],
      swiftSettings: house),
    // A task list that several processes share: what a program on the object database looks like.
    .executableTarget(
      name: "tasks", dependencies: ["ObjectDatabase"], path: "examples/tasks",
      exclude: ["README.md"], swiftSettings: house),
    // A program with an asynchronous `main`, in which the main thread ends and its queue goes on.
    .executableTarget(
      name: "async-main", dependencies: ["ObjectDatabase"], path: "Tests/AsyncMain",
      swiftSettings: house),
    .testTarget(
      name: "ObjectDatabaseTests",
      dependencies: ["ObjectDatabase", "Engine", "tasks", "async-main"],
      swiftSettings: house),
    .testTarget(
      name: "QueryTests",
      dependencies: [
        "Query", "QueryReference", "Engine", .product(name: "GRDB", package: "GRDB.swift"),
      ],
      swiftSettings: house),
    .testTarget(
      name: "FuzzTests",
      dependencies: ["FuzzLab", "FuzzMutators", "FuzzLabCommand", "FuzzCommand", "TestSupport"],
      exclude: ["Corpora"], swiftSettings: house),
    .testTarget(
      name: "CrashSimTests",
      dependencies: ["CrashSim", "TestSupport", "CSystem", "FaultFSDaemon", "posix-cases"],
      swiftSettings: house),
    .testTarget(
      name: "ScenarioTests", dependencies: ["CrashSim", "TestSupport"], swiftSettings: house),
    // Runs the built command as a user does; found beside the tests' own program.
    .testTarget(
      name: "CommandTests",
      dependencies: [
        "CrashSim", "TestSupport", "StressRunner", "FaultFSDaemon", "mapped-order", "two-savers",
        .product(name: "Yams", package: "Yams"),
      ],
      swiftSettings: house),
    .testTarget(name: "TidyTests", swiftSettings: house),
  ],
  swiftLanguageModes: [.v6]
)
