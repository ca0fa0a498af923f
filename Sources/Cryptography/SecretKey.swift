// SecretKey.swift: [U] the bytes of a key, and what OpenSSL has made of them; both are overwritten
// before their memory is given back.
// Invariants: nothing changes the bytes once they are there; one thread at a time has a context.
// Safety: the memory belongs to the object, and no pointer to it leaves this module.

import COpenSSL
import Synchronization

/// A key of any length above 0.
@safe package final class SecretKey: Sendable {
  nonisolated(unsafe) let bytes: UnsafeRawBufferPointer
  /// Ciphers that have the key already, and wait for a text to seal or to open.
  ///
  /// To make one takes as long as to seal 2 KiB.
  private let waiting = Mutex<(sealing: [Context], opening: [Context])>(([], []))
  private static let waitingCountMax = 8

  /// An EVP_CIPHER_CTX.
  @safe struct Context: @unchecked Sendable {
    let pointer: OpaquePointer
  }

  /// Copies the bytes.
  package init(_ source: some Collection<UInt8>) {
    precondition(!source.isEmpty, "a key has a byte at least")
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: source.count, alignment: 16)
    unsafe memory.copyBytes(from: source)
    unsafe bytes = UnsafeRawBufferPointer(memory)
  }

  /// A key that `fill` writes.
  init(countBytes: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void) {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: countBytes, alignment: 16)
    unsafe fill(memory)
    unsafe bytes = UnsafeRawBufferPointer(memory)
  }

  /// Lends a cipher for AES-256-GCM that has the key.
  func withCipher(sealing: Bool, _ body: (OpaquePointer) -> Bool) -> Bool {
    let known = waiting.withLock { sealing ? $0.sealing.popLast() : $0.opening.popLast() }
    let context = known ?? newContext(sealing: sealing)
    let isDone = unsafe body(context.pointer)
    let isKept = waiting.withLock { waiting in
      guard (sealing ? waiting.sealing.count : waiting.opening.count) < Self.waitingCountMax else {
        return false
      }
      if sealing { waiting.sealing.append(context) } else { waiting.opening.append(context) }
      return true
    }
    if !isKept { unsafe EVP_CIPHER_CTX_free(context.pointer) }
    return isDone
  }

  private func newContext(sealing: Bool) -> Context {
    guard let pointer = unsafe EVP_CIPHER_CTX_new(),
      unsafe EVP_CipherInit_ex2(
        pointer, Library.aes256GCM, bytes.octets, nil, sealing ? 1 : 0, nil) == 1
    else { preconditionFailure("no memory for a cipher") }
    return unsafe Context(pointer: pointer)
  }

  deinit {
    waiting.withLock { waiting in
      for context in waiting.sealing + waiting.opening {
        unsafe EVP_CIPHER_CTX_free(context.pointer)
      }
    }
    let memory = unsafe UnsafeMutableRawBufferPointer(mutating: bytes)
    unsafe OPENSSL_cleanse(memory.baseAddress, memory.count)
    unsafe memory.deallocate()
  }
}
