// InspectionReport+XRay.swift: the X-ray's results for an inspected file, and whether it agrees
// with the engine: on validity, version, content of the tables and the use of every sector.

import Foundation
import LabCore
import Oracles

extension InspectionReport {
  /// The results of the second reader of the format.
  package struct XRayOpinion: Codable, Sendable {
    /// Whether it found no faults.
    package var isSound: Bool
    /// Whether the file is encrypted; then it reads only the slots.
    package var isEncrypted: Bool
    /// The version that it would choose.
    package var version: UInt64?
    /// Number of nodes read.
    package var nodes: Int
    /// Number of rows read, of all tables.
    package var rows: UInt64
    /// Number of pairs read, of all indexes.
    package var pairs: UInt64
    /// Number of leaves that are unchanged in the file, with edits next to the link.
    package var patchedLeaves: Int
    /// Its faults, in the order in which they were found.
    package var faults: [String]
    /// The whole file, ascending, as it interprets it.
    package var map: [Run]
    /// The disagreement between the two readers.
    package var disagreement: String?

    init(_ path: String, _ report: InspectionReport) throws(LabError) {
      guard let bytes = FileManager.default.contents(atPath: path) else {
        throw .usage("cannot read \(path)")
      }
      let xray = XRay(Array(bytes))
      isSound = xray.isSound
      isEncrypted = xray.isEncrypted
      version = xray.chosen?.version
      nodes = xray.nodes.count
      rows = xray.rowCount
      pairs = xray.pairCount
      patchedLeaves = xray.patchedLeafCount
      faults = xray.faults.map(\.description)
      map = xray.isEncrypted ? [] : Self.map(of: xray)
      disagreement = disagreement(with: report, xray)
    }

    private func disagreement(with report: InspectionReport, _ xray: XRay) -> String? {
      // Without the key, neither has read the version of an encrypted file.
      if isEncrypted, report.version == nil { return nil }
      if version != report.version, isEncrypted || (isSound && report.corruption == nil) {
        let other = report.version.map { "\($0)" } ?? "none"
        return "the X-ray chooses version \(version.map { "\($0)" } ?? "none"), the engine \(other)"
      }
      if isEncrypted { return nil }
      if let corruption = report.corruption {
        return isSound ? "the engine says \(corruption.message), the X-ray finds nothing" : nil
      }
      if let fault = faults.first { return "the X-ray says \(fault), the engine finds nothing" }
      let tables = xray.tables.map { "\($0.name): \($0.tree.count) rows" }
      let others = report.tables.map { "\($0.name): \($0.rows) rows" }
      if tables != others { return "the X-ray finds tables \(tables), the engine \(others)" }
      if let place = zip(map, report.map).first(where: { $0 != $1 }) {
        return "the X-ray finds \(place.0.use) at \(place.0.offsetBytes) + \(place.0.sizeBytes), "
          + "the engine \(place.1.use) at \(place.1.offsetBytes) + \(place.1.sizeBytes)"
      }
      return map.count == report.map.count
        ? nil : "the X-ray finds \(map.count) runs of sectors, the engine \(report.map.count)"
    }

    /// One line of text.
    var line: String {
      if isEncrypted { return "X-ray: the file is encrypted; of it the X-ray sees the slots only" }
      let patched = patchedLeaves > 0 ? ", \(patchedLeaves) leaves patched" : ""
      let read = "\(nodes) nodes, \(rows) rows, \(pairs) pairs of indexes\(patched)"
      guard let fault = faults.first else { return "X-ray: sound, \(read)" }
      return "X-ray: damaged, \(read) read; \(fault)"
    }

    /// The use of every sector; names are those of the engine's map.
    private static func map(of xray: XRay) -> [Run] {
      let sectorBytes: UInt64 = 4096
      let sectors = (xray.fileSizeBytes + sectorBytes - 1) / sectorBytes
      let end = min((xray.chosen?.logicalSizeBytes ?? 0) / sectorBytes, sectors)
      var uses = [String](repeating: "unused", count: Int(sectors))
      for sector in 0..<Int(end) { uses[sector] = "unaccounted" }
      for sector in 0..<min(3, uses.count) { uses[sector] = "header" }
      func fill(_ first: UInt64, _ count: UInt64, _ use: String) {
        // Spans and nodes were claimed, so they lie inside the file.
        for sector in first..<first + count where sector < sectors { uses[Int(sector)] = use }
      }
      for span in xray.spans {
        fill(span.start, span.count, span.released == 0 ? "free" : "pending")
      }
      for node in xray.nodes {
        let count = (UInt64(node.sizeBytes) + sectorBytes - 1) / sectorBytes
        fill(node.refBytes / sectorBytes, count, name(of: node.kind))
      }
      var runs: [Run] = []
      for (sector, use) in uses.enumerated() {
        let offset = UInt64(sector) * sectorBytes
        let size = min(sectorBytes, xray.fileSizeBytes - offset)
        if runs.last?.use == use {
          runs[runs.count - 1].sizeBytes += size
        } else {
          runs.append(Run(use: use, offsetBytes: offset, sizeBytes: size))
        }
      }
      return runs
    }

    private static func name(of kind: XRay.Kind) -> String {
      switch kind {
      case .longValue: "string"
      case .listSegment: "freeListSegment"
      default: "\(kind)"
      }
    }
  }
}
