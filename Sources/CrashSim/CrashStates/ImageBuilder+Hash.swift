// ImageBuilder+Hash.swift: the hash of the reachable tree, kept up to date from changed nodes
// upward. A directory has at most one name in every state (UnitTableBuilder sees to it), so that
// what hangs below the root is a tree; unreachable directories can form a cycle, hence the bound on
// the way up.

extension ImageBuilder {
  /// Longest way up that is followed; paths longer than the system's limit do not occur.
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

  /// Recomputes a node's hash and hands a change on to the directories that name it.
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

  /// Which reachable names are one inode; nothing where fewer than two are.
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

  /// Hash of the names from an entry up to the root; nil when the way does not lead there.
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
