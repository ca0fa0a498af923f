// FuzzTarget.swift: the registry of fuzz targets. Each is a function from bytes to an outcome. A
// trap, a hang or unbounded memory is a finding whatever the bytes say, and so is a wrong answer,
// which a target says itself. FUZZ_TARGET names the one that libFuzzer drives.

/// What became of an input.
enum FuzzOutcome: Equatable {
  /// It was taken, and everything that was asked about it was right.
  case accepted
  /// It was refused with an error.
  case refused
  /// Something was wrong; the text says what.
  case finding(String)

  var word: String {
    switch self {
    case .accepted: "accepted"
    case .refused: "refused"
    case .finding: "FINDING"
    }
  }
}

/// A function that must survive any bytes, and judges what it sees.
struct FuzzTarget: Sendable {
  let name: String
  /// What input means, and what counts as a finding besides a trap, in one line.
  let judges: String
  /// How many inputs a smoke run gives it.
  let smokeCount: UInt64
  /// Inputs to start from.
  let seeds: @Sendable () -> [[UInt8]]
  let run: @Sendable ([UInt8]) -> FuzzOutcome

  static let all: [FuzzTarget] = [
    HeaderTarget.target, SlotTarget.target, ImageTarget.target, NodeTarget.target,
    FreeListTarget.target, EncryptedTarget.target, LockFileTarget.target, FolderTarget.target,
    PackedTarget.target, ObjectTarget.target, DecimalTarget.target, CanaryTarget.target,
  ]

  static func named(_ name: String) -> FuzzTarget? {
    all.first { $0.name == name }
  }

  /// Seeds for targets that decode choices: bytes of several lengths, the same on every run.
  static func choiceSeeds(_ name: String) -> [[UInt8]] {
    let salt = name.utf8.reduce(7 as UInt64) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
    var choices = MutantChoices(seed: salt)
    return [[]]
      + [8, 24, 80, 240, 1000].map { count in
        (0..<count).map { _ in UInt8(truncatingIfNeeded: choices.number(1)) }
      }
  }
}
