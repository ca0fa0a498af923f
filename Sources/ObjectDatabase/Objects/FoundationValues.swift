// FoundationValues.swift [U]: what JSONSerialization makes of null and of numbers, as values of
// Swift.
// Invariant: a number is a Bool only where the text had `true` or `false`: of 1, `as? Bool` says
// that it is true.

import Foundation

extension NSNull: StandingValue {
  var anyValue: Any? { nil }
}

extension NSNumber: StandingValue {
  var anyValue: Any? {
    // Safety: the type's code is a C string that lives as long as the process.
    switch unsafe UInt8(bitPattern: objCType.pointee) {
    case UInt8(ascii: "c"), UInt8(ascii: "B"): boolValue
    case UInt8(ascii: "f"): floatValue
    case UInt8(ascii: "d"): doubleValue
    case UInt8(ascii: "Q"): uint64Value
    default: int64Value
    }
  }
}
