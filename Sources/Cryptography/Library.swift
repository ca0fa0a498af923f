// Library.swift: [U] libcrypto, as this module uses it: with a context of its own, so that no
// configuration of the machine (openssl.cnf, engines, providers) is read or changes what an
// algorithm does.
// Safety: the context and what is fetched from it live as long as the process; OpenSSL lets all
// threads use them at once (OSSL_LIB_CTX(3), EVP_CIPHER_fetch(3)).

import COpenSSL

enum Library {
  /// What algorithms are fetched from.
  nonisolated(unsafe) static let context: OpaquePointer = {
    // Nothing is torn down at exit, where other threads may still seal.
    let options = UInt64(OPENSSL_INIT_NO_LOAD_CONFIG) | UInt64(OPENSSL_INIT_NO_ATEXIT)
    guard OPENSSL_init_crypto(options, nil) == 1, let context = unsafe OSSL_LIB_CTX_new()
    else { preconditionFailure("libcrypto cannot start") }
    return unsafe context
  }()

  nonisolated(unsafe) static let aes256GCM: OpaquePointer = {
    guard let cipher = unsafe EVP_CIPHER_fetch(context, "AES-256-GCM", nil) else {
      preconditionFailure("libcrypto has no AES-256-GCM")
    }
    return unsafe cipher
  }()

  nonisolated(unsafe) static let hkdf: OpaquePointer = {
    guard let derivation = unsafe EVP_KDF_fetch(context, "HKDF", nil) else {
      preconditionFailure("libcrypto has no HKDF")
    }
    return unsafe derivation
  }()
}
