// LazyFSFault.swift: a fault of LazyFS in our terms: fault rules, and writes that are torn when the
// file system dies. docs/reference/lazyfs.md has the table.

import FaultFS
import LabCore

/// Where LazyFS's absolute paths lead: it names files by the root directory that it stands on.
package struct LazyFSPaths: Sendable {
  /// The mount point and the root directory, without a slash at the end.
  private let folders: [String]

  package init(mountPoint: String, root: String?) {
    folders = [mountPoint, root].compactMap { $0 }.map { path in
      var path = path[...]
      while path.count > 1, path.last == "/" { path = path.dropLast() }
      return String(path)
    }
  }

  /// The glob for a path, which may have wildcards.
  func glob(_ path: String) throws(LabError) -> String {
    guard path.hasPrefix("/") else { return path }
    for folder in folders where path.hasPrefix(folder + "/") {
      return String(path.dropFirst(folder.count + 1))
    }
    throw .usage(
      "file \(path): it lies neither in the mount nor in its root, which are "
        + folders.joined(separator: " and "))
  }

  /// The glob for a regular expression that may match anywhere in a path.
  func glob(anywhere pattern: String) throws(LabError) -> String {
    let glob = try Self.glob(of: inside(pattern) ?? pattern[...])
    // A path from the root of the mount has no slash before it.
    return glob.hasPrefix("/") ? "\(glob.dropFirst())**" : "**\(glob)**"
  }

  /// The glob for a regular expression of whole paths, which begin with the root directory.
  func glob(whole pattern: String) throws(LabError) -> String {
    if let inside = inside(pattern) { return String(try Self.glob(of: inside).dropFirst()) }
    guard pattern.hasPrefix(".*") else {
      throw .usage("files_rgx should begin with the mount, its root, or '.*'")
    }
    let glob = try Self.glob(of: pattern[...])
    // What '.*' leaves of a path may be all of it, with the slash before it.
    return glob.hasPrefix("**/") ? "**\(glob.dropFirst(3))" : glob
  }

  /// A pattern without the folder at its front, if it has one.
  private func inside(_ pattern: String) -> Substring? {
    folders.first { pattern.hasPrefix($0 + "/") }.map { pattern.dropFirst($0.count) }
  }

  private static func glob(of pattern: Substring) throws(LabError) -> String {
    var pattern = pattern
    var glob = ""
    while let character = pattern.popFirst() {
      switch character {
      case "." where pattern.first == "*":
        pattern = pattern.dropFirst()
        glob += "**"
      case ".": glob += "?"
      case "\\":
        guard let next = pattern.popFirst() else { throw refuse("a \\ at its end") }
        guard ".-_/".contains(next) else { throw refuse("\\\(next)") }
        glob.append(next)
      case "*", "+", "?", "|", "(", ")", "{", "}", "^", "$": throw refuse("\(character)")
      default: glob.append(character)
      }
    }
    return glob
  }

  private static func refuse(_ what: String) -> LabError {
    .usage("regular expressions may have text, '.', '.*', '\\.' and [a-z] here, not '\(what)'")
  }
}

/// A fault of LazyFS.
package struct LazyFSFault: Hashable, Sendable {
  package var rules: [FaultRule] = []
  package var tears: [WriteTear] = []

  /// LazyFS's names of operations.
  private static let kinds: [String: OperationKind] = [
    "unlink": .remove, "truncate": .truncate, "fsync": .sync, "write": .write, "create": .create,
    "access": .lookUp, "open": .open, "read": .read, "rename": .rename, "link": .link,
    "symlink": .create,
  ]

  private static func kind(_ operation: String?) throws(LabError) -> OperationKind {
    guard let operation, let kind = kinds[operation] else {
      throw .usage("op '\(operation ?? "")': choose \(kinds.keys.sorted().joined(separator: ", "))")
    }
    return kind
  }

  private static func moment(_ timing: String?) throws(LabError) -> FaultRule.Moment {
    guard let moment = timing.flatMap(FaultRule.Moment.init(rawValue:)) else {
      throw .usage("timing '\(timing ?? "")': should be 'before' or 'after'")
    }
    return moment
  }

  /// `lazyfs::crash` of the pipe.
  static func crash(_ keys: [String: String], _ paths: LazyFSPaths) throws(LabError) -> LazyFSFault
  {
    let kind = try kind(keys["op"])
    let hasTwoPaths = ["rename", "link", "symlink"].contains(keys["op"])
    let (from, to) = (keys["from_rgx"], keys["to_rgx"])
    guard hasTwoPaths ? from != nil || to != nil : from != nil && to == nil else {
      throw .usage(
        hasTwoPaths
          ? "should specify 'from_rgx' and/or 'to_rgx'"
          : "should specify 'from_rgx' regex (and not 'to_rgx')")
    }
    let glob = try paths.glob(anywhere: to ?? from ?? "")
    return LazyFSFault(rules: [
      FaultRule(
        when: .init([kind], path: glob), what: .killFileSystem(try moment(keys["timing"])))
    ])
  }

  /// `clear-cache` at an operation.
  static func clear(
    _ keys: LazyFSKeys, _ paths: LazyFSPaths
  ) throws(LabError) -> LazyFSFault {
    let operation = try keys.string("op")
    let kind = try kind(operation)
    let moment = try moment(try keys.string("timing"))
    let (from, to) = (try keys.string("from"), try keys.string("to"))
    guard let path = to ?? from else {
      throw .usage("should specify 'from'")
    }
    let effect: FaultRule.Effect =
      try keys.boolean("crash") == true ? .killFileSystem(moment) : .clearCache(moment)
    if let possible = effect.kinds, !possible.contains(kind) {
      throw .usage(
        "op '\(operation ?? "")' with crash=false: the cache is cleared at fsync, unlink or rename")
    }
    return LazyFSFault(rules: [
      FaultRule(
        when: .init([kind], path: try paths.glob(path), nth: try keys.occurrence()), what: effect)
    ])
  }

  /// `torn-op` and `torn-seq`.
  static func torn(
    _ keys: LazyFSKeys, isGroup: Bool, _ paths: LazyFSPaths
  ) throws(LabError) -> LazyFSFault {
    guard let file = try keys.string("file") else {
      throw .usage("the key 'file' is missing: give the path of the file")
    }
    let persist = try keys.numbers("persist")
    guard !persist.isEmpty, persist.allSatisfy({ $0 > 0 }) else {
      throw .usage("persist should be a list of numbers from 1, separated by commas")
    }
    var tear = WriteTear(
      path: try paths.glob(file), occurrence: try keys.occurrence(), persist: persist)
    if isGroup {
      let operation = try keys.string("op")
      guard operation == nil || operation == "write" else { throw .usage("op must be 'write'") }
      return LazyFSFault(tears: [tear])
    }
    let sizes = try keys.numbers("parts_bytes")
    let parts = try keys.integer("parts")
    guard (parts == nil) != sizes.isEmpty else {
      throw .usage("should specify 'parts' or 'parts_bytes', not both")
    }
    let count = parts ?? sizes.count
    guard (1...10_000).contains(count), sizes.allSatisfy({ $0 > 0 }),
      persist.allSatisfy({ $0 <= count })
    else { throw .usage("persist and parts: give numbers from 1, at most the number of parts") }
    tear.cut = parts.map { .equalParts($0) } ?? .sizes(sizes.map { UInt64($0) })
    return LazyFSFault(tears: [tear])
  }
}
