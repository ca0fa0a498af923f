// EngineFingerprint.swift: a build step that writes a hash of the engine's sources down, or of the
// document store's for the module that tests it, so that a replay can say that it is of another
// one. It follows from names and bytes of the sources alone: two clones of one commit have the same
// one, whatever their builds look like.

import Foundation
import PackagePlugin

@main
struct EngineFingerprint: BuildToolPlugin {
  /// The targets that decide what the engine does to its files.
  private static let engine = ["Engine", "CSystem", "ObjectDatabase", "Query"]
  /// The targets that decide what the document store does to its files.
  private static let documents = [
    "DocumentStore", "DocumentQuery", "Fleece", "CTokenizer", "CSystem",
  ]

  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    let isOfDocuments = target.name == "DocumentLab"
    let targets = isOfDocuments ? Self.documents : Self.engine
    let type = isOfDocuments ? "DocumentSources" : "EngineSources"
    let sources = context.package.targets.filter { targets.contains($0.name) }
    let files = sources.compactMap { $0 as? any SourceModuleTarget }.flatMap { module in
      module.sourceFiles.map(\.url)
    }
    let root = context.package.directoryURL
    let output = context.pluginWorkDirectoryURL.appending(path: "\(type).swift")
    let names = files.map { file in
      String(file.path(percentEncoded: false).dropFirst(root.path(percentEncoded: false).count))
    }
    return [
      .buildCommand(
        displayName: "Fingerprint of the sources for \(target.name)",
        executable: URL(filePath: "/bin/sh"),
        arguments: [
          "-c", Self.script, "sh", type, output.path(percentEncoded: false),
          root.path(percentEncoded: false),
        ] + names.sorted(),
        inputFiles: files, outputFiles: [output])
    ]
  }

  /// Paths are relative to the package, so the folder that it lies in does not count.
  private static let script = """
    set -eu
    type=$1; out=$2; cd "$3"; shift 3
    sum=$(for file in "$@"; do sha256sum "./${file#/}"; done | sha256sum | cut -c1-16)
    cat > "$out" <<END
    // Written by the build: see Plugins/EngineFingerprint.
    enum $type {
      static let fingerprint = "$sum"
    }
    END
    """
}
