// swift-tools-version: 6.2
// A program of snippets that were written for RealmSwift, with another import: `swift run` builds
// and runs them against the library two folders up (make realmswift-snippets).
import PackageDescription

let package = Package(
  name: "RealmSwiftSnippets",
  dependencies: [.package(name: "faultline", path: "../..")],
  targets: [
    .executableTarget(
      name: "Snippets", dependencies: [.product(name: "ObjectDatabase", package: "faultline")])
  ],
  swiftLanguageModes: [.v5]
)
