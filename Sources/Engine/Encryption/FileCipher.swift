// FileCipher.swift [U]: seals and opens the nodes of one encrypted file. The layout of a sealed
// node in its sectors:
//   offset_bytes  size  field
//              0     8  ref of the node
//              8     8  version that wrote it
//             16     4  sectors of the node
//             20    16  salt of the session that wrote it
//             36     8  counter of that session
//             44     4  0
//             48     …  ciphertext: the node, and zeros up to the tag
//      end of the sectors − 16  16  tag
// AES-256-GCM; the nonce is bytes 36 ..< 48, bytes 0 ..< 36 are authenticated with the ciphertext.
// Invariants: a session's key is derived from its salt, 128 bits drawn when the session first
// seals, and its counter never decreases: so no two nodes share a nonce under one key, even when a
// commit fails or the same version is written again after a crash. A parent's link has the first 8
// bytes of the tag as its checksum: it identifies one sealing of one node, and without the key no
// other with the same value can be made.

import Cryptography
import Synchronization

/// The keys and counters of one encrypted file, for one open database.
@safe final class FileCipher: Sendable {
  // Safety: pointers are used during a call; every access is inside the extent that a caller gives
  // or that was checked against the mapping.
  let keys: FileKeys
  private let entropy: EntropySource
  private let session = Mutex<Session?>(nil)
  private let derived: Mutex<[Salt: SecretKey]> = Mutex([:])
  /// Keys of sessions that wrote nodes of the file; more are derived again when needed.
  private static let derivedCountMax = 64

  private struct Session {
    let salt: Salt
    let key: SecretKey
    var counter: UInt64
  }

  init(_ keys: FileKeys, entropy: EntropySource) {
    self.keys = keys
    self.entropy = entropy
  }

  /// The plaintext fields before the ciphertext.
  private struct Preamble {
    let ref: Ref
    let version: Version
    let sectors: UInt64
    let session: Salt
  }

  private func nodeKey(_ salt: Salt) -> SecretKey {
    if let known = derived.withLock({ $0[salt] }) { return known }
    let key = keys.nodeKey(session: salt)
    derived.withLock { derived in
      if derived.count >= Self.derivedCountMax { derived.removeAll() }
      derived[salt] = key
    }
    return key
  }

  /// Draws the session's salt; a writer calls it before it seals.
  func beginSession() throws(EngineError) {
    if session.withLock({ $0 != nil }) { return }
    let salt = try Salt(from: entropy)
    let key = keys.nodeKey(session: salt)
    session.withLock { session in
      if session == nil { session = Session(salt: salt, key: key, counter: 0) }
    }
  }

  private func nextNonce() -> (salt: Salt, key: SecretKey, counter: UInt64) {
    session.withLock { session in
      guard let current = session else { preconditionFailure("beginSession comes first") }
      session?.counter += 1
      return (current.salt, current.key, current.counter)
    }
  }

  /// Turns the node at the start of `extent`, followed by zeros, into the sealed node.
  /// - Returns: The checksum of its link.
  func seal(_ extent: MutableBytes, ref: Ref, version: Version) -> UInt64 {
    let (salt, key, counter) = nextNonce()
    var preamble: [UInt8] = []
    preamble.appendLittleEndian(ref.offsetBytes)
    preamble.appendLittleEndian(version.rawValue)
    preamble.appendLittleEndian(UInt32(extent.count / Layout.sectorSizeBytes))
    preamble += salt.bytes
    preamble.appendLittleEndian(counter)
    preamble.appendLittleEndian(UInt32(0))
    // The ciphertext stands behind the preamble, and is made where it stands.
    let count = extent.count - Layout.sealBytes
    let text = unsafe UnsafeMutableRawBufferPointer(
      start: extent.base + preamble.count, count: count)
    unsafe (extent.base + preamble.count).copyMemory(from: extent.base, byteCount: count)
    extent.copy(preamble, to: 0)
    let clear = unsafe UnsafeRawBufferPointer(start: extent.base, count: SealField.counter)
    let nonce = unsafe UnsafeRawBufferPointer(
      start: extent.base + SealField.counter, count: AuthenticatedCipher.nonceBytes)
    let tag = unsafe UnsafeMutableRawBufferPointer(
      start: extent.base + extent.count - Layout.sealTagBytes, count: Layout.sealTagBytes)
    unsafe AuthenticatedCipher.seal(
      text, using: key, nonce: nonce, authenticating: clear, tag: tag)
    return extent.readable.uint64(extent.count - Layout.sealTagBytes)
  }

  private static func preamble(
    at ref: Ref, in bytes: RawBytes
  ) throws(EngineError) -> Preamble {
    let sector = Layout.sectorSizeBytes
    guard ref.offsetBytes % UInt64(sector) == 0, ref.sector >= Layout.firstNodeSector,
      ref.offsetBytes < Layout.fileSizeBytesMax, Int(ref.offsetBytes) <= bytes.count - sector
    else { throw .corrupted("no node can start here, file_bytes=\(bytes.count)", at: ref) }
    let offset = Int(ref.offsetBytes)
    let sectors = UInt64(bytes.uint32(offset + SealField.sectors))
    guard sectors > 0, sectors <= NodeRoom.sealed.sectors(Layout.nodeSizeBytesMax),
      sectors <= UInt64((bytes.count - offset) / sector)
    else {
      throw .corrupted(
        "damaged node: sectors=\(sectors) do not fit file_bytes=\(bytes.count)", at: ref)
    }
    return Preamble(
      ref: Ref(offsetBytes: bytes.uint64(offset + SealField.ref)),
      version: Version(rawValue: bytes.uint64(offset + SealField.version)), sectors: sectors,
      session: Salt(
        low: bytes.uint64(offset + SealField.session),
        high: bytes.uint64(offset + SealField.session + 8)))
  }

  /// Opens the node that a link leads to, and calls `body` with its bytes and their padding.
  ///
  /// The bytes are gone, and overwritten, when the call returns.
  /// - Throws: `EngineError` with code `.corrupted` when these bytes were not written with the key,
  ///   `.swappedNode` when they were written for another place, `.rolledBackNode` when they were
  ///   written for this place, but are not the ones that the link identifies.
  func open(
    _ link: NodeLink, in bytes: RawBytes, _ body: (RawBytes) -> Void
  ) throws(EngineError) {
    let preamble = try Self.preamble(at: link.ref, in: bytes)
    let size = Int(preamble.sectors) * Layout.sectorSizeBytes
    let sealed = bytes.part(at: Int(link.ref.offsetBytes), count: size)
    let tag = sealed.uint64(size - Layout.sealTagBytes)
    func part(_ offset: Int, _ count: Int) -> UnsafeRawBufferPointer {
      unsafe UnsafeRawBufferPointer(start: sealed.base + offset, count: count)
    }
    let plain = UnsafeMutableRawBufferPointer.allocate(
      byteCount: size - Layout.sealBytes, alignment: Layout.sectorSizeBytes)
    defer {
      // No other code holds this memory.
      unsafe Syscalls.wipe(plain)
      unsafe plain.deallocate()
    }
    let isOpen = unsafe AuthenticatedCipher.open(
      part(SealField.ciphertext, plain.count), into: plain, using: nodeKey(preamble.session),
      nonce: part(SealField.counter, AuthenticatedCipher.nonceBytes),
      authenticating: part(0, SealField.counter),
      tag: part(size - Layout.sealTagBytes, Layout.sealTagBytes))
    guard isOpen else {
      throw .corrupted(
        "damaged node: its \(size) bytes do not authenticate; restore the file from a copy",
        at: link.ref)
    }
    if preamble.ref == link.ref && tag == link.checksum {
      body(unsafe RawBytes(UnsafeRawBufferPointer(plain)))
    }
    guard preamble.ref == link.ref else {
      throw EngineError(
        code: .swappedNode,
        message: "swapped node: the node of \(preamble.ref) stands at ref "
          + "\(link.ref.offsetBytes); it was moved, so restore the file from a copy")
    }
    guard tag == link.checksum else {
      throw EngineError(
        code: .rolledBackNode,
        message: "rolled back node: tag=\(tag) != tag_in_parent=\(link.checksum) at ref "
          + "\(link.ref.offsetBytes), where version \(preamble.version) stands; somebody put it "
          + "back, or a write was lost; restore the file from a copy")
    }
  }
}
