// InputText.swift: shows bytes as text if they are text, and otherwise as a dump.

/// Inputs as text.
package enum InputText {
  private static let linesMax = 40

  /// The lines of a text, or of a dump.
  package static func lines(_ input: [UInt8]) -> [String] {
    guard let text = String(validating: input, as: UTF8.self),
      !text.unicodeScalars.contains(where: { $0.value < 32 && $0 != "\n" && $0 != "\t" })
    else { return dump(input) }
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map {
      String($0.prefix(200))
    }
    return capped(lines)
  }

  /// Sixteen bytes to a line; lines of zeros are left out.
  package static func dump(_ input: [UInt8]) -> [String] {
    let starts = stride(from: 0, to: input.count, by: 16).filter { start in
      input.count <= 256 || input[start..<min(start + 16, input.count)].contains { $0 != 0 }
    }
    let lines = starts.prefix(linesMax + 1).map { start in
      let part = input[start..<min(start + 16, input.count)]
      let hex = part.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }
      let text = part.map { (32..<127).contains($0) ? Character(UnicodeScalar($0)) : "." }
      return "\(start): \(hex.joined(separator: " "))  \(String(text))"
    }
    return capped(lines)
  }

  private static func capped(_ lines: [String]) -> [String] {
    lines.count <= linesMax ? lines : lines.prefix(linesMax) + ["…"]
  }
}
