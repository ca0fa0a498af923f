// EngineFingerprint.swift: a build step that writes a hash of the engine's sources down, so that a
// replay can say that it is of another engine. It follows from names and bytes of the sources
// alone: two clones of one commit have the same one, whatever their builds look like.

import Foundation
import PackagePlugin

@main
struct EngineFingerprint: BuildToolPlugin {
  /// The targets that decide what the engine does to its files.
  private static let targets = ["Engine", "CSystem", "ObjectDatabase", "Query"]

  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    let sources = context.package.targets.filter { Self.targets.contains($0.name) }
    let files = sources.compactMap { $0 as? any SourceModuleTarget }.flatMap { module in
      module.sourceFiles.map(\.url)
    }
    let root = context.package.directoryURL
    let output = context.pluginWorkDirectoryURL.appending(path: "EngineSources.swift")
    let names = files.map { file in
      String(file.path(percentEncoded: false).dropFirst(root.path(percentEncoded: false).count))
    }
    return [
      .buildCommand(
        displayName: "Fingerprint of the engine's sources",
        executable: URL(filePath: "/bin/sh"),
        arguments: [
          "-c", Self.script, "sh", output.path(percentEncoded: false),
          root.path(percentEncoded: false),
        ] + names.sorted(),
        inputFiles: files, outputFiles: [output])
    ]
  }

  /// Paths are relative to the package, so the folder that it lies in does not count.
  private static let script = """
    set -eu
    out=$1; cd "$2"; shift 2
    sum=$(for file in "$@"; do sha256sum "./${file#/}"; done | sha256sum | cut -c1-16)
    cat > "$out" <<END
    // Written by the build: see Plugins/EngineFingerprint.
    enum EngineSources {
      static let fingerprint = "$sum"
    }
    END
    """
}
