// BundleInspection+Text.swift: the result as lines for people.

import Foundation

extension BundleInspection {
  /// The result for people.
  /// - Returns: The lines.
  package func lines() -> [String] {
    var lines = [
      "bundle       \(Self.clean(file))",
      "database     \(databaseSizeBytes) bytes, log \(logSizeBytes) bytes",
      "blobs        \(blobCount), \(blobSizeBytes) bytes",
      "format       \(formatVersion), \(versioning), UUID \(publicUUID)",
      "shared keys  \(sharedKeys.count)"
        + (sharedKeys.isEmpty
          ? "" : ": " + Self.clean(sharedKeys.prefix(20).joined(separator: ", ")))
        + (sharedKeys.count > 20 ? ", …" : ""),
    ]
    for collection in collections { lines += Self.lines(of: collection) }
    if let check {
      lines.append("verified     \(check.records) records, \(check.problemCount) problems")
      lines += check.unchecked.map { "not checked  \(Self.clean($0))" }
    }
    lines += problems.map { "problem      \(Self.clean($0))" }
    lines.append(isSound ? "sound" : "damaged: \(problems.count) problems")
    return lines
  }

  private static func lines(of collection: Collection) -> [String] {
    var counts = ["\(collection.live) documents", "\(collection.deleted) deleted"]
    if collection.conflicted > 0 { counts.append("\(collection.conflicted) with conflicts") }
    if collection.withBlobs > 0 { counts.append("\(collection.withBlobs) with blobs") }
    counts.append("last sequence \(collection.lastSequence)")
    if collection.expiring > 0, let next = collection.nextExpirationMilliseconds {
      let date = Date(timeIntervalSince1970: Double(next) / 1000)
      counts.append(
        "\(collection.expiring) expire, the first at \(Date.ISO8601FormatStyle().format(date))")
    }
    return ["collection   \(collection.name): \(counts.joined(separator: ", "))"]
      + collection.indexes.map {
        "  index      \(clean($0.name)): \($0.kind) \(clean($0.expressions))"
      }
  }
}
