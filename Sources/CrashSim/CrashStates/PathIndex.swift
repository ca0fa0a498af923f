// PathIndex.swift: the paths of each inode at each point of a trace, as the running program saw
// them.
// Invariant: built from the operations alone, independent of crashes.

import Recording

/// The paths of each inode at each point of a trace.
public struct PathIndex: Sendable {
  /// A name of an inode during a part of the trace.
  private struct Naming: Sendable {
    let parent: InodeNumber
    let name: FileName
    /// The name is valid at crash points `from..<until`.
    let from: Int
    var until: Int
  }

  private var namings: [InodeNumber: [Naming]] = [:]
  /// The paths at the end.
  private var lasting: Set<String> = []

  /// Replays the names of a trace.
  /// - Complexity: O(entries of the initial tree + events).
  public init(_ trace: Trace) {
    for (number, image) in trace.initial.inodes.sorted(by: { $0.key < $1.key }) {
      for (name, child) in image.entries.sorted(by: { $0.key < $1.key }) {
        add(child, number, name, from: 0)
      }
    }
    for (index, event) in trace.events.enumerated() {
      guard case .operation(let operation) = event.body else { continue }
      read(operation, at: index + 1)
    }
    for naming in namings.values.joined() where naming.until == .max {
      if let path = path(of: naming, at: trace.events.count) { lasting.insert(path) }
    }
  }

  /// Whether something has a path at the end.
  func isAtEnd(_ path: String) -> Bool { lasting.contains(path) }

  private mutating func read(_ operation: Operation, at point: Int) {
    switch operation {
    case .create(let inode, let parent, let name, _, _, _, _),
      .link(let inode, let parent, let name):
      add(inode, parent, name, from: point)
    case .remove(let inode, let parent, let name, _): end(inode, parent, name, at: point)
    case .rename(let inode, let from, let name, let to, let newName, let replaced):
      end(inode, from, name, at: point)
      if let replaced { end(replaced, to, newName, at: point) }
      add(inode, to, newName, from: point)
    case .renameWithWhiteout(
      let inode, let from, let name, let to, let newName, let replaced, let device, _):
      end(inode, from, name, at: point)
      add(device, from, name, from: point)
      if let replaced { end(replaced, to, newName, at: point) }
      add(inode, to, newName, from: point)
    case .exchange(let inode, let parent, let name, let other, let otherParent, let otherName):
      end(inode, parent, name, at: point)
      end(other, otherParent, otherName, at: point)
      add(other, parent, name, from: point)
      add(inode, otherParent, otherName, from: point)
    default: break
    }
  }

  private mutating func add(
    _ inode: InodeNumber, _ parent: InodeNumber, _ name: FileName, from point: Int
  ) {
    namings[inode, default: []].append(
      Naming(parent: parent, name: name, from: point, until: .max))
  }

  private mutating func end(
    _ inode: InodeNumber, _ parent: InodeNumber, _ name: FileName, at point: Int
  ) {
    guard
      let index = namings[inode]?.lastIndex(where: {
        $0.parent == parent && $0.name == name && $0.until == .max
      })
    else { return }
    namings[inode]?[index].until = point
  }

  /// All paths of an inode at a crash point, in the order of their creation; names are separated by
  /// `/`, and the root is the empty path.
  public func paths(of inode: InodeNumber, at crashPoint: Int) -> [String] {
    if inode == .root { return [""] }
    return (namings[inode] ?? []).compactMap { naming in
      guard naming.from <= crashPoint, crashPoint < naming.until else { return nil }
      return path(of: naming, at: crashPoint)
    }
  }

  /// The path of an inode for display at a crash point: its first one then; otherwise its last one
  /// before, marked as removed; otherwise its number.
  public func path(of inode: InodeNumber, at crashPoint: Int) -> String {
    if inode == .root { return "/" }
    if let path = paths(of: inode, at: crashPoint).first { return path }
    if let path = lastPath(of: inode, at: crashPoint) { return path + " (removed)" }
    return "inode \(inode)"
  }

  /// The last path that an inode has lost up to a crash point; nil when it never had one.
  func lastPath(of inode: InodeNumber, at crashPoint: Int = .max) -> String? {
    guard let last = namings[inode]?.last(where: { $0.until <= crashPoint }) else { return nil }
    return path(of: last, at: last.until - 1) ?? last.name.description
  }

  private func path(of naming: Naming, at crashPoint: Int) -> String? {
    var names = [naming.name.description]
    var directory = naming.parent
    // No path of a tree is deeper than its number of names; the limit is for invalid traces.
    for _ in 0..<4096 {
      if directory == .root { return names.reversed().joined(separator: "/") }
      guard
        let up = namings[directory]?.last(where: {
          $0.from <= crashPoint && crashPoint < $0.until
        })
      else { return nil }
      names.append(up.name.description)
      directory = up.parent
    }
    return nil
  }
}
