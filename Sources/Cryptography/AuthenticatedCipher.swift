// AuthenticatedCipher.swift: [U] AES-256-GCM (NIST SP 800-38D) with nonces of 12 bytes and tags of
// 16: texts that only a holder of the key can read, or change unnoticed.
// Safety: pointers are used during a call, for as many bytes as their buffers have.

import COpenSSL

/// Seals and opens texts.
package enum AuthenticatedCipher {
  package static let keyBytes = 32
  package static let nonceBytes = 12
  package static let tagBytes = 16
  /// OpenSSL counts in Int32, and says nothing of more.
  private static let textBytesMax = Int(Int32.max)

  /// Turns a text into its ciphertext, where it stands.
  ///
  /// Whoever calls never uses a nonce with a key twice.
  /// - Parameters:
  ///   - text: The text, below 2 GiB.
  ///   - key: 32 bytes.
  ///   - nonce: 12 bytes.
  ///   - clear: What is authenticated with it, and stays readable.
  ///   - tag: Room for 16 bytes, outside of `text`.
  package static func seal(
    _ text: UnsafeMutableRawBufferPointer, using key: SecretKey, nonce: UnsafeRawBufferPointer,
    authenticating clear: UnsafeRawBufferPointer, tag: UnsafeMutableRawBufferPointer
  ) {
    unsafe check(text.count, key, nonce, clear, tag.count)
    let isSealed = unsafe key.withCipher(sealing: true) { context in
      var written: Int32 = 0
      return unsafe EVP_EncryptInit_ex2(context, nil, nil, nonce.octets, nil) == 1
        && EVP_EncryptUpdate(context, nil, &written, clear.octets, Int32(clear.count)) == 1
        && EVP_EncryptUpdate(context, text.octets, &written, text.octets, Int32(text.count)) == 1
        && EVP_EncryptFinal_ex(context, tag.octets, &written) == 1
        && EVP_CIPHER_CTX_ctrl(
          context, EVP_CTRL_AEAD_GET_TAG, Int32(tagBytes), tag.baseAddress) == 1
    }
    precondition(isSealed, "keys and nonces of the right size always seal")
  }

  /// Turns a ciphertext into its text.
  ///
  /// - Returns: False when the ciphertext, the clear bytes or the tag are not what the key sealed;
  ///   then `text` holds nothing of use, and nothing may be done with it.
  package static func open(
    _ sealed: UnsafeRawBufferPointer, into text: UnsafeMutableRawBufferPointer,
    using key: SecretKey, nonce: UnsafeRawBufferPointer,
    authenticating clear: UnsafeRawBufferPointer, tag: UnsafeRawBufferPointer
  ) -> Bool {
    precondition(text.count == sealed.count, "a text is as long as its ciphertext")
    unsafe check(text.count, key, nonce, clear, tag.count)
    return unsafe key.withCipher(sealing: false) { context in
      var written: Int32 = 0
      var rest: UInt8 = 0
      return unsafe EVP_DecryptInit_ex2(context, nil, nil, nonce.octets, nil) == 1
        && EVP_DecryptUpdate(context, nil, &written, clear.octets, Int32(clear.count)) == 1
        && EVP_DecryptUpdate(
          context, text.octets, &written, sealed.octets, Int32(sealed.count)) == 1
        && EVP_CIPHER_CTX_ctrl(
          context, EVP_CTRL_AEAD_SET_TAG, Int32(tagBytes),
          UnsafeMutableRawPointer(mutating: tag.baseAddress)) == 1
        && EVP_DecryptFinal_ex(context, &rest, &written) == 1
    }
  }

  private static func check(
    _ textBytes: Int, _ key: SecretKey, _ nonce: UnsafeRawBufferPointer,
    _ clear: UnsafeRawBufferPointer, _ tag: Int
  ) {
    precondition(unsafe key.bytes.count == keyBytes && nonce.count == nonceBytes && tag == tagBytes)
    precondition(textBytes <= textBytesMax && clear.count <= textBytesMax, "below 2 GiB")
  }
}

extension UnsafeRawBufferPointer {
  /// The start, as OpenSSL takes it.
  var octets: UnsafePointer<UInt8>? {
    unsafe baseAddress?.assumingMemoryBound(to: UInt8.self)
  }
}

extension UnsafeMutableRawBufferPointer {
  var octets: UnsafeMutablePointer<UInt8>? {
    unsafe baseAddress?.assumingMemoryBound(to: UInt8.self)
  }
}
