// List.swift: elements in the caller's order; an array for an unmanaged object, the collection of
// its row for a managed one. Invariant: a list that was unmanaged when its owner was added is the
// managed list of that owner afterwards.

import Engine

/// Elements in an order of the caller's.
public final class List<Element: RealmCollectionValue>: RealmCollection, RangeReplaceableCollection,
  MutableCollection
{
  private var unmanaged: [Element] = []
  /// For this module.
  public private(set) var _row: _Row?

  /// Makes an empty, unmanaged list.
  public init() {}

  /// For this module.
  public init(_row: _Row) { self._row = _row }

  /// For this module.
  public func _take(_ row: _Row) {
    _row = row
    unmanaged = []
  }

  // MARK: reading

  /// The number of elements.
  public var count: Int { _row?.count ?? unmanaged.count }

  /// The element at a position; one out of bounds stops the process.
  public subscript(position: Int) -> Element {
    get {
      guard let row = _row else {
        if position >= unmanaged.count, Discovery.isTracing { return Element._traced() }
        return unmanaged[position]
      }
      return Element.element(row.element(at: position), of: row)
    }
    set {
      guard let row = _row else {
        unmanaged[position] = newValue
        return
      }
      row.core.checkWritable()
      row.replace(at: position, with: newValue._engineValue(in: row.core))
    }
  }

  /// A loop over the present elements.
  public func makeIterator() -> AnyIterator<Element> {
    guard let row = _row else { return AnyIterator(unmanaged.makeIterator()) }
    return AnyIterator(RealmIterator(Elements(.collection(row))))
  }

  // MARK: changing

  /// Adds an element at the end; an unmanaged object is added to the realm.
  public func append(_ object: Element) {
    guard let row = _row else {
      unmanaged.append(object)
      return
    }
    row.core.checkWritable()
    row.append(object._engineValue(in: row.core))
  }

  /// Adds elements at the end.
  public func append<Objects: Sequence>(objectsIn objects: Objects)
  where Objects.Element == Element {
    for object in Array(objects) { append(object) }
  }

  /// Adds elements at the end.
  public func append<Objects: Sequence>(contentsOf objects: Objects)
  where Objects.Element == Element {
    append(objectsIn: objects)
  }

  /// Adds an element before the one at a position.
  public func insert(_ object: Element, at index: Int) {
    guard let row = _row else {
      unmanaged.insert(object, at: index)
      return
    }
    row.core.checkWritable()
    row.insert(object._engineValue(in: row.core), at: index)
  }

  /// Takes an element out.
  /// - Returns: The element; of a managed list of embedded objects it is invalidated.
  @discardableResult
  public func remove(at index: Int) -> Element {
    guard let row = _row else { return unmanaged.remove(at: index) }
    let element = self[index]
    row.remove(at: index)
    return element
  }

  /// Takes the first element out; an empty list stops the process.
  @discardableResult
  public func removeFirst() -> Element { remove(at: 0) }

  /// Takes the last element out; an empty list stops the process.
  @discardableResult
  public func removeLast() -> Element { remove(at: count - 1) }

  /// Takes all elements out.
  public func removeAll() {
    guard let row = _row else {
      unmanaged = []
      return
    }
    row.removeAll()
  }

  /// Takes all elements out.
  /// - Parameter keepCapacity: Of no meaning to a managed list.
  public func removeAll(keepingCapacity keepCapacity: Bool) { removeAll() }

  /// Replaces a range of elements.
  public func replaceSubrange<Objects: Collection>(
    _ subrange: Range<Int>, with objects: Objects
  ) where Objects.Element == Element {
    guard _row != nil else {
      unmanaged.replaceSubrange(subrange, with: objects)
      return
    }
    let new = Array(objects)
    for _ in subrange { _ = remove(at: subrange.lowerBound) }
    for (offset, object) in new.enumerated() { insert(object, at: subrange.lowerBound + offset) }
  }

  /// Moves an element.
  /// - Parameters:
  ///   - from: Where it is.
  ///   - to: Where it is afterwards.
  public func move(from: Int, to: Int) {
    guard let row = _row else {
      unmanaged.insert(unmanaged.remove(at: from), at: to)
      return
    }
    row.move(from: from, to: to)
  }

  /// Swaps two elements.
  public func swapAt(_ index1: Int, _ index2: Int) {
    guard let row = _row else {
      unmanaged.swapAt(index1, index2)
      return
    }
    row.swapAt(index1, index2)
  }
}

extension List: _PropertyCollection {
  /// For this module.
  public static var _elementShape: _PropertyShape { Element._shape }
  /// A list.
  public static var _kind: CollectionKind { .list }

  /// The elements of a sequence; nil when one does not fit.
  public static func _elements(of any: Any?) -> [Element]? { Element.elements(of: any) }

  /// Adds elements at the end.
  public func _add(_ elements: [Element]) { append(objectsIn: elements) }
}
