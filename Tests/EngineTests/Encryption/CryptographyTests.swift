// CryptographyTests.swift: [U] ciphers and digests answer as the published vectors say.
// Safety: pointers to arrays are used during the calls that they are passed to.

import Cryptography
import Dispatch
import Synchronization
import Testing

@Suite("Cryptography")
struct CryptographyTests {
  private static func bytes(_ hex: String) -> [UInt8] {
    let digits = hex.compactMap { $0.hexDigitValue.map { UInt8($0) } }
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
  }

  /// Test case 16 of the GCM specification (McGrew and Viega, appendix B).
  private static let key = SecretKey(
    bytes("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308"))
  private static let nonce = bytes("cafebabefacedbaddecaf888")
  private static let clear = bytes("feedfacedeadbeeffeedfacedeadbeefabaddad2")
  private static let text = bytes(
    "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
      + "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39")
  private static let sealed = bytes(
    "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
      + "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662")
  private static let tag = bytes("76fc6ece0f4e1768cddf8853bb2d551b")

  private static func open(
    _ sealed: [UInt8], nonce: [UInt8], clear: [UInt8], tag: [UInt8], using key: SecretKey = key
  ) -> [UInt8]? {
    var text = [UInt8](repeating: 0, count: sealed.count)
    let isOpen = unsafe text.withUnsafeMutableBytes { text in
      unsafe sealed.withUnsafeBytes { sealed in
        unsafe nonce.withUnsafeBytes { nonce in
          unsafe clear.withUnsafeBytes { clear in
            unsafe tag.withUnsafeBytes { tag in
              unsafe AuthenticatedCipher.open(
                sealed, into: text, using: key, nonce: nonce, authenticating: clear, tag: tag)
            }
          }
        }
      }
    }
    return isOpen ? text : nil
  }

  private static func sealed(
    _ text: [UInt8], nonce: [UInt8] = nonce
  ) -> (text: [UInt8], tag: [UInt8]) {
    var text = text
    var tag = [UInt8](repeating: 0, count: AuthenticatedCipher.tagBytes)
    unsafe text.withUnsafeMutableBytes { text in
      unsafe tag.withUnsafeMutableBytes { tag in
        unsafe nonce.withUnsafeBytes { nonce in
          unsafe clear.withUnsafeBytes { clear in
            unsafe AuthenticatedCipher.seal(
              text, using: key, nonce: nonce, authenticating: clear, tag: tag)
          }
        }
      }
    }
    return (text, tag)
  }

  @Test("a text is sealed as the specification has it, also after others")
  func seals() {
    for _ in 0..<3 {
      let (text, tag) = Self.sealed(Self.text)
      #expect(text == Self.sealed)
      #expect(tag == Self.tag)
    }
  }

  @Test("one key seals and opens on many threads at once, more than it keeps ciphers for")
  func threads() {
    let wrong = Mutex<[Int]>([])
    DispatchQueue.concurrentPerform(iterations: 400) { number in
      let text = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 4000 + number)
      var nonce = Self.nonce
      nonce[0] = UInt8(truncatingIfNeeded: number)
      nonce[1] = UInt8(number >> 8)
      let (sealed, tag) = Self.sealed(text, nonce: nonce)
      let opened = Self.open(sealed, nonce: nonce, clear: Self.clear, tag: tag)
      if opened != text || sealed == text { wrong.withLock { $0.append(number) } }
    }
    #expect(wrong.withLock { $0 } == [])
  }

  @Test("only what was sealed opens: a bit of any part that differs is noticed")
  func opens() {
    #expect(
      Self.open(Self.sealed, nonce: Self.nonce, clear: Self.clear, tag: Self.tag) == Self.text)
    let parts = [Self.sealed, Self.nonce, Self.clear, Self.tag]
    var opened: [String] = []
    for part in parts.indices {
      for bit in 0..<parts[part].count * 8 {
        var changed = parts
        changed[part][bit / 8] ^= 1 << UInt8(bit % 8)
        if Self.open(changed[0], nonce: changed[1], clear: changed[2], tag: changed[3]) != nil {
          opened.append("part \(part), bit \(bit)")
        }
      }
    }
    let other = SecretKey([UInt8](repeating: 1, count: 32))
    if Self.open(Self.sealed, nonce: Self.nonce, clear: Self.clear, tag: Self.tag, using: other)
      != nil
    {
      opened.append("another key")
    }
    #expect(opened == [])
  }

  @Test("codes are those of RFC 4231, and differ in any bit from others")
  func codes() {
    let key = SecretKey(Array("Jefe".utf8))
    let message = Array("what do ya want for nothing?".utf8)
    let code = Self.bytes("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    #expect(KeyedDigest.code(of: message, using: key) == code)
    #expect(KeyedDigest.isCode(code, of: message, using: key))
    var changed = code
    changed[31] ^= 1
    #expect(!KeyedDigest.isCode(changed, of: message, using: key))
    #expect(!KeyedDigest.isCode(Array(code.dropLast()), of: message, using: key))
  }

  @Test("a digest is that of FIPS 180-4")
  func digests() {
    #expect(
      Digest.sha1(Array("abc".utf8)) == Self.bytes("a9993e364706816aba3e25717850c26c9cd0d89d"))
  }

  @Test("a derived key is that of RFC 5869, appendix A.1")
  func derives() {
    let source = SecretKey([UInt8](repeating: 0x0b, count: 22))
    let derived = source.derived(
      salt: Self.bytes("000102030405060708090a0b0c"), use: Self.bytes("f0f1f2f3f4f5f6f7f8f9"),
      countBytes: 42)
    let expected = SecretKey(
      Self.bytes(
        "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"))
    // A key shows nothing of its bytes; codes made with it do.
    let message: [UInt8] = [1, 2, 3]
    #expect(
      KeyedDigest.code(of: message, using: derived)
        == KeyedDigest.code(of: message, using: expected))
  }
}
