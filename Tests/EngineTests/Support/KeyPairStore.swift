// KeyPairStore.swift: an index alone on a test backend, with its own versions and space, and a
// dictionary beside it that says what it should hold.

import Testing

@testable import Engine

struct KeyPairStore {
  let backend = TestBackend()
  var space = SpaceMap.empty
  var version = Version.first
  var root = NodeLink.none
  var level = 0
  var reader: NodeReader
  var model: [KeyPair: Int64] = [:]

  init() throws {
    try backend.allocate(upTo: 65_536)
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
    space.reclaim(live: [version])
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
