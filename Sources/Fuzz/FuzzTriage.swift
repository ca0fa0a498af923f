// FuzzTriage.swift: the effect of one input, for display: the target, the input as text, the
// outcome, the stack, and whether the finding is known. The input runs in a separate process.
// Invariant: two inputs have the same key if the same functions are on top of their stacks, or if
// the target reports the same text for both, without numbers; addresses and lines do not matter.

/// Analyzes findings.
package struct FuzzTriage {
  private let targets: [FuzzTarget]
  /// The file with the keys of known findings, a line each: key, target, name.
  private let knownPath: String

  /// Prepares an analysis.
  /// - Parameters:
  ///   - targets: The targets that a file can belong to.
  ///   - knownPath: The list of known findings.
  package init(targets: [FuzzTarget], knownPath: String) {
    self.targets = targets
    self.knownPath = knownPath
  }

  /// The effect of an input.
  package struct Verdict {
    /// Nil when there is no finding.
    package var finding: String?
    package var frames: [String] = []
    package var key = ""
  }

  /// The target that a file belongs to: it is in a folder of that name, as in the corpora, or its
  /// name starts with it, as those of artifacts of `make fuzz` do.
  package func target(of path: String) -> FuzzTarget? {
    let parts = path.split(separator: "/").map(String.init)
    let folder = parts.dropLast().last ?? ""
    if let target = targets.first(where: { $0.name == folder }) { return target }
    let name = parts.last ?? ""
    return targets.filter { name.hasPrefix($0.name + "-") || name == $0.name + ".pack" }
      .max { $0.name.count < $1.name.count }
  }

  /// Runs a file's input in a separate process.
  package func verdict(_ target: FuzzTarget, _ path: String) -> Verdict {
    guard let (lines, status) = FuzzFiles.runAgain(["once", target.name, path]) else {
      return Verdict(finding: "it could not be run")
    }
    var verdict = Verdict()
    let last = lines.last { $0.hasPrefix("outcome: ") }.map { String($0.dropFirst(9)) }
    if let last, status == 0 {
      guard last.hasPrefix("FINDING ") else { return verdict }
      verdict.finding = String(last.dropFirst(8))
      verdict.key = Self.key(target.name + " " + Self.withoutNumbers(last))
      return verdict
    }
    let trap = lines.first { $0.contains("Fatal error") || $0.contains("Crash") } ?? "hang"
    verdict.finding = status & 127 == 14 ? "hang" : trap
    verdict.frames = lines.compactMap(Self.frame)
    let ours = verdict.frames.filter { !$0.contains("assertionFailure") }.prefix(6)
    verdict.key = Self.key(([target.name] + ours.map(Self.function)).joined(separator: "\n"))
    return verdict
  }

  /// The name of the known finding with a key.
  package func known(_ key: String) -> String? {
    let text = FuzzFiles.contents(of: knownPath).map { String(decoding: $0, as: UTF8.self) } ?? ""
    let line = text.split(separator: "\n").first { $0.hasPrefix(key + " ") }
    return line.map { $0.split(separator: " ").dropFirst(2).joined(separator: " ") }
  }

  /// Prints the complete analysis of an input.
  /// - Returns: Whether there is no finding.
  package func report(_ target: FuzzTarget, _ path: String, _ bytes: [UInt8]) -> Bool {
    print("\(path): \(bytes.count) bytes for \(target.name): \(target.judges)")
    print("input:")
    for line in target.describe(bytes) { print("  \(line)") }
    let verdict = verdict(target, path)
    guard let finding = verdict.finding else {
      print("outcome: no finding")
      return true
    }
    print("outcome: FINDING: \(finding)")
    if !verdict.frames.isEmpty {
      print("stack:")
      for frame in verdict.frames.prefix(24) { print("  \(frame)") }
    }
    let name = known(verdict.key)
    print("key \(verdict.key): \(name.map { "known as \($0)" } ?? "new; keep it in \(knownPath)")")
    return false
  }

  // MARK: stacks

  /// A line of a Swift backtrace: `3 [ra] 0x000… function + 12 in program at /file.swift:1:2`.
  private static func frame(_ line: String) -> String? {
    let words = line.split(separator: " ")
    guard words.count > 2, Int(words[0]) != nil,
      let address = words.firstIndex(where: { $0.hasPrefix("0x") }), address <= 2
    else { return nil }
    return words[(address + 1)...].joined(separator: " ")
  }

  /// A frame's function, without its call site.
  private static func function(_ frame: String) -> String {
    let words = frame.split(separator: " ")
    return words.prefix { $0 != "+" && $0 != "in" }.joined(separator: " ")
  }

  /// A target's message up to the first colon, with `#` for each number.
  private static func withoutNumbers(_ text: String) -> String {
    let head = text.dropFirst("FINDING ".count).prefix { $0 != ":" }
    return head.split { $0.isNumber }.joined(separator: "#")
  }

  private static func key(_ text: String) -> String {
    let hash = text.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { hash, byte in
      (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
    }
    return String(hash, radix: 36)
  }
}
