// ImageBackend.swift [U]: the engine's storage over one file's bytes in a crash image.
// Invariants: the image is copied when it is loaded and never changed; the memory is reused for the
// next image, unless a mapping of the last one still exists; `identities` gives the content of each
// page of the memory, or unknown, so that unchanged pages are not copied and the engine skips nodes
// that it has verified; a file grows by at most `growthBytesMax`. The engine's operations can be
// recorded as a trace, to simulate crashes during recovery.

import CrashStates
import Engine
import LabCore
import Recording

/// A file in memory that the engine can open, for one crash state after the other.
@safe public final class ImageBackend: StorageBackend, @unchecked Sendable {
  // Safety: a backend is used by one thread at a time, as the engine promises for `write`,
  // `allocate`, `sync` and `map`; mappings retain the memory itself, not this object.

  /// How the backend fails, to test that oracles detect it.
  public enum Failure: Sendable {
    /// Every write and every growth fails.
    case writes
    /// Every sync fails.
    case syncs
    /// Writes and syncs succeed, and writes change nothing.
    case forgetsWrites
  }

  /// The file's name in messages.
  public let path: String
  /// How the backend fails; nil if it does not.
  public var failure: Failure?
  /// Number of writes and growths since the image was loaded.
  public private(set) var changeCount = 0

  private let growthBytesMax: Int
  private var memory: ImageMemory
  /// Its size in bytes.
  private(set) var size = 0
  private var limit = 0
  private var recording: ImageRecording?

  /// Makes a backend over an empty file.
  /// - Parameters:
  ///   - path: The file's name in messages.
  ///   - growthBytesMax: The most by which a file may grow beyond its image.
  public init(path: String = "data.realm in a crash image", growthBytesMax: Int = 64 << 20) {
    self.path = path
    self.growthBytesMax = growthBytesMax
    memory = ImageMemory(capacity: 1 << 20, NodeCache())
    limit = growthBytesMax
  }

  // MARK: - Images

  /// Loads a copy of these bytes as the file.
  /// - Complexity: O(bytes).
  public func load(_ bytes: UnsafeRawBufferPointer) {
    reset(size: bytes.count)
    unsafe memory.bytes.copyMemory(from: bytes)
    memory.identities.forget(Self.pages(0..<size))
  }

  /// Loads the file of a crash image; copies only pages that are not loaded already.
  fileprivate func load(_ bytes: UnsafeRawBufferPointer, _ content: ImageContent) {
    reset(size: bytes.count)
    let identities = memory.identities
    let pageBytes = ImageContent.pageBytes
    content.forEachIdentity(ofPagesBelow: bytes.count / pageBytes) { page, identity in
      if identity != SectorIdentities.unknown, identities[page] == identity { return }
      unsafe memory.copy(bytes, page * pageBytes..<(page + 1) * pageBytes)
      identities[page] = identity
    }
    // For the page in which the file ends, the hash may cover bytes after the end.
    let rest = bytes.count / pageBytes * pageBytes..<bytes.count
    guard !rest.isEmpty else { return }
    unsafe memory.copy(bytes, rest)
    identities.forget(Self.pages(rest))
  }

  private static func pages(_ range: Range<Int>) -> Range<Int> { ImageContent.pages(of: range) }

  /// Loads these bytes as the file.
  /// - Complexity: O(bytes).
  public func load(_ bytes: [UInt8]) {
    unsafe bytes.withUnsafeBytes { unsafe load($0) }
  }

  /// Loads a regular file of a crash state's tree as the file.
  /// - Complexity: O(size).
  public func load(_ inode: InodeImage) {
    let count = Int(clamping: inode.sizeBytes)
    reset(size: count)
    memory.clear(0..<count)
    memory.identities.forget(Self.pages(0..<count))
    for extent in inode.extents {
      let start = Int(clamping: extent.offsetBytes)
      guard start + extent.countBytes <= count else { continue }
      unsafe extent.bytes.withUnsafeBytes { source in
        unsafe UnsafeMutableRawBufferPointer(rebasing: memory.bytes[start...])
          .copyMemory(from: source)
      }
    }
  }

  /// The file's current bytes.
  public var bytes: [UInt8] { unsafe Array(memory.view(size)) }

  private func reset(size: Int) {
    if !isKnownUniquelyReferenced(&memory) || memory.capacity < size {
      memory = ImageMemory(
        capacity: max(size + size / 4, 1 << 20), memory.identities.cache)
    }
    self.size = size
    limit = size + growthBytesMax
    changeCount = 0
    failure = nil
    recording = nil
  }

  // MARK: - Recording

  /// Records all further operations as operations on this inode.
  package func startRecording(_ inode: InodeNumber, recordsCallStacks: Bool = false) {
    recording = ImageRecording(inode: inode)
    if recordsCallStacks { recording?.callStacks = OwnCallStacks() }
  }

  /// Inserts a mark between the recorded operations.
  package func record(_ mark: Mark) {
    recording?.trace.events.append(TraceEvent(.mark(mark)))
  }

  /// Records a phase, as `PhaseAnnouncer` announces it.
  func recordPhase(_ name: [UInt8]) {
    guard let position = recording?.trace.events.count else { return }
    recording?.trace.phases.append(
      TracePhase(
        position: position, process: ImageRecording.process, phase: PhaseLog.name(name)))
  }

  /// Ends the recording.
  /// - Parameter initial: The initial tree.
  /// - Returns: The recorded operations, in order.
  package func endRecording(from initial: TreeImage) -> Trace {
    defer { recording = nil }
    return recording?.ended(from: initial) ?? Trace(initial: initial)
  }

  private func record(_ operation: (InodeNumber) -> Operation, flags: OperationFlags = []) {
    guard let inode = recording?.inode else { return }
    let stack = recording?.callStacks?.number()
    recording?.trace.events.append(
      TraceEvent(
        .operation(operation(inode)), flags: flags, process: ImageRecording.process,
        thread: ImageRecording.process, stack: stack))
  }

  // MARK: - StorageBackend

  /// Size of the file.
  public func sizeBytes() -> UInt64 { UInt64(size) }

  /// Writes inside the file.
  /// - Throws: `EngineError` with code `.io` outside the file, or if set to fail.
  public func write(_ bytes: UnsafeRawBufferPointer, at offsetBytes: UInt64) throws(EngineError) {
    let start = Int(clamping: offsetBytes)
    guard start <= size, bytes.count <= size - start else {
      throw EngineError(
        code: .io,
        message: "\(path): end_bytes=\(UInt64(bytes.count) &+ offsetBytes) > file_bytes=\(size)")
    }
    if case .writes = failure { throw injected("write") }
    changeCount += 1
    record({ .write(inode: $0, offsetBytes: offsetBytes, payload: Payload(unsafe Array(bytes))) })
    if case .forgetsWrites = failure { return }
    unsafe UnsafeMutableRawBufferPointer(rebasing: memory.bytes[start..<start + bytes.count])
      .copyMemory(from: bytes)
    memory.identities.forget(Self.pages(start..<start + bytes.count))
  }

  /// Extends the file.
  /// - Throws: `EngineError` with code `.noSpace` above the limit, or `.io` if set to fail.
  public func allocate(upTo sizeBytes: UInt64) throws(EngineError) {
    let wanted = Int(clamping: sizeBytes)
    guard wanted > size else { return }
    guard wanted <= limit else {
      throw EngineError(
        code: .noSpace, message: "\(path): wanted_bytes=\(wanted) > limit_bytes=\(limit)")
    }
    if case .writes = failure { throw injected("allocate") }
    changeCount += 1
    let old = UInt64(size)
    record({
      .allocate(
        inode: $0, offsetBytes: old, countBytes: sizeBytes - old, zeroes: false,
        oldSizeBytes: old, newSizeBytes: sizeBytes)
    })
    if memory.capacity < wanted {
      // Old mappings keep the old memory, which is no longer written.
      let larger = ImageMemory(capacity: min(limit, wanted * 2), copying: memory.identities)
      unsafe larger.bytes.copyMemory(from: unsafe memory.view(size))
      memory = larger
    }
    memory.clear(size..<wanted)
    memory.identities.forget(Self.pages(size..<wanted))
    size = wanted
  }

  /// Truncates the file.
  /// - Throws: `EngineError` with code `.io` if set to fail.
  public func truncate(to sizeBytes: UInt64) throws(EngineError) {
    let kept = Int(clamping: sizeBytes)
    guard kept < size else { return }
    if case .writes = failure { throw injected("truncate") }
    changeCount += 1
    let old = UInt64(size)
    record({ .truncate(inode: $0, oldSizeBytes: old, newSizeBytes: sizeBytes) })
    memory.identities.forget(Self.pages(kept..<size))
    size = kept
  }

  /// Only records the sync.
  /// - Throws: `EngineError` with code `.io` if set to fail.
  public func sync() throws(EngineError) {
    if case .syncs = failure {
      record({ .sync(inode: $0, dataOnly: true) }, flags: .failed)
      throw injected("sync")
    }
    record({ .sync(inode: $0, dataOnly: true) })
  }

  /// The file's bytes; later writes are visible in them.
  public func map() -> MappedFile {
    unsafe MappedFile(
      borrowing: unsafe memory.view(size), owner: memory, identities: memory.identities)
  }

  /// Does nothing: the next image is loaded into the same memory.
  public func close() {}

  private func injected(_ call: String) -> EngineError {
    EngineError(code: .io, message: "\(path): \(call) failed", errno: 5, isInjected: true)
  }
}

/// A backend's recording.
private struct ImageRecording {
  /// Faultline itself; a recording has one process, so any number will do.
  static let process: Int32 = 1

  let inode: InodeNumber
  var trace = Trace(initial: TreeImage())
  var callStacks: OwnCallStacks?

  init(inode: InodeNumber) { self.inode = inode }

  func ended(from initial: TreeImage) -> Trace {
    var trace = trace
    trace.initial = initial
    if let callStacks { trace.callStacks = callStacks.settle(&trace.events) }
    return trace
  }
}

/// Memory of an image, shared with the mappings of it.
@safe private final class ImageMemory: @unchecked Sendable {
  // Safety: one thread writes; readers access only bytes that the engine has published to them.
  let bytes: UnsafeMutableRawBufferPointer
  /// The pages' content; belongs to this memory alone, so that mappings of another remain valid.
  let identities: SectorIdentities

  init(capacity: Int, _ cache: NodeCache) {
    unsafe bytes = .allocate(byteCount: max(capacity, 1), alignment: 4096)
    identities = SectorIdentities(sectorCount: capacity / 4096 + 1, cache: cache)
  }

  init(capacity: Int, copying identities: SectorIdentities) {
    unsafe bytes = .allocate(byteCount: max(capacity, 1), alignment: 4096)
    self.identities = SectorIdentities(copying: identities, sectorCount: capacity / 4096 + 1)
  }

  deinit {
    unsafe bytes.deallocate()
  }

  var capacity: Int { unsafe bytes.count }

  func clear(_ range: Range<Int>) {
    unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[range])
      .initializeMemory(as: UInt8.self, repeating: 0)
  }

  func copy(_ source: UnsafeRawBufferPointer, _ range: Range<Int>) {
    unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[range])
      .copyMemory(from: UnsafeRawBufferPointer(rebasing: source[range]))
  }

  func view(_ count: Int) -> UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(rebasing: bytes[..<count])
  }
}

extension ImageBackend {
  /// Loads a regular file of a crash image as the file.
  /// - Returns: False when the image has no regular file there.
  /// - Complexity: O(pages), and O(bytes) of those that differ from the previously loaded ones.
  public func load(_ image: CrashImage, at path: String) throws(LabError) -> Bool {
    guard let node = image.node(at: path), node.type == .regular else { return false }
    // Safety: the bytes are copied before the closure returns.
    try unsafe CrashImage.withContent(of: node) { (bytes) throws(LabError) in
      unsafe load(bytes, node.file)
    }
    return true
  }
}
