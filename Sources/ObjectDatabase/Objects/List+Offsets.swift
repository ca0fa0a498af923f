// List+Offsets.swift: changes of several elements of a list by their positions, as views of
// SwiftUI ask for them.

import Foundation

extension List {
  /// Replaces an element.
  public func replace(index: Int, object: Element) { self[index] = object }

  /// Takes the elements at some positions out.
  public func remove(atOffsets offsets: IndexSet) {
    for position in offsets.reversed() { remove(at: position) }
  }

  /// Moves the elements at some positions, in their order, before the one at another.
  /// - Parameters:
  ///   - offsets: Where they are.
  ///   - destination: The position that they are put before, counted before the move.
  public func move(fromOffsets offsets: IndexSet, toOffset destination: Int) {
    // Those before the destination move up as each one leaves; those behind it stay where they are.
    for (moved, position) in offsets.filter({ $0 < destination }).enumerated() {
      move(from: position - moved, to: destination - 1)
    }
    for (moved, position) in offsets.filter({ $0 >= destination }).enumerated() {
      move(from: position, to: destination + moved)
    }
  }

  /// Takes elements at the begin out.
  public func removeFirst(_ number: Int) { removeSubrange(0..<number) }

  /// Takes elements at the end out.
  public func removeLast(_ number: Int) { removeSubrange(count - number..<count) }

  /// Takes a range of elements out.
  public func removeSubrange(_ bounds: Range<Int>) { replaceSubrange(bounds, with: []) }

  /// Removes the elements in a range of any kind.
  public func removeSubrange<Bounds: RangeExpression>(_ bounds: Bounds)
  where Bounds.Bound == Int {
    removeSubrange(bounds.relative(to: self))
  }

  /// Inserts elements before a position.
  public func insert<Objects: Collection>(contentsOf objects: Objects, at index: Int)
  where Objects.Element == Element {
    replaceSubrange(index..<index, with: objects)
  }

  /// A range of elements; another one in its place may have another number of elements.
  public subscript(bounds: Range<Int>) -> Slice<List<Element>> {
    get { Slice(base: self, bounds: bounds) }
    set { replaceSubrange(bounds, with: Array(newValue)) }
  }
}
