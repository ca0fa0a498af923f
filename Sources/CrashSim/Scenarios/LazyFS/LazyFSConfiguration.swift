// LazyFSConfiguration.swift: LazyFS's configuration file.

import FaultFS
import Foundation
import LabCore

/// What a configuration of LazyFS says.
package struct LazyFSConfiguration: Sendable {
  /// Pipe for commands.
  package var fifoPath: String?
  /// Pipe for what was completed.
  package var completedFifoPath: String?
  /// File for what LazyFS says; nil is the console.
  package var logFile: String?
  /// Size of the cache, which nothing but its usage is measured by.
  package var cacheBytes: UInt64 = 1 << 29
  package var faults: [LazyFSFault] = []
  /// What the file asks for and does not get.
  package var notes: [String] = []

  /// Reads a file.
  /// - Throws: `LabError` with code `.usage`, file and line, for what cannot be understood.
  package static func load(
    _ path: String, _ paths: LazyFSPaths
  ) throws(LabError) -> LazyFSConfiguration {
    guard let bytes = FileManager.default.contents(atPath: path), bytes.count <= 1 << 20 else {
      throw .usage("cannot read the LazyFS configuration \(path); it has at most 1 MiB")
    }
    return try parse(String(decoding: bytes, as: UTF8.self), file: path, paths)
  }

  /// Reads a text.
  package static func parse(
    _ text: String, file: String, _ paths: LazyFSPaths
  ) throws(LabError) -> LazyFSConfiguration {
    var configuration = LazyFSConfiguration()
    for table in try TOMLReader.read(text, file: file) {
      do throws(LabError) {
        try configuration.take(table, paths)
      } catch {
        throw .usage("\(file):\(table.line):1: \(error.message)")
      }
    }
    return configuration
  }

  private mutating func take(_ table: TOMLTable, _ paths: LazyFSPaths) throws(LabError) {
    let keys = LazyFSKeys(table.values)
    switch table.name {
    case "": try refuseUnknown(table, known: [])
    case "faults":
      try refuseUnknown(table, known: ["fifo_path", "fifo_path_completed"])
      fifoPath = try keys.string("fifo_path")
      completedFifoPath = try keys.string("fifo_path_completed")
    case "cache":
      try refuseUnknown(table, known: ["apply_eviction"])
      if try keys.boolean("apply_eviction") == true {
        notes.append("apply_eviction: pages that are not synced stay in the cache")
      }
    case "cache.simple":
      try refuseUnknown(table, known: ["custom_size", "blocks_per_page"])
      if let text = try keys.string("custom_size") { cacheBytes = try Self.bytes(text) }
    case "cache.manual":
      try refuseUnknown(table, known: ["io_block_size", "page_size", "no_pages"])
      let size = try keys.integer("page_size") ?? 4096
      let (bytes, overflow) = size.multipliedReportingOverflow(
        by: try keys.integer("no_pages") ?? 10)
      guard !overflow, bytes > 0 else { throw .usage("page_size and no_pages: give them from 1") }
      cacheBytes = UInt64(bytes)
    case "filesystem", "file system":
      try refuseUnknown(table, known: ["log_all_operations", "logfile"])
      logFile = try keys.string("logfile")
      if try keys.boolean("log_all_operations") == true {
        notes.append("log_all_operations: operations are recorded by --trace FILE, not logged")
      }
    case "injection": faults.append(try Self.injection(table, keys, paths))
    default: throw .usage("there is no table [\(table.name)]")
    }
  }

  private func refuseUnknown(_ table: TOMLTable, known: [String]) throws(LabError) {
    guard let unknown = table.values.keys.sorted().first(where: { !known.contains($0) }) else {
      return
    }
    throw .usage("[\(table.name)] has no key '\(unknown)'")
  }

  private static func injection(
    _ table: TOMLTable, _ keys: LazyFSKeys, _ paths: LazyFSPaths
  ) throws(LabError) -> LazyFSFault {
    let type = try keys.string("type")
    switch type {
    case "torn-op", "split_write": return try .torn(keys, isGroup: false, paths)
    case "torn-seq", "reorder": return try .torn(keys, isGroup: true, paths)
    case "clear-cache", "clear": return try .clear(keys, paths)
    default:
      throw .usage("type '\(type ?? "")': choose torn-op, torn-seq or clear-cache")
    }
  }

  /// `0.5GB`, `512mb`, `64k`.
  private static func bytes(_ text: String) throws(LabError) -> UInt64 {
    let number = text.prefix { $0.isNumber || $0 == "." }
    let units: [String: Double] = [
      "g": 0x1p30, "gb": 0x1p30, "m": 0x1p20, "mb": 0x1p20, "k": 0x1p10, "kb": 0x1p10,
    ]
    guard let value = Double(number), let unit = units[text.dropFirst(number.count).lowercased()],
      (1...1e15).contains(value * unit)
    else { throw .usage("custom_size '\(text.prefix(40))': write a number and GB, MB or KB") }
    return UInt64(value * unit)
  }
}
