// KeyedDigest.swift: [U] what is made of a key and other bytes with SHA-256: codes that only a
// holder of the key can make (HMAC, RFC 2104), and further keys (HKDF, RFC 5869).
// Safety: pointers to arrays are used during the calls that they are passed to.

import COpenSSL

/// HMAC-SHA256.
package enum KeyedDigest {
  package static let codeBytes = 32

  /// The code of a message: 32 bytes.
  package static func code(of message: [UInt8], using key: SecretKey) -> [UInt8] {
    var code = [UInt8](repeating: 0, count: codeBytes)
    var count = 0
    let made = unsafe EVP_Q_mac(
      Library.context, "HMAC", nil, "SHA256", nil, key.bytes.baseAddress, key.bytes.count,
      message, message.count, &code, code.count, &count)
    guard unsafe made != nil, count == codeBytes else { preconditionFailure("no memory for HMAC") }
    return code
  }

  /// True for the code of a message; takes the same time wherever the first wrong byte is.
  package static func isCode(
    _ code: [UInt8], of message: [UInt8], using key: SecretKey
  ) -> Bool {
    guard code.count == codeBytes else { return false }
    return unsafe CRYPTO_memcmp(code, Self.code(of: message, using: key), codeBytes) == 0
  }
}

extension SecretKey {
  /// A key made of this one by HKDF-SHA256.
  /// - Parameters:
  ///   - salt: Bytes that need not be secret, and differ where keys have to.
  ///   - use: What the key is for: keys for different uses are independent.
  ///   - countBytes: At most 8,160 (RFC 5869, section 2.3).
  /// - Returns: The key.
  package func derived(salt: [UInt8], use: [UInt8], countBytes: Int) -> SecretKey {
    unsafe SecretKey(countBytes: countBytes) { derived in
      var salt = salt
      var use = use
      guard let context = unsafe EVP_KDF_CTX_new(Library.hkdf) else {
        preconditionFailure("no memory for HKDF")
      }
      defer { unsafe EVP_KDF_CTX_free(context) }
      let isMade = unsafe "SHA256".withCString { digest in
        unsafe salt.withUnsafeMutableBytes { salt in
          unsafe use.withUnsafeMutableBytes { use in
            let parameters = unsafe [
              OSSL_PARAM_construct_utf8_string(
                Self.name("digest"), UnsafeMutablePointer(mutating: digest), 0),
              OSSL_PARAM_construct_octet_string(
                Self.name("key"), UnsafeMutableRawPointer(mutating: bytes.baseAddress),
                bytes.count),
              OSSL_PARAM_construct_octet_string(Self.name("salt"), salt.baseAddress, salt.count),
              OSSL_PARAM_construct_octet_string(Self.name("info"), use.baseAddress, use.count),
              OSSL_PARAM_construct_end(),
            ]
            return unsafe EVP_KDF_derive(context, derived.octets, derived.count, parameters) == 1
          }
        }
      }
      precondition(isMade, "keys of at most 8,160 bytes are always derived")
    }
  }

  /// The name of a parameter of OpenSSL's, which keeps the pointer: that of a macro is a String to
  /// Swift, and its pointer is valid during one call only.
  private static func name(_ name: StaticString) -> UnsafePointer<CChar> {
    // Safety: a literal's bytes end with a zero, and exist as long as the process.
    unsafe UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
  }
}
