// SourceTree.swift: finds the repository and its Swift files. The repository's root is three
// folders above this file, wherever the checkout lies and whatever it is called.

import Foundation

/// The checkout that these tests were compiled from.
enum SourceTree {
  static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// Folders whose Swift files are held to the rules.
  static let folders = ["Sources", "Tests", "Benchmarks/Sources"]

  /// Files that set how we build.
  static let buildFiles = [
    "Package.swift", "Benchmarks/Package.swift", "Tests/Mutants/Package.swift", "Makefile",
    ".ci/run",
  ]

  /// All Swift files, ordered by path; read once, however many rules look at them.
  static func swiftFiles() throws -> [SourceFile] { try allFiles.get() }

  private static let allFiles = Result { try readAll() }

  private static func readAll() throws -> [SourceFile] {
    var paths: [String] = []
    for folder in folders {
      let base = root.appending(path: folder)
      guard FileManager.default.fileExists(atPath: base.path) else { continue }
      for path in try FileManager.default.subpathsOfDirectory(atPath: base.path)
      where path.hasSuffix(".swift") && !path.contains(".build")
        && !path.hasSuffix("Package.swift")
      {
        paths.append(folder + "/" + path)
      }
    }
    return try paths.sorted().map(read).filter { !$0.isPlaceholder }
  }

  /// The build files that exist, as text without any reading of Swift.
  static func buildFileTexts() throws -> [(path: String, text: String)] {
    try buildFiles.compactMap { path in
      let url = root.appending(path: path)
      guard FileManager.default.fileExists(atPath: url.path) else { return nil }
      return (path, try String(contentsOf: url, encoding: .utf8))
    }
  }

  private static func read(_ path: String) throws -> SourceFile {
    let text = try String(contentsOf: root.appending(path: path), encoding: .utf8)
    return SourceFile(path: path, text: text)
  }
}
