// BundleCopy.swift: a private copy of a bundle's database, so that looking at a bundle writes
// nothing in it. SQLite needs files beside a database with a write-ahead log, even to read it, and
// takes locks in them; a copy of the database and of its log is opened instead, and the log is
// replayed there. Invariant: the bundle is only read. Blobs are not copied: the copy's folder of
// blobs is a link.

import DocumentStore
import Foundation

/// A copy that lives as long as the object.
final class BundleCopy {
  /// The files that are copied: the database, and the commits that are not in it yet.
  private static let names = ["db.sqlite3", "db.sqlite3-wal"]
  private static let triesMax = 20

  /// The copy's bundle.
  let path: String
  private let folder: URL
  /// The sizes of the database and of its log.
  private(set) var sizesBytes: [UInt64] = []

  /// Copies the database of a bundle.
  /// - Throws: `InspectionFailure` when there is none, or it changes all the time.
  init(of bundle: String) throws(InspectionFailure) {
    let number = DataFile.Options().entropy(8).map { String($0, radix: 16) }.joined()
    folder = FileManager.default.temporaryDirectory.appending(path: "faultline-inspect-" + number)
    path = folder.path + "/copy.cblite2"
    for name in Self.names { try Self.check(bundle + "/" + name, isNeeded: name == Self.names[0]) }
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      // Blobs are read through it; nothing is written there.
      try FileManager.default.createSymbolicLink(
        atPath: path + "/Attachments",
        withDestinationPath: URL(filePath: bundle).standardizedFileURL.path + "/Attachments")
    } catch {
      throw .lab("cannot make a copy in \(folder.path): \(error.localizedDescription)")
    }
    try copy(bundle)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// Opening a pipe could block for ever, and a device has no size.
  private static func check(_ path: String, isNeeded: Bool) throws(InspectionFailure) {
    let resolved = URL(filePath: path).resolvingSymlinksInPath().path
    let type = (try? FileManager.default.attributesOfItem(atPath: resolved))?[.type]
    switch type as? FileAttributeType {
    case .typeRegular?: return
    case nil where !isNeeded: return
    case nil: throw .usage("\(path) does not exist or cannot be read; name a bundle NAME.cblite2")
    default: throw .usage("\(path) is not a file; name a bundle NAME.cblite2")
    }
  }

  private func copy(_ bundle: String) throws(InspectionFailure) {
    for _ in 0..<Self.triesMax {
      let before = Self.state(bundle)
      var sizes: [UInt64] = []
      do {
        for name in Self.names {
          let target = path + "/" + name
          try? FileManager.default.removeItem(atPath: target)
          guard FileManager.default.fileExists(atPath: bundle + "/" + name) else { continue }
          sizes.append(try Self.copy(bundle + "/" + name, to: target))
        }
      } catch {
        throw .usage("cannot read \(bundle): \(error.localizedDescription)")
      }
      if Self.state(bundle) == before {
        sizesBytes = sizes
        return
      }
      // Another process wrote meanwhile: the copies may be of different moments.
      Thread.sleep(forTimeInterval: 0.05)
    }
    throw .usage("\(bundle) changed during each of \(Self.triesMax) copies; stop its writer first")
  }

  /// Copies contents alone: the copy may be written, whatever the permissions of the file.
  private static func copy(_ path: String, to target: String) throws -> UInt64 {
    let source = try FileHandle(forReadingFrom: URL(filePath: path))
    defer { try? source.close() }
    try Data().write(to: URL(filePath: target))
    let output = try FileHandle(forWritingTo: URL(filePath: target))
    defer { try? output.close() }
    var size: UInt64 = 0
    while let chunk = try source.read(upToCount: 1 << 20), !chunk.isEmpty {
      try output.write(contentsOf: chunk)
      size += UInt64(chunk.count)
    }
    return size
  }

  private static func state(_ bundle: String) -> [String] {
    names.map { name in
      let found = try? FileManager.default.attributesOfItem(atPath: bundle + "/" + name)
      let time = (found?[.modificationDate] as? Date)?.timeIntervalSinceReferenceDate
      return "\(found?[.size] as? UInt64 ?? 0) \(time ?? 0) \(found?[.systemFileNumber] ?? 0)"
    }
  }
}

/// Why a bundle is not inspected.
package enum InspectionFailure: Error {
  /// It is not a bundle, or of another kind than this program reads.
  case usage(String)
  /// The program cannot do its work.
  case lab(String)
}
