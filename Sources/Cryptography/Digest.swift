// Digest.swift: [U] digests without a key, for formats that name contents by them.
// Safety: pointers to arrays are used during the call that they are passed to.

import COpenSSL

/// Digests of whole messages.
package enum Digest {
  /// SHA-1 (FIPS 180-4): 20 bytes.
  ///
  /// Two messages with one digest can be made, so it proves nothing about who wrote a message.
  package static func sha1(_ message: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 20)
    var count = 0
    let isMade = unsafe EVP_Q_digest(
      Library.context, "SHA1", nil, message, message.count, &digest, &count)
    guard isMade == 1, count == digest.count else { preconditionFailure("no memory for SHA-1") }
    return digest
  }
}
