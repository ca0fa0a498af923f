// CertificateTextTests.swift: a certificate is pasted into documents: no name of a file becomes
// markup there, and nothing that a checker says.

import Testing

@testable import Exploration
@testable import Findings

@Suite("Certificates as Markdown")
struct CertificateTextTests {
  private static let hostile =
    "a|b`c`<script>x</script>[y](http://e)**z**\n# head\n\n- item\u{1B}[31m\u{202E}&lt;"

  private func certificate(_ text: String) -> Certificate {
    var proof = HTMLFixture.finding(headline: "lost: \(text)")
    proof.lost = ["#1 write of '\(text)'"]
    var verdict = SyncVerdict()
    verdict.proof = proof
    verdict.model = "my`model|"
    let syncs = [
      CertifiedSync(event: 3, text: "fsync of '\(text)'", verdict: verdict),
      CertifiedSync(event: 9, text: "fsync of '\(text)'", verdict: SyncVerdict()),
    ]
    var certificate = Certificate(name: text, title: text)
    certificate.sites = [CertifiedSite(number: 1, text: text, syncs: syncs, verdict: verdict)]
    certificate.skipped = [text]
    return certificate
  }

  @Test("hostile names are text, on lines of their own")
  func hostile() {
    let plain = certificate("name").markdown.split(separator: "\n")
    let lines = certificate(Self.hostile).markdown.split(separator: "\n")
    let starts = ["#", "-", "|", "+", "="]
    for start in starts {
      let count = lines.count { $0.hasPrefix(start) }
      #expect(count == plain.count { $0.hasPrefix(start) }, "\(start): \(lines)")
    }
    let text = lines.joined(separator: "\n")
    for character in "|`<>[]*&" {
      let free = Self.unescaped(character, in: text)
      let plain = Self.unescaped(character, in: plain.joined(separator: "\n"))
      #expect(free == plain, "\(character): \(free), \(plain)")
    }
    #expect(!text.contains("\u{1B}") && !text.contains("\u{202E}"))
  }

  @Test(
    "no wrapped line begins a list, whatever words a name has", arguments: ["1.", "1)", "+", "-"])
  func lists(word: String) {
    let words = Array(repeating: word, count: 200).joined(separator: " ")
    let lines = certificate(words).markdown.split(separator: "\n")
    let begun = lines.filter { $0.drop { $0 == " " }.hasPrefix("\(word) \(word)") }
    #expect(begun.isEmpty && lines.count > 10, "\(begun)")
  }

  /// How often a character stands outside of code and without a backslash.
  private static func unescaped(_ character: Character, in text: String) -> Int {
    var count = 0
    var isCode = false
    var isEscaped = false
    for next in text {
      if next == "`" && !isEscaped { isCode.toggle() }
      if next == character && !isEscaped && (!isCode || next == "`") { count += 1 }
      isEscaped = next == "\\" && !isEscaped && !isCode
    }
    return count
  }

  @Test("plain text stays as it is, and wrapped lines begin no block")
  func plain() {
    #expect("fsync of 'data.realm' (written), sync 1".asMarkdown.count == 39)
    let long = String(repeating: "word ", count: 24) + "# not a heading - nor an item"
    let text = certificate(long).markdown
    #expect(!text.contains("\n# not") && !text.contains("\n- nor"), "\(text)")
  }
}
