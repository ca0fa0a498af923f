// BuildCommit.swift: a build step that writes down the commit that the command is built from, for
// `faultline --version` and reports. Only the command itself is built again after a commit.

import Foundation
import PackagePlugin

@main
struct BuildCommit: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    let root = context.package.directoryURL
    let output = context.pluginWorkDirectoryURL.appending(path: "BuildCommit.swift")
    return [
      .buildCommand(
        displayName: "Commit of the command", executable: URL(filePath: "/bin/sh"),
        arguments: [
          "-c", Self.script, "sh", output.path(percentEncoded: false),
          root.path(percentEncoded: false),
        ],
        inputFiles: Self.inputs(root), outputFiles: [output])
    ]
  }

  /// What changes with a commit: HEAD, its branch, and where git packs branches.
  private static func inputs(_ root: URL) -> [URL] {
    let folder = root.appending(path: ".git")
    let head = folder.appending(path: "HEAD")
    guard let text = try? String(contentsOf: head, encoding: .utf8) else { return [] }
    let branch = text.hasPrefix("ref: ") ? text.dropFirst(5).split(separator: "\n").first : nil
    return
      ([head]
      + [branch.map(String.init), "packed-refs"].compactMap { $0 }.map {
        folder.appending(path: $0)
      }).filter { FileManager.default.fileExists(atPath: $0.path(percentEncoded: false)) }
  }

  /// Without git, or outside of a clone, there is no commit to name.
  private static let script = """
    set -eu
    commit=$(git -C "$2" rev-parse --short=12 HEAD 2> /dev/null || true)
    cat > "$1" <<END
    // Written by the build: see Plugins/BuildCommit.
    enum BuildCommit {
      static let text = "$commit"
    }
    END
    """
}
