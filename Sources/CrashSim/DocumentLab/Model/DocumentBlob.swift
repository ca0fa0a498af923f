// DocumentBlob.swift: the contents of blobs, which follow from the document's ID and a size.

import DocumentStore
import Workload

/// The blobs of documents.
enum DocumentBlob {
  /// A blob's contents.
  static func contents(_ bytes: Int, of id: String) -> [UInt8] {
    let seed = Array(id.utf8) + [UInt8(truncatingIfNeeded: bytes), UInt8(bytes >> 8 & 255)]
    return (0..<bytes).map { seed[$0 % seed.count] &+ UInt8(truncatingIfNeeded: $0 / 7) }
  }

  /// A body with the name of a blob.
  static func body(_ body: DocumentValue, _ bytes: Int?, of id: String) -> DocumentValue {
    guard let bytes, case .dict(let pairs) = body else { return body }
    let digest = BlobDigest(of: contents(bytes, of: id))
    let name: [DocumentValue.Pair] = [
      DocumentValue.Pair("@type", .text("blob")),
      DocumentValue.Pair("digest", .text("\(digest)")),
      DocumentValue.Pair("length", .integer(Int64(bytes))),
    ]
    return .dict(pairs + [DocumentValue.Pair("blob", .dict(name))])
  }
}
