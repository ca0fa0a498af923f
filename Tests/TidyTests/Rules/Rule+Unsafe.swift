// Rule+Unsafe.swift: memory-unsafe code stands only in files that say so in their first line.

extension Rule {
  /// A file's first line has the tag `[U]` if, and only if, the file holds unsafe code: so the list
  /// of places to review lives in the files themselves.
  static let unsafeTag = Rule("unsafe tag") {
    [
      Planted("// Planted.swift: no tag.\nlet a = unsafe pointer.pointee\n"),
      Planted("// Planted.swift: no tag.\nfunc f(_ a: UnsafeMutableRawPointer) {}\n"),
      Planted("// Planted.swift: no tag.\nfinal class C: @unchecked Sendable {}\n"),
      Planted("// Planted.swift: no tag.\nnonisolated(unsafe) var a = 1\n"),
      Planted("// Planted.swift [U]: a tag and no need for it.\nlet a = 1\n"),
    ]
  } innocent: {
    [
      Planted("// Planted.swift [U]: tagged.\nlet a = unsafe pointer.pointee\n"),
      Planted("// Planted.swift: only talks of unsafe things.\nlet a = \"unsafe \"\n"),
      Planted("// Planted.swift: a case of that name.\ncase unsafe\nlet a = b == .unsafe\n"),
    ]
  } check: { file in
    let tagged = file.lines.first?.contains("[U]") == true
    let uses = file.code.enumerated().filter { isUnsafe($1) }
    if tagged, uses.isEmpty {
      return [
        Violation(path: file.path, line: 1, message: "the tag [U] without unsafe code: remove it")
      ]
    }
    guard !tagged else { return [] }
    return uses.map { index, _ in
      Violation(
        path: file.path, line: index + 1,
        message: "unsafe code in a file without the tag [U] in its first line")
    }
  }

  private static func isUnsafe(_ line: String) -> Bool {
    // A case may have the name; the keyword never follows a dot.
    let line = line == "  case unsafe" || line == "case unsafe" ? "" : line
    let parts = line.split(separator: ".unsafe", omittingEmptySubsequences: false)
    let code = parts.joined(separator: " .")
    if ["unsafe", "@unchecked"].contains(where: { !positions(of: $0, in: code).isEmpty }) {
      return true
    }
    return line.utf8.split(whereSeparator: { !isIdentifierByte($0) }).contains { word in
      let word = Substring(word)
      return word.hasPrefix("Unsafe") && (word.hasSuffix("Pointer") || word.hasSuffix("Buffer"))
    }
  }
}
