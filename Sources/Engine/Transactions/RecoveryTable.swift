// RecoveryTable.swift: what open does with the two root slots, as a table. A crash can tear only
// the slot that was being written, and that is never the slot of the current root. So an invalid
// slot next to a valid one is a commit that was never acknowledged, and the valid one is the newest
// version. A valid slot whose nodes are wrong is damage, never a reason to go back.
//
//            slot 1:  valid          invalid          empty
//   slot 0: valid     @A newer       @B slot 0        @B slot 0
//           invalid   @C slot 1      @D corrupted     @D corrupted
//           empty     @C slot 1      @E creation      @E creation
//
// @D in the right column: creation writes slot 1 (version 1) and nothing else, so content in slot 0
// means that version 2 was once written.

/// The state of a root slot, as far as recovery needs it.
package enum SlotState: Int, CaseIterable, Sendable {
  case valid = 0
  case invalid = 1
  case empty = 2

  /// The state of a slot reading.
  package init(_ reading: SlotReading) {
    switch reading {
    case .valid: self = .valid
    // Recovery refuses a forged slot before it consults the table.
    case .invalid, .forged: self = .invalid
    case .empty: self = .empty
    }
  }
}

/// What open does.
package enum RecoveryAction: Equatable, Sendable {
  /// @A: both are whole; take the one with the higher version.
  case useNewer
  /// @B: take slot 0.
  case useSlot0
  /// @C: take slot 1.
  case useSlot1
  /// @D: no version can be trusted.
  case reportCorruption
  /// @E: maybe a creation that never ended; CreationImage decides, by looking at every sector.
  case recogniseCreation
}

/// The table above.
package enum RecoveryTable {
  private static let actions: [[RecoveryAction]] = [
    [.useNewer, .useSlot0, .useSlot0],
    [.useSlot1, .reportCorruption, .reportCorruption],
    [.useSlot1, .recogniseCreation, .recogniseCreation],
  ]

  /// The action for two slots.
  package static func action(_ slot0: SlotState, _ slot1: SlotState) -> RecoveryAction {
    actions[slot0.rawValue][slot1.rawValue]
  }
}
