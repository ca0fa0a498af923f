// DatabaseConfiguration.swift: where and how a database is opened.

import DocumentStore
import Foundation

/// How a database is opened.
public struct DatabaseConfiguration: Sendable {
  /// The folder that databases are in unless it is set: the process's current one.
  public static var defaultDirectory: String { FileManager.default.currentDirectoryPath }

  /// The folder that the database is in.
  public var directory: String
  /// Whether each change is durable when it returns.
  ///
  /// Without it a power cut may lose the last changes, in order, and never a part of one.
  public var fullSync: Bool
  /// Settings of the layer below.
  var store: @Sendable (inout DataFile.Options) -> Void = { _ in }

  /// The usual configuration: the current folder, without full sync.
  public init() {
    directory = Self.defaultDirectory
    fullSync = false
  }

  /// A copy of another configuration.
  /// - Parameter config: The other one; nil for the usual one.
  public init(config: DatabaseConfiguration?) { self = config ?? DatabaseConfiguration() }

  /// The bundle of a database.
  func path(_ name: String) throws -> String {
    guard !name.isEmpty, !name.utf8.contains(where: { $0 == 0 || $0 == 0x2f }),
      name.utf8.count <= 200
    else {
      throw DatabaseError(
        CBLError.invalidParameter,
        "no database can be named '\(name.prefix(60))'; use 1 to 200 bytes without '/'")
    }
    return directory + "/" + name + ".cblite2"
  }

  var options: DataFile.Options {
    var options = DataFile.Options()
    options.sync = fullSync ? .full : .normal
    store(&options)
    return options
  }
}
