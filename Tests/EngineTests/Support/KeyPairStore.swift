// KeyPairStore.swift: an index alone on a test backend, with its own versions and space, and a
// dictionary beside it that says what it should hold.

import Testing

@testable import Engine

struct KeyPairStore {
  let backend: TestBackend
  var space = SpaceMap.empty
  var version = Version.first
  var root = NodeLink.none
  var level = 0
  var reader: NodeReader
  var model: [KeyPair: Int64] = [:]

  init() throws {
    backend = TestBackend([UInt8](repeating: 0, count: 65_536))
    reader = NodeReader(try backend.map())
  }

  private init(_ bytes: [UInt8], like other: KeyPairStore, root: NodeLink) throws {
    backend = TestBackend(bytes)
    space = other.space
    version = other.version
    self.root = root
    level = other.level
    reader = NodeReader(try backend.map())
  }

  var tree: KeyPairTree {
    KeyPairTree(reader: reader, root: root, level: level, newest: version)
  }

  /// Changes the tree and makes that the next version; the space of the one before is reused.
  mutating func change(_ body: (MutableKeyPairTree, inout [KeyPair: Int64]) throws -> Void) throws {
    let writer = TreeWriter(reader: reader, base: version)
    let mutable = MutableKeyPairTree(
      writer: writer, root: root, level: level, pairCount: UInt64(model.count))
    try body(mutable, &model)
    #expect(mutable.pairCount == UInt64(model.count))
    space.reclaim(live: [version], roots: [version])
    var sink = NodeSink(slab: Slab(), version: version.next, reader: reader, space: space)
    root = mutable.encode(into: &sink)
    level = root.isNone ? 0 : mutable.level
    sink.space.release(writer.released)
    space = sink.space
    space.tidy()
    version = version.next
    let needed = space.endSector * 4096
    if needed > UInt64(backend.bytes.count) { try backend.allocate(upTo: needed * 2) }
    try sink.slab.write(to: backend)
    backend.clearLog()
    reader = NodeReader(try backend.map())
  }

  /// Pairs, nodes and sectors are what they should be.
  func check(_ location: SourceLocation = #_sourceLocation) throws {
    var used: Set<UInt64> = []
    let pairs = try tree.verify { node throws(EngineError) in
      for sector in node.span.start..<node.span.end where !used.insert(sector).inserted {
        throw .corrupted("sector \(sector) twice")
      }
    }
    #expect(pairs == UInt64(model.count), sourceLocation: location)
    // What is neither free nor pending is the tree: nothing leaks, nothing is freed too early.
    let spare = space.freeSectorCount + space.pendingSectorCount
    #expect(
      UInt64(used.count) + spare == space.endSector - Layout.firstNodeSector,
      sourceLocation: location)
    try Self.compare(tree, model, location)
  }

  static func compare(
    _ tree: some KeyPairSource, _ model: [KeyPair: Int64],
    _ location: SourceLocation = #_sourceLocation
  ) throws {
    var found: [KeyPair] = []
    var wrong = 0
    try tree.forEach(in: 0...UInt64.max) { image, key, count in
      found.append(KeyPair(image, key))
      if model[KeyPair(image, key)] != count { wrong += 1 }
      return true
    }
    #expect(wrong == 0, sourceLocation: location)
    #expect(found == model.keys.sorted(), sourceLocation: location)
    #expect(try tree.pairCount(in: 0...UInt64.max) == model.count, sourceLocation: location)
  }
}

extension KeyPairStore {
  /// The same store with some bytes of one node changed, and every checksum on the way to the root
  /// made to fit, as only somebody who means harm can.
  func damaged(_ random: inout TestRandom) throws -> KeyPairStore {
    var path: [(ref: Ref, linkOffset: Int)] = []
    var link = root
    var depth = level
    while depth > 0, random.below(3) > 0 {
      let view = try KeyPairInnerView(
        reader.node(link, kind: .indexInner, level: depth, newest: version))
      let child = random.below(view.childCount)
      path.append((link.ref, 48 + 16 * (view.childCount - 1) + 16 * child))
      link = view.link(child)
      depth -= 1
    }
    var bytes = backend.bytes
    let start = Int(link.ref.offsetBytes)
    // Not the ref, the version and the kind: these end in an error at once.
    for _ in 0..<1 + random.below(4) {
      let offset = [24, 25, 32, 33, 48 + random.below(48), 48 + random.below(4000)][random.below(6)]
      let old = bytes[start + offset]
      bytes[start + offset] =
        [0, 1, 0xff, old ^ 1 << random.below(8), UInt8(random.below(256))][
          random.below(5)]
    }
    var checksum = Self.seal(&bytes, link.ref)
    for (ref, linkOffset) in path.reversed() {
      Self.store(checksum, in: &bytes, at: Int(ref.offsetBytes) + linkOffset + 8)
      checksum = Self.seal(&bytes, ref)
    }
    let top = path.first?.ref ?? link.ref
    return try KeyPairStore(bytes, like: self, root: NodeLink(ref: top, checksum: checksum))
  }

  /// The same store with the bytes of its only leaf changed, and the checksum made to fit.
  func changingLeaf(_ body: (inout [UInt8]) -> Void) throws -> KeyPairStore {
    #expect(level == 0)
    var bytes = backend.bytes
    let start = Int(root.ref.offsetBytes)
    var leaf = Array(bytes[start..<start + 4096])
    body(&leaf)
    bytes.replaceSubrange(start..<start + 4096, with: leaf)
    let checksum = Self.seal(&bytes, root.ref)
    return try KeyPairStore(bytes, like: self, root: NodeLink(ref: root.ref, checksum: checksum))
  }

  private static func store(_ number: UInt64, in bytes: inout [UInt8], at offset: Int) {
    for index in 0..<8 { bytes[offset + index] = UInt8(truncatingIfNeeded: number >> (8 * index)) }
  }

  private static func seal(_ bytes: inout [UInt8], _ ref: Ref) -> UInt64 {
    let start = Int(ref.offsetBytes)
    let size = (0..<4).reduce(0) { $0 | Int(bytes[start + 24 + $1]) << (8 * $1) }
    guard size >= 48, size <= bytes.count - start else { return 0 }
    let checksum = RawBytes.over(Array(bytes[start + 8..<start + size])) { Checksum.of($0) }
    store(checksum, in: &bytes, at: start)
    return checksum
  }
}
