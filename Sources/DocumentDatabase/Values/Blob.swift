// Blob.swift [U]: binary contents of a document. A document holds a dict with the digest; the
// contents are in a file of the database, written when the document is saved.

import DocumentStore
import Fleece
import Foundation
import Synchronization

/// Binary contents, with their type.
///
/// Contents of a stored blob are read when they are asked for. Any thread may use it.
public final class Blob: Sendable, Hashable, CustomStringConvertible {
  /// The key that marks a dictionary as another type's.
  public static let typeProperty = "@type"
  /// That type of a blob.
  public static let blobType = "blob"
  private static let digestKey = "digest"
  private static let lengthKey = "length"
  private static let contentTypeKey = "content_type"
  private static let dataKey = "data"

  private struct State {
    var pairs: [String: Item]
    /// Contents in memory.
    var contents: [UInt8]?
    /// The database that has the contents.
    var file: DataFile?
  }

  private let state: Mutex<State>

  /// A blob of contents in memory.
  /// - Parameters:
  ///   - contentType: The MIME type.
  ///   - data: The contents.
  public init(contentType: String, data: Data) {
    state = Mutex(State(pairs: Self.pairs(contentType, data.count), contents: Array(data)))
  }

  /// A blob of a stream's contents, which are read here.
  /// - Parameters:
  ///   - contentType: The MIME type.
  ///   - stream: The stream; it is opened and closed.
  public init(contentType: String, contentStream stream: InputStream) {
    stream.open()
    defer { stream.close() }
    var (contents, chunk) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 16))
    while true {
      let count = unsafe chunk.withUnsafeMutableBufferPointer { buffer in
        // Safety: the buffer has as many bytes as are asked for.
        guard let base = buffer.baseAddress else { return 0 }
        return unsafe stream.read(base, maxLength: buffer.count)
      }
      guard count > 0 else { break }
      contents.append(contentsOf: chunk[..<count])
    }
    state = Mutex(State(pairs: Self.pairs(contentType, contents.count), contents: contents))
  }

  /// A blob of a file's contents, which are read here.
  /// - Parameters:
  ///   - contentType: The MIME type.
  ///   - fileURL: The file.
  /// - Throws: The error of reading the file.
  public convenience init(contentType: String, fileURL: URL) throws {
    self.init(contentType: contentType, data: try Data(contentsOf: fileURL))
  }

  /// A blob of a document; nil for a dictionary that is none.
  init?(stored pairs: [String: Item], file: DataFile?) {
    guard pairs[Self.typeProperty]?.text == Self.blobType,
      pairs[Self.digestKey]?.text != nil || pairs[Self.dataKey] != nil
    else { return nil }
    var (pairs, contents) = (pairs, [UInt8]?.none)
    switch pairs[Self.dataKey] {
    case .data(let bytes): contents = bytes
    case .text(let text): contents = Data(base64Encoded: text).map { Array($0) }
    default: break
    }
    if contents != nil { pairs[Self.dataKey] = nil }
    state = Mutex(State(pairs: pairs, contents: contents, file: file))
  }

  /// The same blob as another object.
  init(copying blob: Blob) { state = Mutex(blob.state.withLock { $0 }) }

  private static func pairs(_ contentType: String, _ count: Int) -> [String: Item] {
    [
      typeProperty: .text(blobType), contentTypeKey: .text(contentType),
      lengthKey: .integer(Int64(count)),
    ]
  }

  /// The dict of a document.
  var stored: [String: Item] { state.withLock { $0.pairs } }

  /// The MIME type; nil when the document has none.
  public var contentType: String? { stored[Self.contentTypeKey]?.text }

  /// The contents' length in bytes.
  public var length: UInt64 { UInt64(clamping: stored[Self.lengthKey]?.int64 ?? 0) }

  /// The digest of the contents; nil before a document with the blob is saved.
  public var digest: String? { stored[Self.digestKey]?.text }

  /// The contents; nil when they are missing or damaged, or the database is closed.
  /// - Complexity: O(bytes).
  public var content: Data? {
    let (contents, pairs, file) = state.withLock { ($0.contents, $0.pairs, $0.file) }
    if let contents { return Data(contents) }
    guard let file, let digest = pairs[Self.digestKey]?.text.flatMap(BlobDigest.init) else {
      return nil
    }
    return (try? file.read { try $0.blob(digest) })?.map { Data($0) }
  }

  /// A stream of the contents; nil as with ``content``.
  public var contentStream: InputStream? { content.map { InputStream(data: $0) } }

  /// What the document has of it: type, digest, length.
  public var properties: [String: Any] { stored.mapValues { $0.plain() } }

  /// Whether a dictionary stands for a blob.
  /// - Parameter properties: The dictionary.
  /// - Returns: Whether its type is a blob's, and it has a digest or data.
  public static func isBlob(properties: [String: Any]) -> Bool {
    properties[typeProperty] as? String == blobType
      && (properties[digestKey] is String || properties[dataKey] != nil)
  }

  /// The properties as JSON.
  /// - Returns: The text.
  public func toJSON() -> String { Item.blob(self).json }

  /// Stores the contents, if the database does not have them: they are in memory, or in another
  /// one.
  func install(_ transaction: WriteTransaction, in target: DataFile) throws {
    let (contents, file) = state.withLock { ($0.contents, $0.file) }
    guard file !== target, let contents = try contents ?? foreignContents(file) else { return }
    let digest = try transaction.putBlob(contents)
    state.withLock { state in
      state.contents = contents
      state.pairs[Self.digestKey] = .text(digest.description)
      state.pairs[Self.lengthKey] = .integer(Int64(contents.count))
    }
  }

  private func foreignContents(_ file: DataFile?) throws -> [UInt8]? {
    guard let file, let digest = digest.flatMap(BlobDigest.init) else { return nil }
    return try file.read { try $0.blob(digest) }
  }

  /// The database that has the contents, once the transaction is committed.
  func installed(in file: DataFile) {
    state.withLock { state in
      guard state.pairs[Self.digestKey] != nil, state.contents != nil else { return }
      state.file = file
      state.contents = nil
    }
  }

  /// Whether both have the same digest, or the same contents.
  /// - Parameters:
  ///   - first: A blob.
  ///   - second: Another one.
  /// - Returns: Whether they are equal.
  public static func == (first: Blob, second: Blob) -> Bool {
    if first === second { return true }
    if let digest = first.digest, let other = second.digest { return digest == other }
    return first.content == second.content
  }

  /// Hashes the length.
  /// - Parameter hasher: The hasher.
  public func hash(into hasher: inout Hasher) { hasher.combine(length) }

  /// Type and length.
  public var description: String { "Blob[\(contentType ?? "?"); \(length) bytes]" }
}
