// CrashImage.swift: the file tree of one crash state, as its consumers see it.
// Invariant: a view of the builder's current state, valid only until the builder shows another one;
// later use traps.

import LabCore
import Recording

/// The file tree of one crash state; valid only inside the closure that receives it.
public struct CrashImage {
  /// One name of the tree.
  public struct Entry {
    /// Names from the root, separated by `/`; empty for the root itself.
    public let path: [UInt8]
    /// Number shared by the entries of one inode, from 0; nil for an inode with a single name.
    public let hardLinkGroup: Int?
    let node: ImageNode

    /// Kind.
    public var type: FileType { node.type }
    /// Owner and permissions.
    public var ownership: Ownership { node.ownership }
    /// Extended attributes.
    public var extendedAttributes: [FileName: [UInt8]] { node.extendedAttributes }
    /// A modification time that the program chose; nil for the time of a change.
    public var modificationTime: Timestamp? { node.modificationTime }
    /// A symbolic link's text.
    public var target: [UInt8] { node.target }
    /// A device's number.
    public var device: UInt64 { node.device }
    /// A regular file's size.
    public var sizeBytes: UInt64 { node.sizeBytes }
    /// The inode's number in the recorded run.
    public var inode: InodeNumber { node.number }
    /// A regular file's content without its holes; runs of whole pages, cut at the size.
    public var extents: [Extent] { node.extents(in: .forState()) }

    /// A copy of the bytes of a range, cut at the size.
    package func bytes(_ range: Range<UInt64>) -> [UInt8] {
      let end = min(range.upperBound, node.sizeBytes)
      guard type == .regular, range.lowerBound < end, (try? node.file.reserve(end)) != nil else {
        return []
      }
      return node.file.buffer.bytes(Int(range.lowerBound)..<Int(end))
    }
  }

  let builder: ImageBuilder
  let generation: Int

  func checkValid() {
    precondition(builder.generation == generation, "a crash image was used after its state")
  }

  /// Calls a closure with every reachable name, directories before their content, names in byte
  /// order, starting with the root.
  /// - Throws: Whatever the closure throws.
  /// - Complexity: O(reachable names), without content.
  public func forEachEntry(_ body: (Entry) throws(LabError) -> Void) throws(LabError) {
    checkValid()
    let groups = hardLinkGroups()
    var open: [(path: [UInt8], node: ImageNode)] = [([], builder.root)]
    while let (path, node) = open.popLast() {
      try body(Entry(path: path, hardLinkGroup: groups[node.number], node: node))
      for name in node.entries.keys.sorted(by: >) {
        guard let entry = node.entries[name] else { continue }
        let prefix = path.isEmpty ? [] : path + [UInt8(ascii: "/")]
        open.append((prefix + name.bytes, entry.node))
      }
    }
  }

  /// Groups of reachable names of the same inode, numbered by their first name.
  private func hardLinkGroups() -> [InodeNumber: Int] {
    guard !builder.multiplyLinked.isEmpty else { return [:] }
    var counts: [InodeNumber: Int] = [:]
    var order: [InodeNumber] = []
    var open: [ImageNode] = [builder.root]
    while let node = open.popLast() {
      for name in node.entries.keys.sorted(by: >) {
        if let entry = node.entries[name] { open.append(entry.node) }
      }
      guard node.links.count > 1 else { continue }
      if counts[node.number] == nil { order.append(node.number) }
      counts[node.number, default: 0] += 1
    }
    var groups: [InodeNumber: Int] = [:]
    for number in order where (counts[number] ?? 0) > 1 { groups[number] = groups.count }
    return groups
  }

  package func node(at path: String) -> ImageNode? {
    checkValid()
    var node = builder.root
    for name in path.utf8.split(separator: UInt8(ascii: "/")) {
      guard let next = node.entries[FileName(bytes: Array(name))] else { return nil }
      node = next.node
    }
    return node
  }

  /// The entry at a path, or nil; symbolic links are not followed.
  public func entry(at path: String) -> Entry? {
    node(at: path).map { Entry(path: Array(path.utf8), hardLinkGroup: nil, node: $0) }
  }

  /// A copy of a regular file's bytes, or nil when no regular file has that path.
  public func content(at path: String) -> [UInt8]? {
    guard let node = node(at: path), node.type == .regular else { return nil }
    guard (try? node.file.reserve(node.sizeBytes)) != nil else { return nil }
    return node.file.buffer.bytes(0..<Int(node.sizeBytes))
  }

  /// The reachable tree as a value, with the inode numbers of the recorded run.
  /// - Complexity: O(touched bytes), copied except for blocks unchanged since the trace's initial
  ///   tree.
  public func treeImage() -> TreeImage {
    checkValid()
    let store = PayloadStore.forState()
    var result = TreeImage()
    var open: [ImageNode] = [builder.root]
    var seen: Set<InodeNumber> = []
    while let node = open.popLast() {
      guard seen.insert(node.number).inserted else { continue }
      var image = InodeImage(type: node.type, ownership: node.ownership)
      image.extendedAttributes = node.extendedAttributes
      image.target = node.target
      image.device = node.device
      image.modificationTime = node.modificationTime
      image.sizeBytes = node.sizeBytes
      image.extents = node.extents(in: store)
      for (name, entry) in node.entries {
        image.entries[name] = entry.node.number
        open.append(entry.node)
      }
      result.inodes[node.number] = image
    }
    return result
  }
}

extension PayloadStore {
  /// Memory limit of the tree of one crash state; several may wait for checkers at a time.
  private static let stateBytesMax = 64 << 20

  /// A store for the tree of one crash state.
  fileprivate static func forState() -> PayloadStore { PayloadStore(wrappingUpTo: stateBytesMax) }
}

extension ImageNode {
  /// Runs of touched pages below the size that are not all zeros, cut where an extent must end.
  fileprivate func extents(in store: PayloadStore) -> [Extent] {
    guard type == .regular else { return [] }
    var runs: [Range<Int>] = []
    let pageBytes = ImageContent.pageBytes
    let size = Int(min(sizeBytes, UInt64(Int.max)))
    for page in file.touchedPages(in: 0..<(size / pageBytes + 1)) {
      let range = page * pageBytes..<min(size, (page + 1) * pageBytes)
      guard !range.isEmpty, !file.isZero(range) else { continue }
      let beginsBlock = range.lowerBound % Int(Extent.blockBytes) == 0
      if let last = runs.last, last.upperBound == range.lowerBound, !beginsBlock {
        runs[runs.count - 1] = last.lowerBound..<range.upperBound
      } else {
        runs.append(range)
      }
    }
    return runs.map {
      Extent(offsetBytes: UInt64($0.lowerBound), payload: file.payload(of: $0, in: store))
    }
  }
}
