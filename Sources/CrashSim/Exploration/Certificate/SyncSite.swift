// SyncSite.swift: the places of a program that issue syncs, as far as a trace shows them.
// For each sync the trace shows the call, its file, the changes of the file since its last sync,
// and its position in the workload's repeating pattern: the number of syncs since the last mark,
// and the preceding sync; with call stacks also the source lines. Syncs that agree in all of these
// belong to one site (docs/explanation/certificates.md).
// Invariant: sites depend only on the trace, and are in the order of their first syncs.

import CrashStates
import Findings
import Recording

/// Syncs issued by one place of the program, as far as the trace shows.
struct SyncSite: Sendable, Hashable {
  /// What the syncs have in common, in words.
  let text: String
  /// Indices of their events, ascending.
  let syncs: [Int]

  /// All sites of a trace.
  /// - Complexity: O(events).
  static func all(in trace: Trace) -> [SyncSite] {
    var finder = SyncSiteFinder(trace)
    for (index, event) in trace.events.enumerated() { finder.read(event, at: index) }
    return finder.sites.map { SyncSite(text: $0.text, syncs: $0.syncs) }
  }
}

/// Reads a trace from its start.
private struct SyncSiteFinder {
  /// Places in the pattern beyond this one are not told apart by their number.
  private static let positionMax = 8

  private let paths: PathIndex
  private let callSites: CallSites
  private let working: Set<Int>
  private var places: [String: Int] = [:]
  private(set) var sites: [(text: String, syncs: [Int])] = []
  /// The changes of each inode since its last sync.
  private var changes: [InodeNumber: Set<Change>] = [:]
  private var syncsSinceMark = 0
  private var lastSync: String?

  init(_ trace: Trace) {
    paths = PathIndex(trace)
    callSites = CallSites(trace)
    working = Set(trace.workingSyncs)
  }

  mutating func read(_ event: TraceEvent, at index: Int) {
    switch event.body {
    case .mark:
      syncsSinceMark = 0
      lastSync = nil
    case .operation(let operation):
      for (inode, change) in operation.changes { changes[inode, default: []].insert(change) }
      guard working.contains(index) else { return }
      switch operation {
      case .sync(let inode, let dataOnly):
        let isOfOpen = event.flags.contains(.openFlagSync)
        let call =
          isOfOpen
          ? (dataOnly ? "write with O_DSYNC" : "write with O_SYNC")
          : (dataOnly ? "fdatasync" : "fsync")
        add(index, "\(call) of '\(pattern(inode, at: index))'", changes.removeValue(forKey: inode))
      case .syncDirectory(let inode):
        add(
          index, "fsync of the directory '\(pattern(inode, at: index))'",
          changes.removeValue(forKey: inode))
      case .syncAll:
        add(index, "sync of everything", changes.values.reduce(into: []) { $0.formUnion($1) })
        changes = [:]
      default: break
      }
    }
  }

  private mutating func add(_ index: Int, _ call: String, _ changes: Set<Change>?) {
    let secured = (changes ?? []).sorted().map(\.rawValue)
    syncsSinceMark += 1
    let position =
      syncsSinceMark > Self.positionMax
      ? "more than \(Self.positionMax) syncs after a mark"
      : "sync \(syncsSinceMark) after a mark"
    let what = secured.isEmpty ? "nothing new" : secured.joined(separator: ", ")
    let place = callSites.places(of: index).map { " at \($0)" } ?? ""
    let text =
      "\(call) (\(what))\(place), \(position)" + (lastSync.map { ", behind \($0)" } ?? "")
    lastSync = call
    if let place = places[text] {
      sites[place].syncs.append(index)
    } else {
      places[text] = sites.count
      sites.append((text, [index]))
    }
  }

  /// The path with each number replaced by `N`, so that numbered files are equal.
  private func pattern(_ inode: InodeNumber, at index: Int) -> String {
    paths.path(of: inode, at: index).withNumbersReplaced
  }
}

/// A change of a file or directory that a sync may secure.
private enum Change: String, Comparable, CaseIterable {
  case created, written, allocated, truncated
  case named, renamed, removed, attributes

  static func < (a: Change, b: Change) -> Bool {
    (allCases.firstIndex(of: a) ?? 0) < (allCases.firstIndex(of: b) ?? 0)
  }
}

extension Operation {
  /// The files and directories that the operation changes, and how.
  fileprivate var changes: [(InodeNumber, Change)] {
    switch self {
    case .create(let inode, let parent, _, _, _, _, _): [(inode, .created), (parent, .named)]
    case .createNameless(let inode, _): [(inode, .created)]
    case .link(_, let parent, _): [(parent, .named)]
    case .remove(_, let parent, _, _): [(parent, .removed)]
    case .rename(_, let from, _, let to, _, _): [(from, .renamed), (to, .renamed)]
    case .renameWithWhiteout(_, let from, _, let to, _, _, let device, _):
      [(device, .created), (from, .renamed), (to, .renamed)]
    case .exchange(_, let parent, _, _, let otherParent, _):
      [(parent, .renamed), (otherParent, .renamed)]
    case .write(let inode, _, _): [(inode, .written)]
    case .truncate(let inode, _, _): [(inode, .truncated)]
    case .allocate(let inode, _, _, _, _, _): [(inode, .allocated)]
    case .setOwnership(let inode, _), .setExtendedAttribute(let inode, _, _),
      .setTimes(let inode, _, _):
      [(inode, .attributes)]
    case .sync, .syncDirectory, .syncAll, .close: []
    }
  }
}
