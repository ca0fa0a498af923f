// ListItem.swift: adjacent places of a list with a common state. Invariants: all elements of an
// item were inserted by one operation, in this order; each one's place is the only right child of
// the one before. An item of a moved element has one element. A bit of a mask is for one lane: bit
// 0 for the merged list, the others for the view of an author.

/// A run of places.
struct ListItem {
  /// The first element; the others follow.
  var element: Int32
  var count: Int32
  /// The item with the remaining elements of the same operation; -1 at its end.
  var rest: Int32 = -1
  /// The first left child of the first place, and the first right child of the last place.
  var left: Int32 = -1
  var right: Int32 = -1
  /// The next child of the same parent on the same side.
  var sibling: Int32 = -1
  /// The leaf of the counted tree that holds it.
  var leaf: Int32 = -1
  /// The event that made it; -1 for the initial list.
  var event: Int32
  /// Where its element has been; -1 when that is only here.
  var trail: Int32 = -1
  /// The event that erased it, as far as everything is concerned; -1 when none did.
  var eraser: Int32 = -1
  /// Lanes that know these places.
  var known: UInt8
  /// Lanes in which the elements are at this place.
  var here: UInt8 = 0xff
  /// Lanes in which the elements are erased.
  var erased: UInt8 = 0
  /// Lanes in which the elements' values are dead links.
  var hidden: UInt8 = 0

  /// Lanes in which the elements show here.
  var visible: UInt8 { known & here & ~erased & ~hidden }

  /// Its contribution to the counts of its leaf: visible elements for each lane, then known places.
  var weight: SIMD16<Int32> {
    let masks = SIMD16<Int32>(
      lowHalf: SIMD8(repeating: Int32(visible)), highHalf: SIMD8(repeating: Int32(known)))
    return ((masks &>> Self.shifts) & 1) &* count
  }

  private static let shifts = SIMD16<Int32>(
    0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7)
}

extension SIMD16<Int32> {
  /// Each number times another.
  fileprivate static func &* (left: Self, right: Int32) -> Self {
    left &* SIMD16(repeating: right)
  }
}

/// The places that an element has had.
struct ListTrail {
  /// The first is where it was inserted.
  var items: [Int32]
  /// Its current item, for each lane.
  var current: SIMD8<Int32>
}
