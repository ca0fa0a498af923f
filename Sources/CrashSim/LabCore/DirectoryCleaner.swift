// DirectoryCleaner.swift: [U] empties a directory; its names may be any bytes.
// Invariant: nothing outside of the directory changes, even while somebody who may write in it puts
// links in the place of directories: each is opened from its parent, and no link is followed.
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
  /// A directory below the one that is emptied, by the names that lead to it.
  private typealias Place = [[UInt8]]

  /// The directory, which stays.
  private let path: KernelPath
  private let isRoot = getuid() == 0
  private static let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
  /// O_PATH, missing in the Glibc module: a descriptor that needs no permission for the directory.
  private static let pathFlag: Int32 = 0o10000000

  /// A cleaner of an existing directory.
  package init(path: String) { self.path = KernelPath(path) }

  /// A cleaner of an existing directory.
  package init(path: KernelPath) { self.path = path }

  /// Removes everything in the directory; names may be any bytes.
  /// - Throws: `LabError` naming the path when a call fails, or when the path is a link.
  /// - Complexity: O(entries), and O(depth) more for each directory below level 128.
  package func clear() throws(LabError) {
    let root = step(path.characters, in: AT_FDCWD)
    guard root >= 0 else { throw failure("open", []) }
    var walk = Walk(root: root)
    defer { walk.leave() }
    // Each directory precedes its content, so the reverse order empties it first.
    var places: [Place] = []
    var open: [Place] = [[]]
    while let place = open.popLast() {
      places.append(place)
      let directory = try enter(place, &walk)
      allow(directory)
      for name in try names(of: directory, place) {
        if unsafe unlinkat(directory, KernelPath.terminated(name), 0) == 0 { continue }
        if errno == EISDIR {
          open.append(place + [name])
        } else {
          try must(-1, "unlink", place + [name])
        }
      }
    }
    for place in places.dropFirst().reversed() {
      let parent = try enter(place.dropLast(), &walk)
      let name = KernelPath.terminated(place[place.count - 1])
      try must(unsafe unlinkat(parent, name, AT_REMOVEDIR), "rmdir", place)
    }
  }

  /// The open directories from the one that is emptied to the one that was entered last.
  private struct Walk {
    private static let openMax = 128
    private let root: Int32
    private var kept: [(name: [UInt8], descriptor: Int32)] = []
    /// A directory deeper than those that are kept open; -1 for none.
    private var deepest: Int32 = -1

    init(root: Int32) { self.root = root }

    var directory: Int32 {
      deepest >= 0 ? deepest : kept.last?.descriptor ?? root
    }

    /// Goes back to the last directory that is also on the way to a place.
    /// - Returns: How many of the place's names are behind it.
    mutating func goBack(toward place: Place) -> Int {
      var count = 0
      while count < min(kept.count, place.count), kept[count].name == place[count] { count += 1 }
      drop(from: count)
      return count
    }

    mutating func go(into name: [UInt8], _ descriptor: Int32) {
      if kept.count < Self.openMax {
        kept.append((name, descriptor))
      } else {
        if deepest >= 0 { close(deepest) }
        deepest = descriptor
      }
    }

    mutating func leave() {
      drop(from: 0)
      close(root)
    }

    private mutating func drop(from count: Int) {
      if deepest >= 0 { close(deepest) }
      deepest = -1
      for item in kept[count...] { close(item.descriptor) }
      kept.removeSubrange(count...)
    }
  }

  /// Opens a directory, name by name from the last one on the way that is open; the walk closes it.
  private func enter(_ place: Place, _ walk: inout Walk) throws(LabError) -> Int32 {
    for index in walk.goBack(toward: place)..<place.count {
      let inner = step(KernelPath.terminated(place[index]), in: walk.directory)
      guard inner >= 0 else { throw failure("open", Array(place[...index])) }
      walk.go(into: place[index], inner)
    }
    return walk.directory
  }

  private func step(_ name: [CChar], in directory: Int32) -> Int32 {
    let inner = unsafe Glibc.openat(directory, name, Self.flags)
    guard inner < 0, errno == EACCES, !isRoot else { return inner }
    // A checker or a crash image may have removed its permissions.
    let handle = unsafe Glibc.openat(directory, name, Self.flags | Self.pathFlag)
    guard handle >= 0 else { return handle }
    defer { close(handle) }
    guard unsafe chmod("/proc/self/fd/\(handle)", 0o700) == 0 else { return -1 }
    return unsafe Glibc.openat(directory, name, Self.flags)
  }

  /// Gives its owner all permissions of a directory.
  private func allow(_ directory: Int32) {
    var about = stat()
    guard !isRoot, unsafe fstat(directory, &about) == 0, about.st_mode & 0o700 != 0o700
    else { return }
    _ = fchmod(directory, 0o700)
  }

  /// The names in a directory, without `.` and `..`.
  package static func names(in directory: KernelPath) throws(LabError) -> [[UInt8]] {
    guard let stream = unsafe opendir(directory.characters) else {
      throw .lab("opendir \(directory): \(describe(errno: errno))")
    }
    defer { unsafe closedir(stream) }
    return unsafe names(in: stream)
  }

  private func names(of directory: Int32, _ place: Place) throws(LabError) -> [[UInt8]] {
    let own = unsafe Glibc.openat(directory, ".", Self.flags)
    guard own >= 0 else { throw failure("open", place) }
    guard let stream = unsafe fdopendir(own) else {
      close(own)
      throw failure("fdopendir", place)
    }
    defer { unsafe closedir(stream) }
    return unsafe Self.names(in: stream)
  }

  private static func names(in stream: OpaquePointer) -> [[UInt8]] {
    var names: [[UInt8]] = []
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) {
        unsafe Array($0.prefix { $0 != 0 })
      }
      if name != Array(".".utf8) && name != Array("..".utf8) { names.append(name) }
    }
    return names
  }

  // MARK: Failures

  private func full(_ place: Place) -> KernelPath {
    place.reduce(path) { $0.appending($1) }
  }

  /// Another process may have removed it: a checker's child that is still ending.
  private func must(_ status: Int32, _ call: String, _ place: Place) throws(LabError) {
    if status < 0, errno != ENOENT { throw failure(call, place) }
  }

  private func failure(_ call: String, _ place: Place) -> LabError {
    .lab("\(call) \(full(place)): \(describe(errno: errno)), while emptying \(path)")
  }
}
