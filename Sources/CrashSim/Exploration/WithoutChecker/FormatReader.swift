// FormatReader.swift: whether a file can be opened, asked of a Python process that stays.
// The lab itself opens nothing: a reader that crashes on damaged bytes takes only its own process.
// Invariant: the same bytes get the same answer; one that cannot be had is no complaint.

import CrashStates
import FaultFS
import Foundation
import Glibc
import LabCore
import Recording
import Synchronization

/// What a reader says of a file.
enum ReadVerdict: Sendable, Hashable {
  /// It is whole; of a database, with what identifies its rows.
  case readable(rows: String?)
  case unreadable(String)
  /// Nothing here reads the format.
  case unknown

  var isReadable: Bool { if case .readable = self { true } else { false } }
}

/// Opens files of known formats, on copies.
final class FormatReader: Sendable {
  private struct State {
    var process: LineProcess?
    var isAbsent = false
    var known: [Int: ReadVerdict] = [:]
  }

  /// More answers than these are not remembered.
  private static let knownMax = 50_000
  private static let timeoutSeconds = 20

  private let directory: String
  private let state = Mutex(State())

  /// - Parameter directory: An existing directory of its own, for the copies.
  init(directory: String) { self.directory = directory }

  /// Says whether a file can be opened.
  /// - Parameters:
  ///   - format: What it is.
  ///   - bytes: Its content.
  ///   - companions: What lies beside it, by what the names add.
  /// - Returns: What its reader says.
  /// - Throws: `LabError` when a copy cannot be written, or the lab is asked to stop.
  func verdict(
    _ format: KnownFormat, _ bytes: [UInt8], companions: [String: [UInt8]]
  ) throws(LabError) -> ReadVerdict {
    var hasher = Hasher()
    hasher.combine(format)
    hasher.combine(bytes)
    for (name, content) in companions.sorted(by: { $0.key < $1.key }) {
      hasher.combine(name)
      hasher.combine(content)
    }
    return try known(hasher.finalize(), format, .file(bytes, companions))
  }

  /// Says whether a directory can be opened: a database of many files, a repository.
  /// - Parameters:
  ///   - format: What it is.
  ///   - tree: What it holds.
  /// - Returns: What its reader says.
  /// - Throws: `LabError` when a copy cannot be written, or the lab is asked to stop.
  func verdict(_ format: KnownFormat, _ tree: TreeImage) throws(LabError) -> ReadVerdict {
    var hasher = Hasher()
    hasher.combine(format)
    hasher.combine(tree)
    return try known(hasher.finalize(), format, .directory(tree))
  }

  /// What is copied for a reader.
  private enum Copy: Sendable {
    case file([UInt8], [String: [UInt8]])
    case directory(TreeImage)
  }

  private func write(_ copy: Copy, _ format: KnownFormat) throws(LabError) -> String {
    switch copy {
    case .file(let bytes, let companions): return try write(bytes, companions, format)
    case .directory(let tree):
      let path = "\(directory)/opened"
      if !PathCalls.isDirectory(path) { try PathCalls.makeDirectory(path) }
      // What the last reader changed is put right, too.
      try DirectoryUpdater.update(path, to: tree)
      return path
    }
  }

  /// The answer about some content, asked for once.
  private func known(
    _ key: Int, _ format: KnownFormat, _ copy: Copy
  ) throws(LabError) -> ReadVerdict {
    try state.withLock { (state) throws(LabError) in
      if let verdict = state.known[key] { return verdict }
      let verdict = try ask(format, copy, &state)
      if state.known.count < Self.knownMax { state.known[key] = verdict }
      return verdict
    }
  }

  private func ask(
    _ format: KnownFormat, _ copy: Copy, _ state: inout State
  ) throws(LabError) -> ReadVerdict {
    guard !state.isAbsent else { return .unknown }
    guard let python = Self.python else {
      state.isAbsent = true
      return .unknown
    }
    // A child ends with the thread that started it, and checkers' threads end with each model: one
    // that has gone is started again before it counts against the file.
    for _ in 0..<2 {
      let path = try write(copy, format)
      if state.process == nil {
        state.process = try LineProcess(command: [python, "-c", Self.program])
      }
      guard let process = state.process else { return .unknown }
      let answer = try process.ask(
        Array("\(format.rawValue) \(path)\n".utf8), timeoutSeconds: Self.timeoutSeconds)
      if case .line(let line) = answer {
        return Self.verdict(String(decoding: line, as: UTF8.self))
      }
      state.process = nil
    }
    return .unreadable("its reader crashed or hung")
  }

  private static func verdict(_ text: String) -> ReadVerdict {
    if text.hasPrefix("ok") {
      return .readable(rows: text.count > 3 ? String(text.dropFirst(3)) : nil)
    }
    return text.hasPrefix("bad ") ? .unreadable(String(text.dropFirst(4))) : .unknown
  }

  /// Writes the copies; what a reader left of the last ones goes.
  private func write(
    _ bytes: [UInt8], _ companions: [String: [UInt8]], _ format: KnownFormat
  ) throws(LabError) -> String {
    let path = "\(directory)/file"
    for name in format.companions + ["-shm"] {
      try? FileManager.default.removeItem(atPath: path + name)
    }
    for (name, content) in companions.merging(["": bytes], uniquingKeysWith: { a, _ in a }) {
      guard FileManager.default.createFile(atPath: path + name, contents: Data(content)) else {
        throw .lab("cannot write \(path + name)")
      }
    }
    return path
  }

  private static let python: String? = ["/usr/bin/python3", "/usr/local/bin/python3"]
    .first { PathCalls.canAccess($0, X_OK) }

  /// The formats that nothing here reads; all when there is no Python.
  /// - Throws: `LabError` when Python cannot be started.
  static func lacking() throws(LabError) -> [KnownFormat] {
    guard let python else { return KnownFormat.allCases }
    let process = try LineProcess(command: [python, "-c", program, "lacking"])
    guard case .line(let line) = try process.poll(seconds: timeoutSeconds) else {
      return KnownFormat.allCases
    }
    let words = String(decoding: line, as: UTF8.self).split(separator: " ").map(String.init)
    return KnownFormat.allCases.filter { words.contains($0.rawValue) }
  }
}
