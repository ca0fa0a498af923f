// TokenSealTests.swift: a token's seal shows whose run made it, and the secret stays one's own.

import Foundation
import TestSupport
import Testing

@testable import Findings

@Suite("Token seals") struct TokenSealTests {
  @Test("what this user seals is their own, and nothing else is")
  func own() throws {
    let token = ReplayToken.encode(["a": 1])
    try #require(TokenSeal.isOwn(token), "no secret can be kept here: \(token)")
    #expect(TokenSeal.isOwn(token + "\n"))
    let place = try #require(token.lastIndex(of: "."))
    let plain = String(token[..<place])
    #expect(!TokenSeal.isOwn(plain))
    #expect(!TokenSeal.isOwn(plain + "." + String(repeating: "A", count: 16)))
    let other = ReplayToken.encode(["a": 2])
    let foreign = String(other[..<(try #require(other.lastIndex(of: ".")))])
    #expect(!TokenSeal.isOwn(foreign + token[place...]))
    let decoded: [String: Int] = try ReplayToken.decode(plain)
    #expect(decoded == ["a": 1])
  }

  @Test("a secret is made once, with mode 0600")
  func secret() throws {
    let directory = try TemporaryDirectory()
    let first = try #require(TokenSeal.secret(in: directory.path))
    let again = try #require(TokenSeal.secret(in: directory.path))
    #expect(TokenSeal.seal("text", with: again) == TokenSeal.seal("text", with: first))
    let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
    #expect(names == ["token-secret"])
    let about = try FileManager.default.attributesOfItem(atPath: directory.file(names[0]))
    #expect(about[.posixPermissions] as? Int == 0o600)
    #expect(about[.size] as? Int == 32)
  }

  @Test(
    "a secret that others can read or put there is none",
    arguments: [
      "chmod 644 token-secret", "mv token-secret s; ln -s s token-secret",
      "head -c 31 token-secret > s; cat s > token-secret", "chmod 777 .",
      "rm token-secret; mkfifo token-secret", "chown 65534 token-secret", "chown 65534 .",
    ])
  func foreign(change: String) throws {
    guard getuid() == 0 || !change.hasPrefix("chown") else { return }
    let directory = try TemporaryDirectory()
    try #require(TokenSeal.secret(in: directory.path) != nil)
    #expect(try runShell(change, in: directory.path).status == 0)
    #expect(TokenSeal.secret(in: directory.path) == nil)
  }
}
