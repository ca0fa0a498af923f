// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that building Faultline never builds its peers.
let house: [SwiftSetting] = [.strictMemorySafety(), .treatAllWarnings(as: .error)]

let package = Package(
  name: "benchmarks",
  dependencies: [
    // Named: a path's identity is its folder's name, and a checkout may be called anything.
    .package(name: "faultline", path: ".."),
    // The peer of documents; the package beside has it, too.
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
  ],
  targets: [
    // C: the client's system calls in a loop with nothing between them, processes that are pinned
    // and die with their parent, and the peers LMDB and SQLite at work on the rows.
    .target(
      name: "CBench", linkerSettings: [.linkedLibrary("lmdb"), .linkedLibrary("sqlite3")]),
    .executableTarget(
      name: "bench",
      dependencies: [
        "CBench",
        .product(name: "CrashSim", package: "faultline"),
        .product(name: "Engine", package: "faultline"),
        .product(name: "ObjectDatabase", package: "faultline"),
        .product(name: "DocumentDatabase", package: "faultline"),
        .product(name: "DocumentStore", package: "faultline"),
        .product(name: "Fleece", package: "faultline"),
        .product(name: "GRDB", package: "GRDB.swift"),
        // The daemon: a program that must lie beside `bench`, not a library.
        .product(name: "faultline-fs", package: "faultline"),
        // The judge of one state, likewise.
        "judge-state",
      ],
      swiftSettings: house),
    // Files of a million to a hundred million rows.
    .executableTarget(
      name: "scale",
      dependencies: ["CBench", .product(name: "Engine", package: "faultline")],
      swiftSettings: house),
    // SyncCore's side of lists.py.
    .executableTarget(
      name: "list-merges",
      dependencies: [.product(name: "SyncCore", package: "faultline")], swiftSettings: house),
    // Without shared Swift libraries: it starts as fast as a Swift process can, 1.7 times as fast
    // as with them.
    .executableTarget(
      name: "judge-state",
      dependencies: [.product(name: "Engine", package: "faultline")], swiftSettings: house,
      linkerSettings: [.unsafeFlags(["-static-stdlib"])]),
  ],
  swiftLanguageModes: [.v6]
)
