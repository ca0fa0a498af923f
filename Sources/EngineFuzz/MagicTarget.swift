// MagicTarget.swift: [U] two consecutive numbers that only coverage guidance can find. A libFuzzer
// campaign that does not find them is not guided by coverage and comparisons. They are read in the
// same way as by the format's decoders, so that comparisons traced here are traced there as well.
// Safety: the view of the input does not leave the closure that made it.

import Engine
import Fuzz

enum MagicTarget {
  static let target = FuzzTarget(
    name: "magic", judges: "eight bytes that only coverage leads to; libFuzzer must find them",
    smokeCount: 1000, seeds: { [] }, run: { run($0) }
  ).with { $0.isPlanted = true }

  private static func run(_ input: [UInt8]) -> FuzzOutcome {
    unsafe input.withUnsafeBytes { buffer in judge(unsafe RawBytes(buffer)) }
  }

  /// Two steps: the second comparison is reached only after passing the first.
  private static func judge(_ bytes: RawBytes) -> FuzzOutcome {
    guard bytes.count >= 4, bytes.uint32(0) == 0x4641_554c else { return .refused }
    guard bytes.count >= 8, bytes.uint32(4) == 0x5401_7f17 else { return .accepted }
    return .finding("the magic number was found")
  }
}
