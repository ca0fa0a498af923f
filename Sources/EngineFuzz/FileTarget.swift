// FileTarget.swift: bytes are a whole database file: open, verify, read, write, verify. Its mutator
// knows the format: it changes fields, widths, refs and slots, splices nodes, and corrects every
// checksum above the change up to the root slot.

import Engine
import Fuzz

enum FileTarget {
  static let target = FuzzTarget(
    name: "file", judges: "a whole file: open, verify, read, write, verify; as `node`",
    smokeCount: 150, seeds: { seeds }, run: { run($0) }
  ).with {
    $0.mutate = { input, sizeMax, choices in mutated(input, sizeMax, &choices) }
    $0.sizeMax = bytesMax
  }

  private static let bytesMax = 1 << 18

  /// Unencrypted files, without the zeros after the used part.
  private static var seeds: [[UInt8]] {
    MutantBase.all.filter { $0.key == nil && $0.bytes.count <= bytesMax }.map(\.bytes)
  }

  private static func run(_ input: [UInt8]) -> FuzzOutcome {
    guard input.count <= bytesMax else { return .refused }
    return JudgedImage.judge(input)
  }

  private static func mutated(
    _ input: [UInt8], _ sizeMax: Int, _ choices: inout MutantChoices
  ) -> [UInt8]? {
    let kind = choices.below(8)
    if kind == 0 { return nil }
    let isReadable = input.count >= Layout.headerSizeBytes && input.count % 4096 == 0
    guard isReadable, kind != 1 else {
      let whole = seeds
      let bytes = whole[choices.below(whole.count)]
      return bytes.count <= sizeMax ? bytes : nil
    }
    let base = MutantBase(name: "input", bytes: input)
    let bytes =
      kind == 2 ? Mutator.mutantSlots(of: base, &choices) : Mutator.mutant(of: base, &choices)
    return bytes.count <= sizeMax ? bytes : nil
  }
}
