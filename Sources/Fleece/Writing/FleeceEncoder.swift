// FleeceEncoder.swift: writes a value as the real encoder does, byte by byte. Depth first: a value
// that does not fit into two bytes is written at the next even place, and its collection gets an
// item that points there; a collection's items are written when it ends. Padding bytes are 0. A
// wrong order of calls (a value where a key is expected, an end without a begin) is misuse and
// traps; problems of the data (size, depth, NaN) are errors.

/// Writes one value after another.
///
/// ```swift
/// var encoder = FleeceEncoder()
/// encoder.beginDict()
/// try encoder.key("name")
/// try encoder.text("Ann")
/// try encoder.endDict()
/// let bytes = try encoder.finish()
/// ```
public struct FleeceEncoder: ~Copyable {
  /// An open collection.
  struct Frame {
    /// Index of its first item.
    var first: Int
    var isDict: Bool
    /// Whether its items have four bytes because one of them needs them.
    var isWide = false
    /// Whether a key is due.
    var needsKey: Bool
  }

  var output: GrowingBytes
  var items = PendingItems()
  var texts = WrittenTexts()
  /// The open collections, the innermost last; the first one holds the outermost value.
  var frames: [Frame] = [Frame(first: 0, isDict: false, needsKey: false)]
  /// The table of shared keys, with those that were added; nil when keys are written as texts.
  ///
  /// It is a value: a caller that rolls back drops it with the encoder.
  public var sharedKeys: FleeceSharedKeys?
  /// Nesting limit of collections, up to 1000.
  public var depthMax = FleeceValue.depthMax

  /// Makes an encoder.
  /// - Parameters:
  ///   - sharedKeys: A table; keys that it has, or that can be added to it, are written as numbers.
  ///   - capacityBytes: How many bytes are expected.
  public init(sharedKeys: FleeceSharedKeys? = nil, capacityBytes: Int = 512) {
    self.sharedKeys = sharedKeys
    output = GrowingBytes(capacity: capacityBytes)
  }

  /// How many bytes of output there is memory for.
  package var capacityBytes: Int { output.capacity }

  /// Discards the output, and keeps memory and shared keys for the next value.
  public mutating func reset() {
    output.removeAll()
    items.cut(to: 0)
    texts.removeAll()
    frames.removeAll(keepingCapacity: true)
    frames.append(Frame(first: 0, isDict: false, needsKey: false))
  }

  /// Ends the outermost value.
  /// - Returns: The bytes.
  /// - Throws: `FleeceError` with code `.limit` when there are more than 2 GiB.
  /// - Complexity: O(bytes), to copy them.
  public mutating func finish() throws(FleeceError) -> [UInt8] {
    try writeRoot()
    let bytes = output.array
    reset()
    return bytes
  }

  /// Ends the outermost value, and gives access to its bytes.
  /// - Parameter body: Called with the bytes, which must not escape.
  /// - Returns: What `body` returns.
  /// - Throws: `FleeceError` with code `.limit` when there are more than 2 GiB; what `body` throws.
  /// - Complexity: O(1), plus `body`.
  public mutating func finish<Result>(
    _ body: (FleeceBytes) throws(FleeceError) -> Result
  ) throws(FleeceError) -> Result {
    try writeRoot()
    let outcome: Swift.Result<Result, FleeceError> = output.view { view in
      do throws(FleeceError) { return .success(try body(view)) } catch { return .failure(error) }
    }
    reset()
    return try outcome.get()
  }

  private mutating func writeRoot() throws(FleeceError) {
    precondition(frames.count == 1, "\(frames.count - 1) collections are open")
    precondition(items.count == 1, "there is no value")
    let place = try nextPlace()
    let root = items[0]
    if frames[0].isWide || root.place.map({ place - $0 > FleeceFormat.narrowReachBytes }) == true {
      output.append(bigEndian: Self.wide(root, at: place))
      // The last two bytes lead to the four before them.
      output.append(bigEndian: UInt16(0x8002))
    } else {
      output.append(bigEndian: Self.narrow(root, at: place))
    }
  }

  /// The content of a slot of two bytes at a place.
  @inline(__always)
  static func narrow(_ item: PendingItem, at place: Int) -> UInt16 {
    guard let target = item.place else { return UInt16(item.bits >> 16) }
    return 0x8000 | UInt16((place - target) / 2)
  }

  /// The content of a slot of four bytes at a place.
  @inline(__always)
  static func wide(_ item: PendingItem, at place: Int) -> UInt32 {
    guard let target = item.place else { return item.bits }
    return 0x8000_0000 | UInt32((place - target) / 2)
  }

  /// The next even place of the output.
  @inline(__always)
  mutating func nextPlace() throws(FleeceError) -> Int {
    if output.count & 1 != 0 { output.append(0) }
    guard output.count < FleeceFormat.sizeMax else { throw Self.tooLarge }
    return output.count
  }

  private static var tooLarge: FleeceError {
    FleeceError(.limit, "a value of more than \(FleeceFormat.sizeMax) bytes")
  }

  /// Adds an item to the innermost collection.
  @inline(__always)
  mutating func add(_ item: PendingItem) {
    let last = frames.count - 1
    if frames[last].isDict {
      precondition(!frames[last].needsKey, "a key is due before this value")
      frames[last].needsKey = true
    } else {
      precondition(last > 0 || items.count == 0, "there is an outermost value already")
    }
    items.append(item)
  }

  /// Adds the key of a pair.
  @inline(__always)
  mutating func addKey(_ item: PendingItem) {
    let last = frames.count - 1
    precondition(frames[last].needsKey, "no key is due here")
    frames[last].needsKey = false
    items.append(item)
  }
}
