// LazyFSCommand.swift: the commands that LazyFS takes from its pipe, one a line.

import LabCore

/// A line of the pipe.
package enum LazyFSCommand: Hashable, Sendable {
  case clearCache
  case checkpoint
  case displayUsage
  case unsyncedReport
  case help
  /// A fault with its name.
  case fault(String, LazyFSFault)
  /// A fault that is none, and why.
  case invalid(String, String)
  case unknown(String)

  /// The names that `help` lists.
  package static let names = [
    "lazyfs::clear-cache", "lazyfs::cache-checkpoint", "lazyfs::display-cache-usage",
    "lazyfs::unsynced-data-report", "lazyfs::crash", "lazyfs::torn-op", "lazyfs::torn-seq",
    "lazyfs::help",
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
    case "crash", "torn-op", "torn-seq":
      do throws(LabError) {
        self = .fault(parts[1], try Self.fault(parts[1], Array(parts.dropFirst(2)), paths))
      } catch {
        self = .invalid(parts[1], error.message)
      }
    case "sync-pages", "snapshot": self = .invalid(parts[1], Self.refusals[parts[1]] ?? "")
    default: self = .unknown(line)
    }
  }

  /// Commands of LazyFS that are refused, and what to do instead.
  private static let refusals = [
    "sync-pages": "pages cannot be chosen by a command here; a fault rule with 'on: sync' and "
      + "'keep' chooses them at a sync (docs/reference/faults.md)",
    "snapshot": "the root directory is written when the mount ends; copy the files from the mount, "
      + "or record with --trace, which holds every moment",
  ]

  private static func fault(
    _ name: String, _ attributes: [String], _ paths: LazyFSPaths
  ) throws(LabError) -> LazyFSFault {
    let known =
      name == "crash"
      ? ["timing", "op", "from_rgx", "to_rgx"]
      : ["file", "op", "persist", "parts", "parts_bytes", "occurrence", "return"]
    var keys: [String: String] = [:]
    for attribute in attributes {
      let pair = attribute.split(separator: "=", maxSplits: 1).map(String.init)
      guard pair.count == 2, known.contains(pair[0]) else {
        throw .usage("unknown attribute '\(attribute.prefix(60))'")
      }
      keys[pair[0]] = pair[1]
    }
    if name == "crash" { return try .crash(keys, paths) }
    return try .torn(LazyFSKeys(text: keys), isGroup: name == "torn-seq", paths)
  }
}
