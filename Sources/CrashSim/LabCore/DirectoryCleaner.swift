// DirectoryCleaner.swift: [U] empties a directory; its names may be any bytes.
// Safety: buffers are passed to one system call each and not kept.

import Foundation
import Glibc

/// A path as passed to the kernel: bytes that need not be UTF-8.
package struct KernelPath: CustomStringConvertible {
  /// The bytes with a terminating NUL.
  package let characters: [CChar]

  package init(_ text: String) { characters = Self.terminated(Array(text.utf8)) }

  private init(characters: [CChar]) { self.characters = characters }

  package func appending(_ name: [UInt8]) -> KernelPath {
    KernelPath(
      characters: characters.dropLast() + [CChar(UInt8(ascii: "/"))]
        + Self.terminated(name))
  }

  package static func terminated(_ bytes: [UInt8]) -> [CChar] {
    bytes.map { CChar(bitPattern: $0) } + [0]
  }

  package var description: String {
    String(decoding: characters.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

/// Empties a directory.
package struct DirectoryCleaner {
  /// The directory, which stays.
  private let path: KernelPath
  private let isRoot = getuid() == 0

  /// A cleaner of an existing directory.
  package init(path: String) { self.path = KernelPath(path) }

  /// A cleaner of an existing directory.
  package init(path: KernelPath) { self.path = path }

  /// Removes everything in the directory; names may be any bytes.
  /// - Throws: `LabError` naming the path when a call fails.
  package func clear() throws(LabError) {
    // Each directory precedes its content, so the reverse order empties it first.
    var entries: [(path: KernelPath, isDirectory: Bool)] = []
    var open = [path]
    while let directory = open.popLast() {
      for name in try Self.names(in: directory) {
        let entry = directory.appending(name)
        var attributes = stat()
        try must(unsafe lstat(entry.characters, &attributes), "lstat", entry)
        let isDirectory = attributes.st_mode & Glibc.S_IFMT == Glibc.S_IFDIR
        entries.append((entry, isDirectory))
        guard isDirectory else { continue }
        // A checker or a crash image may have removed its permissions.
        if !isRoot { _ = unsafe chmod(entry.characters, 0o700) }
        open.append(entry)
      }
    }
    for (entry, isDirectory) in entries.reversed() {
      let status = unsafe isDirectory ? rmdir(entry.characters) : unlink(entry.characters)
      // Another process may have removed it: a checker's child that is still ending.
      if status < 0 && errno != ENOENT { try must(status, "remove", entry) }
    }
  }

  /// The names in a directory, without `.` and `..`.
  package static func names(in directory: KernelPath) throws(LabError) -> [[UInt8]] {
    guard let stream = unsafe opendir(directory.characters) else {
      throw .lab("opendir \(directory): \(describe(errno: errno))")
    }
    defer { unsafe closedir(stream) }
    var names: [[UInt8]] = []
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) {
        unsafe Array($0.prefix { $0 != 0 })
      }
      if name != Array(".".utf8) && name != Array("..".utf8) { names.append(name) }
    }
    return names
  }

  private func must(_ status: Int32, _ call: String, _ entry: KernelPath) throws(LabError) {
    guard status < 0 else { return }
    throw .lab("\(call) \(entry): \(describe(errno: errno)), while emptying \(path)")
  }
}
