// SyncList.swift: the elements of a list, in chunks: an edit moves the elements of one chunk, not
// all that follow, and copies of a state share chunks. Invariants: no chunk is empty or larger than
// `chunkMax`; two neighbours have more than half of that together; `counts` are those of the
// chunks, and `count` is their sum.

/// The elements of a list.
public struct SyncList: Sendable {
  /// Elements in a chunk.
  package static let chunkMax = 256
  /// Elements in each of the chunks that a long run of new ones makes.
  private static let chunkFilled = 192

  private var chunks: [[SyncSlot]] = []
  private var counts: [Int] = []
  /// The number of elements.
  public private(set) var count = 0

  /// No elements.
  public init() {}

  /// Elements.
  /// - Complexity: O(elements).
  public init(_ slots: [SyncSlot]) {
    chunks = Self.filled(slots)
    counts = chunks.map(\.count)
    count = slots.count
  }

  private static func filled(_ slots: [SyncSlot]) -> [[SyncSlot]] {
    guard slots.count > chunkMax else { return slots.isEmpty ? [] : [slots] }
    let pieces = (slots.count + chunkFilled - 1) / chunkFilled
    return (0..<pieces).map { piece in
      Array(slots[slots.count * piece / pieces..<slots.count * (piece + 1) / pieces])
    }
  }

  /// The chunk of an element, and its place there; for the end, the end of the last chunk.
  /// - Complexity: O(chunks).
  private func place(_ index: Int) -> (chunk: Int, offset: Int) {
    precondition(index >= 0 && index <= count, "element \(index) of \(count)")
    if index == count { return (Swift.max(0, chunks.count - 1), counts.last ?? 0) }
    var (chunk, offset) = (0, index)
    while offset >= counts[chunk] {
      offset -= counts[chunk]
      chunk += 1
    }
    return (chunk, offset)
  }

  /// Calls a function with some elements in order.
  /// - Complexity: O(chunks + elements of the range).
  func forEach(in range: Range<Int>, _ body: (SyncSlot) -> Void) {
    guard !range.isEmpty else { return }
    var (chunk, offset) = place(range.lowerBound)
    var left = range.count
    while left > 0 {
      let end = Swift.min(counts[chunk], offset + left)
      for index in offset..<end { body(chunks[chunk][index]) }
      left -= end - offset
      (chunk, offset) = (chunk + 1, 0)
    }
  }

  /// Calls a function with each embedded object.
  mutating func updateEmbedded(_ body: (inout SyncNode) -> Void) {
    for chunk in chunks.indices {
      for index in chunks[chunk].indices where chunks[chunk][index].embedded != nil {
        if var node = chunks[chunk][index].embedded.take() {
          body(&node)
          chunks[chunk][index].embedded = node
        }
      }
    }
  }

  private mutating func remove(_ range: Range<Int>) {
    guard !range.isEmpty else { return }
    count -= range.count
    var (chunk, offset) = place(before: range.lowerBound)
    var left = range.count
    // The chunks that go as a whole.
    var (gone, goneCount) = (chunk, 0)
    while left > 0 {
      let removed = Swift.min(left, counts[chunk] - offset)
      if removed == counts[chunk] {
        if goneCount == 0 { gone = chunk }
        goneCount += 1
      } else {
        chunks[chunk].removeSubrange(offset..<offset + removed)
        counts[chunk] -= removed
      }
      left -= removed
      (chunk, offset) = (chunk + 1, 0)
    }
    chunks.removeSubrange(gone..<gone + goneCount)
    counts.removeSubrange(gone..<gone + goneCount)
    let last = chunk - goneCount
    for chunk in [last - 1, last - 2, last - 3] { join(chunk) }
  }

  /// As `place`, while `count` is less than the chunks have.
  private func place(before index: Int) -> (chunk: Int, offset: Int) {
    var (chunk, offset) = (0, index)
    while offset >= counts[chunk] {
      offset -= counts[chunk]
      chunk += 1
    }
    return (chunk, offset)
  }

  /// Joins a chunk with the next one if both are small.
  private mutating func join(_ chunk: Int) {
    guard chunk >= 0, chunk + 1 < chunks.count,
      counts[chunk] + counts[chunk + 1] <= Self.chunkMax / 2
    else { return }
    chunks[chunk] += chunks[chunk + 1]
    counts[chunk] += counts[chunk + 1]
    chunks.remove(at: chunk + 1)
    counts.remove(at: chunk + 1)
  }

  private mutating func insert(_ new: [SyncSlot], at index: Int) {
    guard !new.isEmpty else { return }
    guard !chunks.isEmpty else {
      self = SyncList(new)
      return
    }
    let (chunk, offset) = place(index)
    count += new.count
    if counts[chunk] + new.count <= Self.chunkMax {
      chunks[chunk].insert(contentsOf: new, at: offset)
      counts[chunk] += new.count
      return
    }
    var pieces: [[SyncSlot]]
    if offset == counts[chunk], counts[chunk] * 2 > Self.chunkMax {
      // Elements that are appended leave full chunks behind.
      pieces = [chunks[chunk]] + Self.filled(new)
    } else {
      var all = chunks[chunk]
      all.insert(contentsOf: new, at: offset)
      pieces = Self.filled(all)
    }
    chunks.replaceSubrange(chunk...chunk, with: pieces)
    counts.replaceSubrange(chunk...chunk, with: pieces.map(\.count))
  }

  /// A description of an error in the chunks; nil when there is none.
  package var breach: String? {
    for (index, chunk) in chunks.enumerated() {
      guard chunk.count == counts[index], !chunk.isEmpty, chunk.count <= Self.chunkMax else {
        return "chunk \(index) has \(chunk.count) elements, counted as \(counts[index])"
      }
      guard index == 0 || counts[index - 1] + counts[index] > Self.chunkMax / 2 else {
        return "chunks \(index - 1) and \(index) are small"
      }
    }
    let sum = counts.reduce(0, +)
    return sum == count ? nil : "\(sum) elements, counted as \(count)"
  }
}

extension SyncList: RandomAccessCollection, MutableCollection, RangeReplaceableCollection {
  /// The elements one after another.
  public struct Iterator: IteratorProtocol {
    fileprivate let chunks: [[SyncSlot]]
    fileprivate var chunk = 0
    fileprivate var offset = 0

    /// The next element.
    public mutating func next() -> SyncSlot? {
      guard chunk < chunks.count else { return nil }
      let slot = chunks[chunk][offset]
      offset += 1
      if offset == chunks[chunk].count { (chunk, offset) = (chunk + 1, 0) }
      return slot
    }
  }

  /// The elements one after another.
  public func makeIterator() -> Iterator { Iterator(chunks: chunks) }

  /// The first place.
  public var startIndex: Int { 0 }
  /// The place after the last element.
  public var endIndex: Int { count }

  /// An element.
  /// - Complexity: O(chunks).
  public subscript(index: Int) -> SyncSlot {
    get {
      precondition(index < count, "element \(index) of \(count)")
      let (chunk, offset) = place(index)
      return chunks[chunk][offset]
    }
    _modify {
      precondition(index < count, "element \(index) of \(count)")
      let (chunk, offset) = place(index)
      yield &chunks[chunk][offset]
    }
  }

  /// Replaces elements by others.
  /// - Complexity: O(chunks + elements removed and inserted).
  public mutating func replaceSubrange(
    _ range: Range<Int>, with slots: some Collection<SyncSlot>
  ) {
    precondition(range.upperBound <= count, "elements \(range) of \(count)")
    remove(range)
    insert(Array(slots), at: range.lowerBound)
  }

  /// Adds an element at the end.
  public mutating func append(_ slot: SyncSlot) { insert([slot], at: count) }
}

extension SyncList: Hashable, ExpressibleByArrayLiteral {
  /// Compares the elements.
  public static func == (left: SyncList, right: SyncList) -> Bool {
    guard left.count == right.count else { return false }
    // Chunks that are shared are equal at once.
    return left.counts == right.counts
      ? left.chunks == right.chunks : left.elementsEqual(right)
  }

  /// Hashes the elements.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(count)
    for slot in self { hasher.combine(slot) }
  }

  /// Some elements.
  public init(arrayLiteral slots: SyncSlot...) { self.init(slots) }
}
