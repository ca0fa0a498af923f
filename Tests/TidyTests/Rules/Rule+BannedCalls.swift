// Rule+BannedCalls.swift: calls that the house does not make, each with what to write instead.

/// A piece of code that may not stand in some folders.
private struct BannedCall: Sendable {
  let text: String
  let folders: [String]
  let instead: String
}

private let everywhere = SourceTree.folders
private let shipped = ["Sources"]
private let engine = ["Sources/Engine"]
private let icu = "nothing that needs ICU's tables: the package has none (decision 1131)"

private let banned: [BannedCall] = [
  BannedCall(text: "Date()", folders: shipped, instead: "take the time as a parameter"),
  BannedCall(
    text: "SystemRandomNumberGenerator", folders: everywhere, instead: "PRNG(seed.derived(…))"),
  BannedCall(text: "UUID()", folders: shipped, instead: "draw from PRNG(seed.derived(…))"),
  BannedCall(text: "try!", folders: shipped, instead: "throws, or do/catch"),
  BannedCall(
    text: "fatalError(", folders: shipped, instead: "an error, or precondition for a wrong caller"),
  BannedCall(
    text: "assert(", folders: shipped, instead: "precondition: it stays on in release"),
  BannedCall(text: "-Ounchecked", folders: everywhere, instead: "nothing: preconditions stay on"),
  BannedCall(text: "print(", folders: engine, instead: "an error value, or nothing"),
  BannedCall(text: "debugPrint(", folders: engine, instead: "an error value, or nothing"),
  BannedCall(
    text: "import Foundation", folders: engine,
    instead: "Storage/Syscalls.swift, and fixed-width integers"),
  BannedCall(text: "Locale(", folders: shipped, instead: icu),
  BannedCall(text: "Locale.current", folders: shipped, instead: icu),
  BannedCall(text: "Calendar(", folders: shipped, instead: icu),
  BannedCall(text: "TimeZone(", folders: shipped, instead: icu),
  BannedCall(text: "DateFormatter(", folders: shipped, instead: icu),
  BannedCall(text: "NumberFormatter(", folders: shipped, instead: icu),
  BannedCall(text: ".formatted(", folders: shipped, instead: icu),
  BannedCall(text: "import XCTest", folders: everywhere, instead: "import Testing"),
]

extension Rule {
  static let bannedCalls: [Rule] = banned.map { call in
    Rule("no \(call.text)") {
      let folder = call.folders.last ?? "Sources"
      return [Planted("// Planted.swift\n\(call.text)\n", at: "\(folder)/Planted.swift")]
    } innocent: {
      let folder = call.folders.last ?? "Sources"
      return [
        Planted("// \(call.text)\nlet a = \"\(call.text)\"\n", at: "\(folder)/Planted.swift"),
        Planted("\(call.text)\n", at: "Elsewhere/Planted.swift"),
      ]
    } check: { file in
      guard file.isIn(call.folders) else { return [] }
      return file.code.enumerated().filter { !positions(of: call.text, in: $1).isEmpty }.map {
        Violation(
          path: file.path, line: $0.offset + 1,
          message: "`\(call.text)` is not used here; instead: \(call.instead)")
      }
    }
  }

  /// Calls that draw from the system's generator unless they are told which one to use.
  static let unseededRandom = Rule("random without using:") {
    [
      Planted("let a = Int.random(in: 0..<9)\n"),
      Planted("let a = Bool.random()\n"),
      Planted("let a = list\n  .shuffled()\n"),
      Planted("let a = UInt64.random(\n  in: 0...9)\n"),
    ]
  } innocent: {
    [
      Planted("let a = Int.random(in: 0..<count(b), using: &generator)\n"),
      Planted("let a = UInt64.random(\n  in: 0...9,\n  using: &generator)\n"),
      Planted("let rule = KeyRule.random(1...9)\n"),
    ]
  } check: { file in
    let calls = [".random(", ".randomElement(", ".shuffled(", ".shuffle("]
    return file.code.indices.flatMap { index in
      calls.flatMap { call in
        positions(of: call, in: file.code[index]).compactMap { position -> Violation? in
          let start = position + call.utf8.count
          let given = arguments(of: file, line: index, start: start)
          // An argument without the label `in:` belongs to something of ours with the same name.
          let first = given.drop(while: \.isWhitespace)
          let isDraw = call != ".random(" || first.isEmpty || first.hasPrefix("in:")
          guard isDraw, !given.contains("using:") else { return nil }
          return Violation(
            path: file.path, line: index + 1,
            message: "`\(call)…)` without `using:`; instead: using: &generator, from the seed")
        }
      }
    }
  }

  /// The text between a call's parentheses, over at most ten lines.
  private static func arguments(of file: SourceFile, line: Int, start: Int) -> String {
    var depth = 1
    var text: [UInt8] = []
    let rest = file.code[line..<min(line + 10, file.code.count)].joined(separator: "\n")
    for byte in rest.utf8.dropFirst(start) {
      if byte == UInt8(ascii: "(") { depth += 1 }
      if byte == UInt8(ascii: ")") { depth -= 1 }
      if depth == 0 { break }
      text.append(byte)
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Work left open needs a place where somebody will find it.
  static let openWork = Rule("open work has an issue number") {
    [Planted("// TODO: later\n"), Planted("let a = 1  // FIXME maybe #soon\n")]
  } innocent: {
    [Planted("// TODO(#17): when the kernel has it\n"), Planted("let a = \"TODO\"\n")]
  } check: { file in
    file.comments.enumerated().compactMap { index, comment in
      guard
        ["TODO", "FIXME", "XXX"].contains(where: { !positions(of: $0, in: comment).isEmpty }),
        !comment.split(separator: "#").dropFirst().contains(where: { $0.first?.isNumber == true })
      else { return nil }
      return Violation(
        path: file.path, line: index + 1, message: "open work without an issue number (#17)")
    }
  }
}
