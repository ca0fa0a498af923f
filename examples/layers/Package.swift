// swift-tools-version: 6.2
import PackageDescription

// What a package of a user's looks like that takes one layer of the lab and not the engine: three
// programs, run by run.sh, which also looks that no engine was linked.
let package = Package(
  name: "layers-alone",
  dependencies: [.package(name: "faultline", path: "../..")],
  targets: [
    .executableTarget(
      name: "crash-states-only",
      dependencies: [.product(name: "CrashStates", package: "faultline")]),
    .executableTarget(
      name: "fault-fs-only",
      dependencies: [
        .product(name: "FaultFS", package: "faultline"),
        .product(name: "faultline-fs", package: "faultline"),
      ]),
    .executableTarget(
      name: "exploration-only",
      dependencies: [
        .product(name: "Exploration", package: "faultline"),
        .product(name: "faultline-fs", package: "faultline"),
      ]),
  ]
)
