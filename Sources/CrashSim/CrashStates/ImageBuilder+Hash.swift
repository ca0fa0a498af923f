// ImageBuilder+Hash.swift: the hash of the reachable tree, updated from changed nodes upward. A
// directory has at most one name in every state (ensured by UnitTableBuilder), so everything below
// the root is a tree; unreachable directories can form a cycle, hence the depth limit on the way
// up.

extension ImageBuilder {
  /// Depth limit on the way up; paths longer than the system's limit do not occur.
  private static let maximumDepth = 4096

  func markStale(_ node: ImageNode) {
    if node.isStale { return }
    node.isStale = true
    staleNodes.append(node)
  }

  /// The hash of the reachable tree: names, types, ownership, attributes, sizes, bytes, hard links.
  /// - Complexity: O(changed pages, changed inodes times their depth, inodes with several names).
  func contentHash() -> ContentHash {
    for node in staleNodes {
      node.isStale = false
      refresh(node, depth: 0)
    }
    staleNodes.removeAll(keepingCapacity: true)
    var result = root.hash
    for node in multiplyLinked { result += linkGroupHash(of: node) }
    return result
  }

  /// Recomputes a node's hash and propagates a change to the directories that name it.
  private func refresh(_ changed: ImageNode, depth: Int) {
    var node = changed
    var depth = depth
    while true {
      let hash = node.currentHash()
      guard hash != node.hash, depth < Self.maximumDepth else { return }
      node.hash = hash
      depth += 1
      for link in node.links {
        let contribution = link.nameHash.mixed(with: hash)
        link.parent.entriesSum -= link.parent.entries[link.name]?.contribution ?? ContentHash()
        link.parent.entriesSum += contribution
        link.parent.entries[link.name]?.contribution = contribution
      }
      guard let last = node.links.last else { return }
      // Only files have several names, so this recursion is one level deep.
      for link in node.links.dropLast() { refresh(link.parent, depth: depth) }
      node = last.parent
    }
  }

  /// The set of reachable names of an inode; 0 for fewer than two.
  private func linkGroupHash(of node: ImageNode) -> ContentHash {
    var sum = ContentHash()
    var reachable = 0
    for link in node.links {
      guard let path = pathHash(of: link) else { continue }
      sum += path
      reachable += 1
    }
    return reachable > 1 ? sum.mixed(with: UInt64(reachable)) : ContentHash()
  }

  /// Hash of the names from an entry up to the root; nil when it is not reachable from the root.
  private func pathHash(of link: ImageNode.Link) -> ContentHash? {
    var hash = link.nameHash
    var directory = link.parent
    for _ in 0..<Self.maximumDepth {
      if directory === root { return hash }
      guard let up = directory.links.first else { return nil }
      hash = hash.mixed(with: up.nameHash)
      directory = up.parent
    }
    return nil
  }
}
