// TraceFilePaths.swift: the path of an inode at each point in a trace's operations.

/// Follows names through a trace, for the column with paths for display.
struct PathTracker {
  private struct Place {
    var parent: InodeNumber
    var name: FileName
  }

  /// Deeper paths are cut: only a corrupt trace has a cycle.
  private static let depthMax = 512
  private var places: [InodeNumber: Place] = [:]
  private var cache: [InodeNumber: String] = [:]

  init(_ image: TreeImage) {
    for (parent, inode) in image.inodes.sorted(by: { $0.key < $1.key }) {
      for (name, child) in inode.entries.sorted(by: { $0.key < $1.key })
      where places[child] == nil {
        places[child] = Place(parent: parent, name: name)
      }
    }
  }

  /// The path without a leading slash; the root is `.`.
  mutating func path(of inode: InodeNumber) -> String {
    if inode == .root { return "." }
    if let known = cache[inode] { return known }
    var parts: [String] = []
    var current = inode
    while current != .root, let place = places[current], parts.count < Self.depthMax {
      parts.append(place.name.description)
      current = place.parent
    }
    let path = parts.isEmpty ? inode.description : parts.reversed().joined(separator: "/")
    cache[inode] = path
    return path
  }

  /// The path of a name that may no longer exist.
  mutating func path(of name: FileName, in parent: InodeNumber) -> String {
    parent == .root ? name.description : path(of: parent) + "/" + name.description
  }

  mutating func follow(_ operation: Operation) {
    switch operation {
    case .create(let inode, let parent, let name, type: _, ownership: _, target: _, device: _),
      .link(let inode, let parent, let name):
      places[inode] = Place(parent: parent, name: name)
      cache[inode] = nil
    case .rename(let inode, from: _, name: _, let to, let newName, replaced: _):
      places[inode] = Place(parent: to, name: newName)
      cache = [:]
    case .renameWithWhiteout(
      let inode, let from, let name, let to, let newName, replaced: _, let device, ownership: _):
      places[inode] = Place(parent: to, name: newName)
      places[device] = Place(parent: from, name: name)
      cache = [:]
    case .exchange(let inode, let parent, let name, let other, let otherParent, let otherName):
      places[inode] = Place(parent: otherParent, name: otherName)
      places[other] = Place(parent: parent, name: name)
      cache = [:]
    default: break
    }
  }
}
