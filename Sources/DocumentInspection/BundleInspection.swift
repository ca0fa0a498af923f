// BundleInspection.swift: the result of `faultline inspect NAME.cblite2`, as a value; its JSON is
// this value. Invariants: the bundle is not changed; damage in one collection does not hide the
// others.

import DocumentStore
import Foundation

/// What a bundle of documents holds, and its faults.
package struct BundleInspection: Codable, Sendable {
  /// An index.
  package struct Index: Codable, Sendable {
    /// Its name.
    package var name: String
    /// `value`, `fullText`, `array`, `predictive` or `vector`.
    package var kind: String
    /// Its expressions: JSON, or SQL++ in files of the real library.
    package var expressions: String
  }

  /// A collection.
  package struct Collection: Codable, Sendable {
    /// Its name, with the scope's in front.
    package var name: String
    /// Documents that are not deleted.
    package var live = 0
    /// Tombstones.
    package var deleted = 0
    /// Documents with a conflict.
    package var conflicted = 0
    /// Documents with blobs.
    package var withBlobs = 0
    /// The sequence of the last change.
    package var lastSequence: Int64 = 0
    /// Rows that were removed.
    package var purgeCount: Int64 = 0
    /// Documents that expire.
    package var expiring = 0
    /// When the first of them does, in milliseconds since 1970.
    package var nextExpirationMilliseconds: Int64?
    /// Its indexes, by name.
    package var indexes: [Index] = []
  }

  /// The check of all contents.
  package struct Check: Codable, Sendable {
    /// Records that were checked.
    package var records: Int
    /// How many problems there are.
    package var problemCount: Int
    /// The parts that could not be checked.
    package var unchecked: [String]
  }

  /// Format of the JSON; rises when a field changes its meaning.
  package var reportVersion = 1
  /// The bundle.
  package var file: String
  /// The database's size.
  package var databaseSizeBytes: UInt64
  /// The size of its log.
  package var logSizeBytes: UInt64
  /// Blobs in the bundle.
  package var blobCount = 0
  /// Their size.
  package var blobSizeBytes: UInt64 = 0
  /// The number of the file's layout.
  package var formatVersion: Int64 = 0
  /// `oldTrees`, `trees` or `vectors`.
  package var versioning = ""
  /// The UUID that other programs may see.
  package var publicUUID = ""
  /// Names of properties that documents store as numbers.
  package var sharedKeys: [String] = []
  /// The collections, the default one first, and then by name.
  package var collections: [Collection] = []
  /// The results of the check, if it was asked for.
  package var check: Check?
  /// What is wrong.
  package var problems: [String] = []

  /// Whether nothing is wrong.
  package var isSound: Bool { problems.isEmpty }

  /// Whether a path is a bundle's.
  /// - Parameter path: The path.
  /// - Returns: Whether it is named as one, or is a folder with a database.
  package static func isBundle(_ path: String) -> Bool {
    path.hasSuffix(".cblite2") || path.hasSuffix(".cblite2/")
      || FileManager.default.fileExists(atPath: path + "/db.sqlite3")
  }

  /// Inspects a bundle.
  /// - Parameters:
  ///   - path: The bundle; it is only read.
  ///   - verifies: Also checks all contents.
  /// - Throws: `InspectionFailure` for what is not a bundle, or cannot be read by this version.
  /// - Complexity: O(documents); with `verifies` O(bytes).
  package init(path: String, verifies: Bool = false) throws(InspectionFailure) {
    let copy = try BundleCopy(of: path)
    file = path
    databaseSizeBytes = copy.sizesBytes.first ?? 0
    logSizeBytes = copy.sizesBytes.count > 1 ? copy.sizesBytes[1] : 0
    countBlobs(path)
    guard let opened = try open(copy) else { return }
    defer { try? opened.close() }
    do {
      formatVersion = try opened.setting("user_version") ?? 0
      try opened.read { snapshot in read(snapshot) }
      if verifies { check(opened) }
    } catch {
      problems.append(Self.text(of: error))
    }
  }

  /// Opens the copy; nil for damage that prevents it.
  private mutating func open(_ copy: BundleCopy) throws(InspectionFailure) -> DataFile? {
    do { return try Self.opened(copy) } catch {
      switch error.code {
      case .notADatabaseFile, .wrongFormat, .databaseTooOld, .databaseTooNew, .notFound,
        .cantOpenFile, .cantUpgradeDatabase:
        throw .usage(Self.text(of: error).replacing(copy.path, with: file))
      default:
        problems.append(Self.text(of: error).replacing(copy.path, with: file))
        return nil
      }
    }
  }

  /// The data file of a copy: for writing, if it need not be upgraded, since words of full-text
  /// indexes can be checked only then.
  static func opened(_ copy: BundleCopy) throws(DocumentStoreError) -> DataFile {
    var options = DataFile.Options()
    options.creates = false
    options.allowsUpgrade = false
    options.purgesExpiredOnOpen = false
    do throws(DocumentStoreError) { return try DataFile(path: copy.path, options: options) } catch {
      guard error.code == .cantUpgradeDatabase else { throw error }
      options.isReadOnly = true
      return try DataFile(path: copy.path, options: options)
    }
  }

  private mutating func countBlobs(_ path: String) {
    let folder = path + "/Attachments"
    for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    where name.hasSuffix(".blob") {
      let found = try? FileManager.default.attributesOfItem(atPath: folder + "/" + name)
      blobCount += 1
      blobSizeBytes &+= found?[.size] as? UInt64 ?? 0
    }
  }

  private mutating func read(_ snapshot: Snapshot) {
    attempt("the file") { report throws in
      report.sharedKeys = snapshot.sharedKeys.keys
      report.versioning = "\(try snapshot.versioning())"
      report.publicUUID = UUID(bytes: try snapshot.publicUUID())?.uuidString ?? ""
    }
    var names: [CollectionName] = []
    attempt("the collections") { _ throws in names = try BundleDocuments.collections(snapshot) }
    for name in names {
      attempt("collection \(name)") { report throws in
        report.collections.append(Collection(name: name.description))
        let index = report.collections.count - 1
        try report.collections[index].read(try snapshot.collection(name))
      }
    }
  }

  /// Adds what fails to the problems, and goes on.
  private mutating func attempt(_ place: String, _ body: (inout Self) throws -> Void) {
    do { try body(&self) } catch { problems.append("\(place): \(Self.text(of: error))") }
  }

  private mutating func check(_ file: DataFile) {
    do {
      let found = try file.verify()
      check = Check(
        records: found.recordCount, problemCount: found.problems.count + found.unlistedCount,
        unchecked: found.unchecked)
      problems += found.problems.map { Self.clean($0.description) }
    } catch {
      problems.append(Self.text(of: error))
    }
  }

  static func text(of error: any Error) -> String { clean("\(error)") }

  /// A text of a file as a line for a terminal.
  static func clean(_ text: String) -> String {
    String(
      String.UnicodeScalarView(
        text.unicodeScalars.prefix(2000).map { scalar in
          switch scalar.properties.generalCategory {
          case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: "\u{fffd}"
          default: scalar
          }
        }))
  }

  /// The result as JSON.
  /// - Returns: The text, with sorted keys.
  /// - Throws: An error of the encoder.
  package func json() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(self), as: UTF8.self)
  }
}

extension BundleInspection.Collection {
  fileprivate mutating func read(_ store: KeyStore) throws {
    lastSequence = try store.lastSequence()
    purgeCount = try store.purgeCount()
    indexes = try store.indexes().map { index in
      BundleInspection.Index(
        name: index.name, kind: "\(index.kind)", expressions: index.expressions)
    }
    var all = KeyStore.Enumeration()
    all.includesDeleted = true
    all.content = .head
    try store.enumerate(all) { record in
      if record.flags.contains(.deleted) { deleted += 1 } else { live += 1 }
      if record.flags.contains(.conflicted) { conflicted += 1 }
      if record.flags.contains(.hasAttachments) { withBlobs += 1 }
      if let time = record.expirationMilliseconds {
        expiring += 1
        nextExpirationMilliseconds = min(nextExpirationMilliseconds ?? time, time)
      }
      return true
    }
  }
}

extension UUID {
  /// A UUID of its bytes; nil unless there are 16.
  fileprivate init?(bytes: [UInt8]) {
    guard bytes.count == 16 else { return nil }
    let digits = bytes.map { String(format: "%02x", $0) }.joined()
    let ends = [8, 12, 16, 20, 32]
    var (start, parts) = (0, [Substring]())
    for end in ends {
      let range =
        digits.index(
          digits.startIndex, offsetBy: start)..<digits.index(digits.startIndex, offsetBy: end)
      parts.append(digits[range])
      start = end
    }
    self.init(uuidString: parts.joined(separator: "-"))
  }
}
