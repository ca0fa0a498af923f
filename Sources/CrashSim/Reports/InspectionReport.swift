// InspectionReport.swift: what `faultline inspect` says of one file, as a value; its JSON is this
// value. Invariants: nothing here opens, locks or changes the file; runs of the map are cut at the
// file's end, so no number of a hostile file overflows in what follows from it.

import Engine
import Foundation
import LabCore
import Oracles

/// What a database file holds and what is wrong with it.
package struct InspectionReport: JSONReport, Codable, Sendable {
  /// A root slot.
  package struct Slot: Codable, Sendable {
    /// `valid`, `invalid` or `empty`.
    package var state: String
    /// Its version, when it is valid.
    package var version: UInt64?
    /// Where its version's top node stands.
    package var topRefBytes: UInt64?
    /// The part of the file that its version uses.
    package var logicalSizeBytes: UInt64?
    /// Why it is not valid.
    package var reason: String?
  }

  /// A column.
  package struct Column: Codable, Sendable {
    /// Its name.
    package var name: String
    /// `int` or `string`.
    package var type: String
  }

  /// A table of the newest version.
  package struct Table: Codable, Sendable {
    /// Its name.
    package var name: String
    /// Its columns without the key.
    package var columns: [Column]
    /// Rows, as the group counts them.
    package var rows: UInt64
    /// Levels of the tree.
    package var depth: Int
    /// Nodes that could be read.
    package var nodes: Int
    /// Where the root stands; 0 without rows.
    package var rootRefBytes: UInt64
  }

  /// A run of sectors with one use.
  package struct Run: Codable, Sendable, Hashable {
    /// What it holds: `header`, a kind of node, `free`, `pending`, `unaccounted`, `unused`.
    package var use: String
    /// Where it starts.
    package var offsetBytes: UInt64
    /// How long it is.
    package var sizeBytes: UInt64
  }

  /// All runs of one use together.
  package struct Space: Codable, Sendable, Hashable {
    /// What they hold.
    package var use: String
    /// Bytes of all of them.
    package var sizeBytes: UInt64
    /// How many they are.
    package var runCount: Int
  }

  /// The first thing that is wrong.
  package struct Corruption: Codable, Sendable {
    /// The engine's code.
    package var code: String
    /// What disagrees, with both numbers.
    package var message: String
  }

  /// What the engine's verification counted.
  package struct Verification: Codable, Sendable {
    /// Nodes that the version reaches.
    package var nodes: Int
    /// Rows of all tables.
    package var rows: UInt64
    /// Bytes of those nodes.
    package var reachableBytes: UInt64
    /// Bytes of free sectors.
    package var freeBytes: UInt64
    /// Bytes of pending sectors.
    package var pendingBytes: UInt64
  }

  /// Format of the JSON; rises when a field changes its meaning.
  package var reportVersion = 1
  /// The file.
  package var file: String
  /// Its size.
  package var fileSizeBytes: UInt64
  /// The number of the file's layout, when its header is right.
  package var formatVersion: UInt32?
  /// Both root slots.
  package var slots: [Slot]
  /// The version that an open would choose.
  package var version: UInt64?
  /// The tables of that version.
  package var tables: [Table]
  /// Uses of the file's space, in the order in which they come first.
  package var space: [Space]
  /// The whole file, ascending.
  package var map: [Run]
  /// What an open and the engine's verification counted, if asked for and if they succeeded.
  package var verification: Verification?
  /// The first thing that is wrong, if anything.
  package var corruption: Corruption?
  /// What the X-ray, the second reader of the format, says of the same bytes.
  package var xray: XRayOpinion?

  /// Whether nothing is wrong, in the eyes of both readers.
  package var isSound: Bool { corruption == nil && xray?.disagreement == nil }

  /// Inspects a file.
  /// - Parameters:
  ///   - path: The file.
  ///   - verifies: Also opens a copy in memory, as a program would, and verifies it.
  ///   - key: The key of an encrypted file, 64 bytes; without it only the file header and the slots
  ///     are read.
  /// - Throws: `LabError` with code `.usage` when it is not a file, no database of this engine, or
  /// one   of another key.
  /// - Complexity: O(bytes).
  package init(
    path: String, verifies: Bool = false, key: [UInt8]? = nil
  ) throws(LabError) {
    let found = try Self.inspect(path, key)
    file = path
    fileSizeBytes = found.fileSizeBytes
    formatVersion = found.formatVersion?.rawValue
    slots = found.slots.map(Slot.init)
    version = found.version?.rawValue
    tables = found.tables.map(Table.init)
    map = Self.runs(found)
    space = Self.summary(of: map)
    corruption = found.corruption.map(Corruption.init)
    if verifies, version != nil { try verify(path, key) }
    xray = try XRayOpinion(path, self)
  }

  private static func inspect(
    _ path: String, _ key: [UInt8]?
  ) throws(LabError) -> FileInspection {
    // A pipe would make the open wait for good, and a device has no size.
    let resolved = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    let attributes = try? FileManager.default.attributesOfItem(atPath: resolved)
    guard let type = attributes?[.type] as? FileAttributeType else {
      throw .usage("\(path): no such file; give the path of a database file")
    }
    guard type == .typeRegular else { throw .usage("\(path) is not a regular file") }
    let found: FileInspection
    do throws(EngineError) {
      found = try FileInspection.inspect(path: path, key: key)
    } catch {
      throw .usage("cannot read \(path): \(error)")
    }
    let unfit: Set<EngineError.Code> = [
      .notADatabase, .unsupportedFormat, .wrongKey, .notEncrypted,
    ]
    if let error = found.corruption, unfit.contains(error.code) {
      throw .usage("\(path): \(error)")
    }
    return found
  }

  private mutating func verify(_ path: String, _ key: [UInt8]?) throws(LabError) {
    guard let bytes = FileManager.default.contents(atPath: path) else {
      throw .usage("cannot read \(path)")
    }
    let backend = ImageBackend(path: path)
    backend.load(Array(bytes))
    do throws(EngineError) {
      var options = Database.Options()
      options.encryptionKey = key
      let database = try Database.open(backend: backend, options: options)
      verification = Verification(try database.verify())
      try database.close()
    } catch {
      if corruption == nil { corruption = Corruption(error) }
    }
  }

  // MARK: - Space

  /// The map with touching runs of one use joined, cut at the file's end.
  private static func runs(_ found: FileInspection) -> [Run] {
    var runs: [Run] = []
    for run in found.spaceMap where run.offsetBytes < found.fileSizeBytes {
      let size = min(run.sizeBytes, found.fileSizeBytes - run.offsetBytes)
      let use = "\(run.use)"
      if let last = runs.last, last.use == use,
        last.offsetBytes + last.sizeBytes == run.offsetBytes
      {
        runs[runs.count - 1].sizeBytes += size
      } else {
        runs.append(Run(use: use, offsetBytes: run.offsetBytes, sizeBytes: size))
      }
    }
    return runs
  }

  private static func summary(of runs: [Run]) -> [Space] {
    var order: [String] = []
    var sums: [String: Space] = [:]
    for run in runs {
      if sums[run.use] == nil { order.append(run.use) }
      let old = sums[run.use] ?? Space(use: run.use, sizeBytes: 0, runCount: 0)
      // Runs of a damaged file may overlap, so the sum may be any number.
      let (size, overflow) = old.sizeBytes.addingReportingOverflow(run.sizeBytes)
      sums[run.use] = Space(
        use: run.use, sizeBytes: overflow ? .max : size, runCount: old.runCount + 1)
    }
    return order.compactMap { sums[$0] }
  }
}

// MARK: - From the engine's values

extension InspectionReport.Slot {
  fileprivate init(_ slot: FileInspection.Slot) {
    switch slot {
    case .valid(let version, let topRefBytes, let logicalSizeBytes):
      self.init(
        state: "valid", version: version.rawValue, topRefBytes: topRefBytes,
        logicalSizeBytes: logicalSizeBytes)
    case .invalid(let reason): self.init(state: "invalid", reason: reason)
    case .empty: self.init(state: "empty")
    }
  }
}

extension InspectionReport.Table {
  fileprivate init(_ table: FileInspection.Table) {
    self.init(
      name: table.schema.name,
      columns: table.schema.columns.map {
        InspectionReport.Column(name: $0.name, type: "\($0.type)")
      },
      rows: table.rows, depth: table.depth, nodes: table.nodes, rootRefBytes: table.rootRefBytes)
  }
}

extension InspectionReport.Corruption {
  fileprivate init(_ error: EngineError) {
    self.init(code: error.code.description, message: error.message)
  }
}

extension InspectionReport.Verification {
  fileprivate init(_ report: VerifyReport) {
    self.init(
      nodes: report.nodes, rows: report.rows, reachableBytes: report.reachableBytes,
      freeBytes: report.freeBytes, pendingBytes: report.pendingBytes)
  }
}
