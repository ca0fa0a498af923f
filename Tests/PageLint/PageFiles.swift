// PageFiles.swift: reads the page's files from a checkout. A file or a folder that is not there is
// an error: a lint that finds nothing to read must not pass.

import Foundation

/// A checkout without the page's files.
package struct PageFilesMissing: Error, CustomStringConvertible {
  package let description: String
}

extension PageLint {
  /// Checks the page's files of a checkout.
  package init(root: URL) throws {
    let folder = "Sources/CrashSim/Reports/HTML"
    try self.init(
      style: Self.text(root, folder + "/report.css"),
      script: Self.text(root, folder + "/report.js"),
      page: Self.swiftFiles(root, folder), shown: Self.swiftFiles(root, "Sources/CrashSim/Findings")
    )
  }

  private static func text(_ root: URL, _ path: String) throws -> PageText {
    guard let text = try? String(contentsOf: root.appending(path: path), encoding: .utf8) else {
      throw PageFilesMissing(
        description: "cannot read \(path) in \(root.path): run page-lint in the repository")
    }
    return PageText(text, at: path)
  }

  private static func swiftFiles(_ root: URL, _ folder: String) throws -> [PageText] {
    let names =
      (try? FileManager.default.subpathsOfDirectory(
        atPath: root.appending(path: folder).path)) ?? []
    let paths = names.filter { $0.hasSuffix(".swift") }.sorted().map { "\(folder)/\($0)" }
    guard !paths.isEmpty else {
      throw PageFilesMissing(
        description: "no Swift file in \(folder) of \(root.path): run page-lint in the repository")
    }
    return try paths.map { try text(root, $0) }
  }
}
