// Support.swift: what the tests of the document store share: folders that go again, drawn numbers,
// and the real files with their notes.

import DocumentStore
import Fleece
import Foundation
import TestFiles

/// A folder that lives as long as the object.
final class TemporaryFolder: Sendable {
  let path: String

  init() throws {
    let name = "document-store-" + UUID().uuidString
    path = FileManager.default.temporaryDirectory.appending(path: name).path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// A new data file in it.
  func make(_ change: (inout DataFile.Options) -> Void = { _ in }) throws -> DataFile {
    try DataFile(path: bundle, options: Self.options(change))
  }

  /// Makes the bundle's folder alone.
  func makeBundle() throws {
    try FileManager.default.createDirectory(atPath: bundle, withIntermediateDirectories: false)
  }

  var bundle: String { path + "/test.cblite2" }

  /// Options with random bytes that follow from a seed.
  static func options(
    _ change: (inout DataFile.Options) -> Void = { _ in }
  ) -> DataFile.Options {
    var options = DataFile.Options()
    options.entropy = { count in
      var numbers = SeededNumbers(seed: 7)
      return (0..<count).map { _ in UInt8(truncatingIfNeeded: numbers.next()) }
    }
    change(&options)
    return options
  }
}

/// The real files of Tests/DocumentStoreTests/Golden, each with its notes.
enum Golden {
  static let names = [
    "basic", "collections", "conflict", "real-2.7", "real-2.8", "real-2.8-index",
    "real-3.0-tombstones", "real-3.1-collection", "real-3.1.9-indexes", "values", "vectors", "wal",
  ]
  /// Those without indexes of functions that the store does not have.
  static let plain = [
    "conflict", "real-2.7", "real-2.8", "real-3.0-tombstones", "real-3.1-collection", "values",
    "vectors",
  ]
  private static let archive = URL(filePath: #filePath)
    .deletingLastPathComponent().appending(path: "Golden/real.tar.gz").path

  /// Unpacks one of them.
  /// - Returns: The bundle's path.
  static func unpack(_ name: String, into folder: TemporaryFolder) throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: "/bin/tar")
    process.arguments = [
      "-xzf", archive, "-C", folder.path, "--wildcards", "\(name).*",
    ]
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw CocoaError(.fileReadCorruptFile) }
    return folder.path + "/\(name).cblite2"
  }

  /// The lines of a file's notes.
  static func notes(_ name: String, in folder: TemporaryFolder) throws -> [GoldenRow] {
    let text = try String(contentsOfFile: folder.path + "/\(name).docs.jsonl", encoding: .utf8)
    return try text.split(separator: "\n").map { line in
      let object = try JSONSerialization.jsonObject(with: Data(line.utf8))
      guard let fields = object as? [String: Any] else { throw CocoaError(.fileReadCorruptFile) }
      return GoldenRow(fields)
    }
  }
}

/// What the notes say of a row.
struct GoldenRow {
  let fields: [String: Any]

  init(_ fields: [String: Any]) { self.fields = fields }

  var table: String { fields["table"] as? String ?? "" }
  var id: String { fields["id"] as? String ?? "" }
  var revid: String { fields["revid"] as? String ?? "" }
  func number(_ name: String) -> Int64? { (fields[name] as? NSNumber)?.int64Value }
  func text(_ name: String) -> String? { fields[name] as? String }
  /// A decoded body; nil for JSON null.
  var body: Any? { fields["body"].flatMap { $0 is NSNull ? nil : $0 } }
  var hasTreeInBody: Bool { fields["body_is_tree"] as? Bool ?? false }
}

extension [UInt8] {
  /// Bytes of hexadecimal digits; nil for other texts.
  init?(hex text: String) {
    let digits = text.compactMap { $0.hexDigitValue.map(UInt8.init) }
    guard digits.count == text.count, digits.count % 2 == 0 else { return nil }
    self = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
  }

  /// The bytes as hexadecimal digits.
  var hex: String { map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() }
}

/// The code of the error that a call throws; nil when it throws none of the store's.
func code(_ body: () throws -> Void) -> DocumentStoreError.Code? {
  do { try body() } catch { return (error as? DocumentStoreError)?.code }
  return nil
}

/// Whether a text of JSON says a decoded value.
func isSameJSON(_ text: String, _ value: Any?) throws -> Bool {
  let object = try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
  guard let value else { return object is NSNull || (object as? [String: Any])?.isEmpty == true }
  return isSame(object, value)
}

/// Whether two decoded values of JSON are the same.
private func isSame(_ first: Any, _ second: Any) -> Bool {
  if let first = first as? [String: Any], let second = second as? [String: Any] {
    guard first.count == second.count else { return false }
    return first.allSatisfy { key, value in second[key].map { isSame(value, $0) } ?? false }
  }
  if let first = first as? [Any], let second = second as? [Any] {
    return first.count == second.count && zip(first, second).allSatisfy(isSame)
  }
  if let first = first as? String { return first == second as? String }
  if first is NSNull { return second is NSNull }
  if let first = first as? NSNumber, let second = second as? NSNumber {
    return first.doubleValue == second.doubleValue && first.int64Value == second.int64Value
  }
  return false
}
