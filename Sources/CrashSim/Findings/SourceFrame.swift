// SourceFrame.swift: one frame of a call stack for display, and the selection of those frames that
// show where in a program an operation comes from.

import Recording

/// A place in the source of a program under test.
public struct SourceFrame: Codable, Hashable, Sendable {
  /// The function, without its parameters; nil if unknown.
  public var function: String?
  /// The source file as passed to the compiler; nil if unknown.
  public var file: String?
  /// The line in it.
  public var line: Int?
  /// The program or library.
  public var module: String
  /// The return address, relative to the module's file.
  public var address: UInt64

  /// `CommitWriter.swift:88`, or otherwise `program+0x1a2b`.
  public var place: String {
    if let file, let line { return "\(Self.name(of: file)):\(line)" }
    return "\(Self.name(of: module))+0x\(String(address, radix: 16))"
  }

  /// The place, and the function if known.
  var text: String { place + (function.map { " in \($0)" } ?? "") }

  private static func name(of path: String) -> String {
    String(path.split(separator: "/").last ?? "?")
  }

  /// Sources and types whose calls do not show their purpose: the engine's storage layer, and its
  /// replacement when Faultline records a recovery.
  private static let storageLayers = [
    "/Engine/Storage/", "/CrashSim/Oracles/ImageBackend.swift",
    "/CrashSim/Recording/Trace/OwnCallStacks.swift",
  ]
  private static let storageTypes = ["StorageBackend.", "closure in StorageBackend."]
  /// Libraries whose frames are shown only if there are no others.
  private static let systemLibraries = ["libc.so", "ld-linux", "libpthread.so", "libswift"]

  /// True for a frame of the layer that makes the system calls.
  var isOfStorageLayer: Bool {
    Self.storageLayers.contains { file?.contains($0) ?? false }
      || Self.storageTypes.contains { function?.hasPrefix($0) ?? false }
  }

  private var isOfSystem: Bool {
    Self.systemLibraries.contains { Self.name(of: module).hasPrefix($0) }
  }

  /// The frames that best show where an operation comes from.
  /// - Parameters:
  ///   - frames: A call stack, starting at the innermost frame.
  ///   - count: Most frames.
  /// - Returns: The innermost frames with source lines outside of the storage layer; without any,
  ///   the innermost of the program.
  static func telling(_ frames: [SourceFrame], count: Int) -> [SourceFrame] {
    let withLines = frames.filter { $0.line != nil }
    let choices = [
      withLines.filter { !$0.isOfStorageLayer }, withLines,
      frames.filter { !$0.isOfSystem }, frames,
    ]
    return Array((choices.first { !$0.isEmpty } ?? []).prefix(count))
  }
}

/// The place in the program that called an operation.
public struct CallSite: Codable, Hashable, Sendable {
  /// Index of the operation's event.
  public var event: Int
  /// The most informative frames, starting at the innermost.
  public var frames: [SourceFrame]

  /// For example `#7 at Save.swift:12 in save ← main.swift:3 in main`.
  public var text: String {
    "#\(event) at " + frames.map(\.text).joined(separator: " ← ")
  }
}
