// MutableKeyPairLeaf.swift: a leaf of an index while a writer changes it, and its encoding.
// Invariants: pairs ascend strictly; `images` holds bit patterns; `counts` is empty as long as
// every pair occurs once; `lowerKey ... upperKey` holds every key and `upperCount` is no less than
// any count, and both are made exact before the leaf is encoded or split; in a leaf of words every
// pair occurs once, and `runCount` and `keyBytes` are those of its encoding.

/// A leaf of an index as arrays that can be changed.
///
/// A transaction changes it, and no closure during a change reads it, so exclusivity is not checked
/// at run time: that was a quarter of the time in which an index is built.
final class MutableKeyPairLeaf: MutableTreeLeaf {
  typealias Guide = Separators<KeyPair>

  /// Whether it is one of a full-text index (WordLeafView.swift).
  let ofWords: Bool
  var stored: NodeLink?
  @safe @exclusivity(unchecked) private(set) var images: [Int64] = []
  @safe @exclusivity(unchecked) private(set) var keys: [Int64] = []
  @safe @exclusivity(unchecked) private(set) var counts: [Int64] = []
  @safe @exclusivity(unchecked) private var lowerKey = Int64.max
  @safe @exclusivity(unchecked) private var upperKey = Int64.min
  @safe @exclusivity(unchecked) private var upperCount: Int64 = 1
  /// Images in a leaf of words.
  @safe @exclusivity(unchecked) private var runCount = 0
  /// The bytes of the keys in a leaf of words.
  @safe @exclusivity(unchecked) private var keyBytes = 0

  init(ofWords: Bool) { self.ofWords = ofWords }

  /// A copy of a committed leaf.
  init(_ leaf: Node, ofWords: Bool) throws(EngineError) {
    self.ofWords = ofWords
    if ofWords {
      (images, keys) = try WordLeafView(leaf).decode()
    } else {
      (images, keys, counts) = try KeyPairLeafView(leaf).decode()
    }
    tighten()
    // Pairs that are written again must be in order and fit, and damaged bytes must not cause a
    // trap.
    for index in 1..<max(1, count) where self[index - 1] >= self[index] {
      throw .corrupted("\(self[index]) follows \(self[index - 1])", at: leaf.ref)
    }
    guard sizeBytes <= Layout.keyPairLeafSizeBytesMax else {
      throw .corrupted("arrays of an index leaf overlap: bytes=\(sizeBytes)", at: leaf.ref)
    }
  }

  private init(images: [Int64], keys: [Int64], counts: [Int64], ofWords: Bool) {
    self.ofWords = ofWords
    (self.images, self.keys, self.counts) = (images, keys, counts)
    tighten()
  }

  var count: Int { keys.count }

  @inline(__always)
  subscript(index: Int) -> KeyPair { KeyPair(UInt64(bitPattern: images[index]), keys[index]) }

  @inline(__always)
  func multiplicity(_ index: Int) -> Int64 { counts.isEmpty ? 1 : counts[index] }

  func firstIndex(notBelow pair: KeyPair) -> Int {
    var low = 0
    var length = count
    if length > 0, self[length - 1] < pair { return length }
    while length > 0 {
      let half = length >> 1
      if self[low + half] < pair {
        low += half + 1
        length -= half + 1
      } else {
        length = half
      }
    }
    return low
  }

  /// Makes the bounds exact.
  func tighten() {
    lowerKey = keys.min() ?? .max
    upperKey = keys.max() ?? .min
    upperCount = counts.max() ?? 1
    if upperCount == 1 { counts = [] }
    guard ofWords else { return }
    precondition(counts.isEmpty, "a row has a word once")
    (runCount, keyBytes) = (0, 0)
    for index in keys.indices { countWords(at: index, +1) }
  }

  // MARK: size

  /// Counts the encoding of a pair of a leaf of words in, or out.
  @inline(__always)
  private func countWords(at index: Int, _ sign: Int) {
    let isFirst = index == 0 || images[index - 1] != images[index]
    if isFirst { runCount += sign }
    keyBytes += sign * WordLeafView.keyBytes(keys[index], after: isFirst ? nil : keys[index - 1])
  }

  private static func sizeBytes(
    _ count: Int, images: UInt64, keys: UInt64, upperCount: Int64
  ) -> Int {
    KeyPairLeafView.arraysOffsetBytes
      + PackedArray.sizeBytes(count: count, width: PackedArray.width(forRange: images))
      + PackedArray.sizeBytes(count: count, width: PackedArray.width(forRange: keys))
      + PackedArray.sizeBytes(
        count: count, width: PackedArray.width(forRange: UInt64(upperCount - 1)))
  }

  private static func range(_ lower: Int64, _ upper: Int64) -> UInt64 {
    UInt64(bitPattern: upper) &- UInt64(bitPattern: lower)
  }

  /// At most this many bytes when encoded.
  var sizeBytes: Int {
    precondition(count > 0, "an empty leaf has no place in a tree")
    if ofWords {
      return Layout.nodeHeaderBytes + WordLeafView.runBytes * runCount + keyBytes
    }
    return Self.sizeBytes(
      count, images: Self.range(images[0], images[count - 1]),
      keys: Self.range(lowerKey, upperKey), upperCount: upperCount)
  }

  /// The size bound of this leaf with the pairs of its right neighbour.
  func sizeBytes(with right: MutableKeyPairLeaf) -> Int {
    precondition(count > 0 && right.count > 0, "neighbours have pairs")
    // A run that goes on has one image less, and a longer number for its first key there.
    if ofWords { return sizeBytes + right.sizeBytes - Layout.nodeHeaderBytes }
    return Self.sizeBytes(
      count + right.count, images: Self.range(images[0], right.images[right.count - 1]),
      keys: Self.range(min(lowerKey, right.lowerKey), max(upperKey, right.upperKey)),
      upperCount: max(upperCount, right.upperCount))
  }

  // MARK: changes

  /// Inserts a new pair at its place.
  func insert(_ pair: KeyPair, at index: Int, multiplicity: Int64 = 1) {
    if ofWords, index < count { countWords(at: index, -1) }
    images.insert(Int64(bitPattern: pair.image), at: index)
    keys.insert(pair.key, at: index)
    if pair.key < lowerKey { lowerKey = pair.key }
    if pair.key > upperKey { upperKey = pair.key }
    if !counts.isEmpty { counts.insert(1, at: index) }
    if multiplicity != 1 { setMultiplicity(multiplicity, at: index) }
    guard ofWords else { return }
    countWords(at: index, +1)
    if index + 1 < count { countWords(at: index + 1, +1) }
  }

  /// Sets the number of equal pairs of an entry.
  func setMultiplicity(_ number: Int64, at index: Int) {
    precondition(number > 0, "a pair that is there is there at least once")
    if counts.isEmpty {
      if number == 1 { return }
      counts = [Int64](repeating: 1, count: count)
    }
    counts[index] = number
    if number > upperCount { upperCount = number }
  }

  func remove(at index: Int) {
    if ofWords {
      countWords(at: index, -1)
      if index + 1 < count { countWords(at: index + 1, -1) }
    }
    images.remove(at: index)
    keys.remove(at: index)
    if !counts.isEmpty { counts.remove(at: index) }
    if ofWords, index < count { countWords(at: index, +1) }
  }

  /// Cuts the pairs from `index` on off.
  func split(at index: Int) -> MutableKeyPairLeaf {
    precondition(index > 0 && index < count, "both halves of a split have pairs")
    let right = MutableKeyPairLeaf(
      images: Array(images[index...]), keys: Array(keys[index...]),
      counts: counts.isEmpty ? [] : Array(counts[index...]), ofWords: ofWords)
    images.removeSubrange(index...)
    keys.removeSubrange(index...)
    if !counts.isEmpty { counts.removeSubrange(index...) }
    tighten()
    return right
  }

  /// Adds the pairs of the right neighbour.
  func append(_ right: MutableKeyPairLeaf) {
    if !counts.isEmpty || !right.counts.isEmpty {
      if counts.isEmpty { counts = [Int64](repeating: 1, count: count) }
      counts +=
        right.counts.isEmpty ? [Int64](repeating: 1, count: right.count) : right.counts
    }
    images += right.images
    keys += right.keys
    lowerKey = min(lowerKey, right.lowerKey)
    upperKey = max(upperKey, right.upperKey)
    upperCount = max(upperCount, right.upperCount)
    if ofWords { tighten() }
  }

  /// Whether one more pair after the last keeps the leaf within its size.
  func hasRoom(for pair: KeyPair, multiplicity: Int64) -> Bool {
    guard count > 0 else { return true }
    if ofWords {
      let isFirst = images[count - 1] != Int64(bitPattern: pair.image)
      let bytes = WordLeafView.keyBytes(pair.key, after: isFirst ? nil : keys[count - 1])
      return sizeBytes + bytes + (isFirst ? WordLeafView.runBytes : 0)
        <= Layout.keyPairLeafSizeBytesMax
    }
    let size = Self.sizeBytes(
      count + 1, images: Self.range(images[0], Int64(bitPattern: pair.image)),
      keys: Self.range(min(lowerKey, pair.key), max(upperKey, pair.key)),
      upperCount: max(upperCount, multiplicity))
    return size <= Layout.keyPairLeafSizeBytesMax
  }

  /// Pairs have no external values.
  func dropExternals(_ writer: TreeWriter) {}

  // MARK: bytes

  var kind: NodeKind { ofWords ? .wordLeaf : .indexLeaf }

  /// The auxiliary field of the header; the bounds are exact.
  var auxiliary: Int { ofWords ? runCount : KeyPairLeafView.descriptorCount }

  /// Places and encodes the leaf.
  func encode(into sink: inout NodeSink) -> NodeLink {
    tighten()
    let size = sizeBytes
    precondition(size <= Layout.keyPairLeafSizeBytesMax, "a full leaf was split")
    return sink.add(
      kind: kind, sizeBytes: size, count: count, auxiliary: auxiliary
    ) { fill($0) }
  }

  /// Writes everything after the node header; the bounds are exact.
  func fill(_ node: MutableBytes) {
    if ofWords {
      WordLeafView.encode(images: images, keys: keys, runCount: runCount, into: node)
      return
    }
    let ones = counts.isEmpty ? [Int64](repeating: 1, count: count) : counts
    var offset = KeyPairLeafView.arraysOffsetBytes
    Self.encode(
      images, .images, Self.range(images[0], images[count - 1]), images[0], &offset, node)
    Self.encode(keys, .keys, Self.range(lowerKey, upperKey), lowerKey, &offset, node)
    Self.encode(ones, .counts, UInt64(upperCount - 1), 1, &offset, node)
  }

  private static func encode(
    _ numbers: [Int64], _ kind: KeyPairArrayKind, _ range: UInt64, _ base: Int64,
    _ offset: inout Int, _ node: MutableBytes
  ) {
    let width = PackedArray.width(forRange: range)
    let descriptor =
      Layout.nodeHeaderBytes + (Int(kind.rawValue) - 1) * Layout.descriptorBytes
    node.set(UInt64(bitPattern: base), at: descriptor)
    node.set(UInt32(offset), at: descriptor + 8)
    node.set(UInt32(width) | UInt32(kind.rawValue) << 8, at: descriptor + 12)
    PackedArray.encode(
      numbers, base: UInt64(bitPattern: base), width: width, into: node, at: offset)
    offset += PackedArray.sizeBytes(count: numbers.count, width: width)
  }
}
