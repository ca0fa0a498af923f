// Slab.swift [U]: the memory that holds a writer's new nodes before commit. Invariants: a node
// never moves once it has its place, allocation is in whole sectors, the bytes of a node after its
// content are 0, an encrypted file's nodes are ciphertext as soon as they are whole (so the slab
// has no plaintext to erase), and nodes that are neighbours in the file and in memory are written
// by one call.

/// A writer's new nodes and where in the file they go.
@safe final class Slab {
  @safe private struct Run {
    let offsetBytes: UInt64
    let memory: UnsafeMutableRawPointer
    var count: Int
  }

  /// Seals the nodes; nil when the file is not encrypted.
  private let cipher: FileCipher?
  /// How nodes share their sectors with the seal.
  let room: NodeRoom

  private static let firstChunkBytes = 64 << 10
  private static let largestChunkBytes = 4 << 20

  // Safety: chunks are freed in deinit only; views handed out are used while the slab is alive.
  private var chunks: [UnsafeMutableRawPointer] = unsafe []
  private var free: UnsafeMutableRawPointer?
  private var freeCount = 0
  /// Bytes of the chunk made last.
  private var chunkCount = 0
  private var runs: [Run] = []
  /// The node made last, with the rest of its sectors.
  private var newest: MutableBytes?

  /// Begins without nodes; the cipher's session has begun.
  init(cipher: FileCipher? = nil) {
    self.cipher = cipher
    room = cipher == nil ? .plain : .sealed
  }

  deinit {
    while let chunk = unsafe chunks.popLast() { unsafe chunk.deallocate() }
  }

  /// Memory for a node of `sizeBytes` that will be stored at `ref`.
  func makeNode(at ref: Ref, sizeBytes: Int) -> MutableBytes {
    let extentBytes = Int(room.sectors(sizeBytes)) * Layout.sectorSizeBytes
    let memory = unsafe take(extentBytes)
    let start = ref.offsetBytes
    if let last = runs.last, unsafe last.memory + last.count == memory,
      last.offsetBytes + UInt64(last.count) == start
    {
      runs[runs.count - 1].count += extentBytes
    } else {
      unsafe runs.append(Run(offsetBytes: start, memory: memory, count: extentBytes))
    }
    let extent = unsafe MutableBytes(base: memory, count: extentBytes)
    extent.clear(from: sizeBytes, to: extentBytes)
    newest = extent
    return unsafe MutableBytes(base: memory, count: sizeBytes)
  }

  /// Turns the node made last, which is complete now, into its form in the file.
  /// - Returns: The link by which a parent refers to it.
  func encrypt(_ link: NodeLink, version: Version) -> NodeLink {
    guard let cipher else { return link }
    guard let extent = newest else { preconditionFailure("a node was made before") }
    newest = nil
    let checksum = cipher.seal(extent, ref: link.ref, version: version)
    return NodeLink(ref: link.ref, checksum: checksum)
  }

  private func take(_ count: Int) -> UnsafeMutableRawPointer {
    if count > freeCount {
      let doubled = min(Self.largestChunkBytes, Self.firstChunkBytes << min(unsafe chunks.count, 6))
      let size = max(count, doubled)
      let chunk = UnsafeMutableRawPointer.allocate(
        byteCount: size, alignment: Layout.sectorSizeBytes)
      unsafe chunks.append(chunk)
      chunkCount = size
      unsafe free = unsafe chunk
      freeCount = size
    }
    guard let memory = unsafe free else { preconditionFailure("a chunk was made above") }
    unsafe free = unsafe memory + count
    freeCount -= count
    return unsafe memory
  }

  /// Forgets the nodes and keeps the memory for others; no view of them may be used any more.
  func reuse() {
    while unsafe chunks.count > 1 { unsafe chunks.removeFirst().deallocate() }
    unsafe free = unsafe chunks.first
    freeCount = chunkCount
    runs = []
    newest = nil
  }

  /// Bytes of all nodes, whole sectors.
  var sizeBytes: UInt64 { runs.reduce(0) { $0 + UInt64($1.count) } }

  /// Writes every run to the backend, in the order in which they were made.
  ///
  /// Durability: none before the next sync.
  func write(to backend: any StorageBackend) throws(EngineError) {
    for run in runs {
      try unsafe backend.write(
        UnsafeRawBufferPointer(start: run.memory, count: run.count), at: run.offsetBytes)
    }
  }
}

extension StorageBackend {
  /// Writes the bytes of an array, whole sectors.
  func write(_ bytes: [UInt8], at offsetBytes: Int) throws(EngineError) {
    precondition(bytes.count % Layout.sectorSizeBytes == 0, "writes are whole sectors")
    var failure: EngineError?
    unsafe bytes.withUnsafeBytes { buffer in
      do throws(EngineError) {
        try unsafe write(buffer, at: UInt64(offsetBytes))
      } catch { failure = error }
    }
    if let failure { throw failure }
  }
}

extension NewFile {
  /// Writes a piece.
  ///
  /// Durability: none before `sync`.
  func write(_ slab: Slab) throws(EngineError) {
    try failpoint?(.write)
    try slab.write(to: backend)
  }
}
