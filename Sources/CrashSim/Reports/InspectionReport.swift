// InspectionReport.swift: the result of `faultline inspect` for one file, as a value; its JSON is
// this value. Invariants: nothing here opens, locks or changes the file; runs of the map are cut at
// the file's end, so no number of a malicious file overflows in later calculations.

import Engine
import Foundation
import LabCore
import Oracles

/// The content of a database file, and its faults.
package struct InspectionReport: JSONReport, Codable, Sendable {
  /// A root slot.
  package struct Slot: Codable, Sendable {
    /// `valid`, `invalid` or `empty`.
    package var state: String
    /// Its version, if it is valid.
    package var version: UInt64?
    /// Position of its version's top node.
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
    /// Number of rows according to the group.
    package var rows: UInt64
    /// Levels of the tree.
    package var depth: Int
    /// Number of readable nodes.
    package var nodes: Int
    /// Position of the root; 0 without rows.
    package var rootRefBytes: UInt64
  }

  /// A run of sectors with one use.
  package struct Run: Codable, Sendable, Hashable {
    /// Its content: `header`, a kind of node, `free`, `pending`, `unaccounted`, `unused`.
    package var use: String
    /// Its start.
    package var offsetBytes: UInt64
    /// Its length.
    package var sizeBytes: UInt64
  }

  /// All runs with one use together.
  package struct Space: Codable, Sendable, Hashable {
    /// Their content.
    package var use: String
    /// Their total size.
    package var sizeBytes: UInt64
    /// Their number.
    package var runCount: Int
  }

  /// The first fault.
  package struct Corruption: Codable, Sendable {
    /// The engine's code.
    package var code: String
    /// The contradiction, with both numbers.
    package var message: String
  }

  /// The counts of the engine's verification.
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

  /// Format of the JSON; increases when a field changes its meaning.
  package var reportVersion = 1
  /// The file.
  package var file: String
  /// Its size.
  package var fileSizeBytes: UInt64
  /// The number of the file's layout, if its header is valid.
  package var formatVersion: UInt32?
  /// Both root slots.
  package var slots: [Slot]
  /// The version that an open would choose.
  package var version: UInt64?
  /// The tables of that version.
  package var tables: [Table]
  /// Uses of the file's space, in order of first appearance.
  package var space: [Space]
  /// The whole file, ascending.
  package var map: [Run]
  /// The counts of an open and the engine's verification, if requested and successful.
  package var verification: Verification?
  /// The first fault, if any.
  package var corruption: Corruption?
  /// The results of the X-ray, the second reader of the format, for the same bytes.
  package var xray: XRayOpinion?

  /// Whether neither reader found a fault.
  package var isSound: Bool { corruption == nil && xray?.disagreement == nil }

  /// Inspects a file.
  /// - Parameters:
  ///   - path: The file.
  ///   - verifies: Also opens a copy in memory, like a program, and verifies it.
  ///   - key: The key of an encrypted file, 64 bytes; without it only the file header and the slots
  ///     are read.
  /// - Throws: `LabError` with code `.usage` if it is not a file, not a database of this engine, or
  ///   has another key.
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
    // Opening a pipe could block for ever, and a device has no size.
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

  /// The map with adjacent runs of one use joined, cut at the file's end.
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
