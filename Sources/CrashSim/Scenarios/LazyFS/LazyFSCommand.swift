// LazyFSCommand.swift: the commands that LazyFS takes from its pipe, one a line.

import FaultFS
import LabCore

/// A line of the pipe.
package enum LazyFSCommand: Hashable, Sendable {
  case clearCache
  case checkpoint
  case displayUsage
  case unsyncedReport
  case help
  /// Pages of a file reach the medium.
  case syncPages(PageSync)
  /// Files whose path fits are copied to a new folder in this one.
  case snapshot(files: Glob, save: String)
  /// A fault with its name.
  case fault(String, LazyFSFault)
  /// A fault that is none, and why.
  case invalid(String, String)
  case unknown(String)

  /// The names that `help` lists.
  package static let names = [
    "lazyfs::clear-cache", "lazyfs::cache-checkpoint", "lazyfs::display-cache-usage",
    "lazyfs::unsynced-data-report", "lazyfs::crash", "lazyfs::torn-op", "lazyfs::torn-seq",
    "lazyfs::sync-pages", "lazyfs::snapshot", "lazyfs::help",
  ]

  package init(parsing line: String, _ paths: LazyFSPaths) {
    let parts = line.split(separator: "::", omittingEmptySubsequences: false).map(String.init)
    guard parts.count > 1, parts[0] == "lazyfs" else {
      self = .unknown(line)
      return
    }
    switch parts[1] {
    case "clear-cache": self = .clearCache
    case "cache-checkpoint": self = .checkpoint
    case "display-cache-usage": self = .displayUsage
    case "unsynced-data-report": self = .unsyncedReport
    case "help": self = .help
    case "crash", "torn-op", "torn-seq", "sync-pages", "snapshot":
      do throws(LabError) {
        self = try Self.command(parts[1], Self.keys(parts[1], parts.dropFirst(2)), paths)
      } catch {
        self = .invalid(parts[1], error.message)
      }
    default: self = .unknown(line)
    }
  }

  private static func command(
    _ name: String, _ keys: [String: String], _ paths: LazyFSPaths
  ) throws(LabError) -> LazyFSCommand {
    switch name {
    case "crash": return .fault(name, try .crash(keys, paths))
    case "sync-pages": return .syncPages(try PageSync(LazyFSKeys(text: keys), paths))
    case "snapshot":
      guard let files = keys["files_rgx"], let save = keys["save"], save.hasPrefix("/") else {
        throw .usage("should specify 'files_rgx', and 'save' with the path of a directory")
      }
      return .snapshot(files: Glob(try paths.glob(whole: files)), save: save)
    default:
      return .fault(
        name, try .torn(LazyFSKeys(text: keys), isGroup: name == "torn-seq", paths))
    }
  }

  /// Which attributes a command has.
  private static let attributes = [
    "crash": ["timing", "op", "from_rgx", "to_rgx"],
    "sync-pages": ["timing", "pages", "file", "sync-other-files", "sync_other_files", "crash"],
    "snapshot": ["files_rgx", "save"],
  ]

  private static func keys(
    _ name: String, _ attributes: ArraySlice<String>
  ) throws(LabError) -> [String: String] {
    let known =
      Self.attributes[name]
      ?? ["file", "op", "persist", "parts", "parts_bytes", "occurrence", "return"]
    var keys: [String: String] = [:]
    for attribute in attributes {
      let pair = attribute.split(separator: "=", maxSplits: 1).map(String.init)
      guard pair.count == 2, known.contains(pair[0]) else {
        throw .usage("unknown attribute '\(attribute.prefix(60))'")
      }
      keys[pair[0]] = pair[1]
    }
    return keys
  }
}

extension PageSync {
  /// `lazyfs::sync-pages` of the pipe.
  fileprivate init(_ keys: LazyFSKeys, _ paths: LazyFSPaths) throws(LabError) {
    guard try keys.string("timing") == "now" else {
      throw .usage(
        "timing should be 'now': at an operation LazyFS itself dies without syncing pages")
    }
    guard let file = try keys.string("file"), let text = try keys.string("pages") else {
      throw .usage("should specify 'file' and 'pages'")
    }
    // LazyFS's own test calls the second half by the second name.
    let part = PageSync.Part(rawValue: text == "second-half" ? "last-half" : text)
    let pages: Pages
    if let part { pages = .part(part) } else { pages = try Self.numbered(keys) }
    let (others, alsoOthers, crash) = (
      try keys.boolean("sync_other_files"), try keys.boolean("sync-other-files"),
      try keys.boolean("crash")
    )
    self.init(
      path: try paths.glob(file), pages: pages, syncsOthers: others ?? alsoOthers ?? true,
      kills: crash ?? false)
  }

  private static func numbered(_ keys: LazyFSKeys) throws(LabError) -> Pages {
    let names = Part.allCases.map(\.rawValue).joined(separator: ", ")
    guard let numbers = try? keys.numbers("pages"), !numbers.isEmpty,
      numbers.allSatisfy({ $0 >= 0 })
    else { throw .usage("pages should be numbers from 0 or one of \(names)") }
    return .numbers(numbers.map { UInt64($0) })
  }
}
