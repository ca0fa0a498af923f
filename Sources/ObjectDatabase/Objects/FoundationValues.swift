// FoundationValues.swift [U]: converts null and numbers from JSONSerialization to Swift values.
// Invariant: a number is a Bool only where the text had `true` or `false`, although `as? Bool` also
// succeeds for 1.

import Foundation

extension NSNull: StandingValue {
  var anyValue: Any? { nil }
}

extension NSNumber: StandingValue {
  var anyValue: Any? {
    // Safety: the type's code is a C string that exists as long as the process.
    switch unsafe UInt8(bitPattern: objCType.pointee) {
    case UInt8(ascii: "c"), UInt8(ascii: "B"): boolValue
    case UInt8(ascii: "f"): floatValue
    case UInt8(ascii: "d"): doubleValue
    case UInt8(ascii: "Q"): uint64Value
    default: int64Value
    }
  }
}
