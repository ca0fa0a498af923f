// TokenSeal.swift: [U] how a token shows that a run of this user made it: a keyed digest behind it
// (HMAC, RFC 2104), with a secret that only this user can read. A token holds shell commands; one
// without the seal is a stranger's.
// Invariants: the secret is in a file of mode 0600 that belongs to the user, or there is none; two
// processes that make it at once have the same one.
// Safety: paths are passed to one system call each and not kept.

import CSystem
import Cryptography
import Foundation
import Glibc
import LabCore

/// Seals of replay tokens.
package enum TokenSeal {
  /// What stands between a token and its seal.
  static let separator: Character = "."
  private static let sealBytes = 12
  private static let secretBytes = 32

  /// The secret of this user; nil where there is no place for one.
  private static let secret: SecretKey? = makeSecret()

  /// The seal of a text; nil where this user has no secret.
  static func seal(_ text: String) -> String? {
    secret.map { seal(text, with: $0) }
  }

  static func seal(_ text: String, with secret: SecretKey) -> String {
    let code = KeyedDigest.code(of: Array(text.utf8), using: secret)
    return Data(code.prefix(sealBytes)).base64EncodedString()
      .replacing("+", with: "-").replacing("/", with: "_")
  }

  /// True for a token with the seal of this user.
  package static func isOwn(_ token: String) -> Bool {
    let text = token.trimmingCharacters(in: .whitespacesAndNewlines)
    guard let place = text.lastIndex(of: separator), let seal = seal(String(text[..<place])) else {
      return false
    }
    return text[text.index(after: place)...] == seal
  }

  /// A token without its seal; nil for a seal that cannot be one.
  static func unsealed(_ text: String) -> String? {
    guard let place = text.firstIndex(of: separator) else { return text }
    let seal = text[text.index(after: place)...]
    return seal.utf8.count == sealBytes / 3 * 4 ? String(text[..<place]) : nil
  }

  // MARK: The secret

  private static func makeSecret() -> SecretKey? {
    let environment = ProcessInfo.processInfo.environment
    let home = environment["HOME"] ?? FileManager.default.homeDirectoryForCurrentUser.path
    let state = environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    let folder = "\(state ?? "\(home)/.local/state")/faultline"
    try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    return secret(in: folder)
  }

  /// The secret in a folder of this user, made when there is none.
  static func secret(in folder: String) -> SecretKey? {
    var about = stat()
    guard unsafe lstat(folder, &about) == 0, about.st_mode & S_IFMT == 0o040000,
      about.st_uid == geteuid(), about.st_mode & 0o022 == 0
    else { return nil }
    let path = "\(folder)/token-secret"
    if let secret = read(path) { return secret }
    let draft = "\(path).\(getpid())"
    guard let bytes = randomBytes() else { return nil }
    let descriptor = unsafe csystem_open(
      draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return nil }
    let isWritten = (try? LineChannel(input: -1, output: descriptor).write(bytes)) != nil
    close(descriptor)
    // The first process wins; the others read what it wrote.
    if isWritten { unsafe _ = link(draft, path) }
    unsafe _ = unlink(draft)
    return read(path)
  }

  private static func randomBytes() -> [UInt8]? {
    let source = unsafe csystem_open("/dev/urandom", O_RDONLY | O_CLOEXEC, 0)
    guard source >= 0 else { return nil }
    defer { close(source) }
    let bytes = try? Descriptors.read(source, limitBytes: secretBytes)
    return bytes?.count == secretBytes ? bytes : nil
  }

  private static func read(_ path: String) -> SecretKey? {
    let descriptor = unsafe csystem_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var about = stat()
    guard unsafe fstat(descriptor, &about) == 0, about.st_mode & S_IFMT == 0o100000,
      about.st_uid == geteuid(), about.st_mode & 0o077 == 0,
      let bytes = try? Descriptors.read(descriptor, limitBytes: secretBytes + 1),
      bytes.count == secretBytes
    else { return nil }
    return SecretKey(bytes)
  }
}
