// FleeceValidation.swift [U]: checks every value of a document in advance. Reading needs no
// validation: each step checks itself. It is for code that receives bytes (a store's integrity
// check, a peer's revision) and has to know at once whether they are valid. Valid means: every
// value can be read; keys are numbers from 0 on or texts, in order; nesting is at most `depthMax`;
// and collections do not overlap, as far as the sum of their slots shows. Values that several
// pointers lead to are checked once, so sharing costs nothing. Bound: one step for each slot of
// each different collection, and these are no more than the bytes have room for; keys are compared
// up to 8 bytes for each byte. So O(bytes) steps, and as much memory as the document.

extension FleeceValue {
  /// Nesting limit of collections.
  public static let depthMax = 256

  /// Checks this value and all values inside it.
  /// - Parameter depthMax: Nesting limit of collections, from 1 to 1000.
  /// - Throws: `FleeceError` with code `.damaged` or `.limit`, and the offset.
  /// - Complexity: O(bytes); memory: O(bytes).
  public func validate(depthMax: Int = FleeceValue.depthMax) throws(FleeceError) {
    precondition(depthMax >= 1 && depthMax <= 1000)
    guard tag == FleeceFormat.array || tag == FleeceFormat.dict else { return }
    var outcome = Result<Void, FleeceError>.success(())
    unsafe withUnsafeTemporaryAllocation(of: UInt16.self, capacity: bytes.count / 2 + 1) {
      buffer in
      // Safety: the memory is used inside this closure only, and all of it is set to 0 first.
      unsafe buffer.initialize(repeating: 0)
      var check = unsafe Check(
        heights: buffer, depthMax: depthMax, sizeBytes: bytes.count)
      do throws(FleeceError) { _ = try check.height(of: self, depth: 1) } catch {
        outcome = .failure(error)
      }
    }
    try outcome.get()
  }

  /// A validation in progress.
  @safe private struct Check {
    /// For each offset / 2: the height of the collection there, or 0 if not checked yet.
    // Safety: as many entries as the document has pairs of bytes; offsets are inside the document.
    let heights: UnsafeMutableBufferPointer<UInt16>
    let depthMax: Int
    /// Slots that the bytes still have room for.
    var slotsLeft: Int
    /// Bytes of keys that may still be compared: pointers to short keys need 4 for each byte at
    /// most, and longer keys are stored as often as they are compared.
    var comparedLeft: Int

    @unsafe init(heights: UnsafeMutableBufferPointer<UInt16>, depthMax: Int, sizeBytes: Int) {
      unsafe self.heights = unsafe heights
      self.depthMax = depthMax
      slotsLeft = sizeBytes / 2
      comparedLeft = 8 * sizeBytes
    }

    mutating func height(of value: FleeceValue, depth: Int) throws(FleeceError) -> Int {
      let items = value.items
      guard items.slots > 0 else {
        guard depth <= depthMax else { throw tooDeep(value) }
        return 1
      }
      // Offsets of collections are never odd: pointers are even, and so is the root.
      let place = value.offset / 2
      let known = unsafe Int(heights[place])
      if known > 0 {
        guard depth + known - 1 <= depthMax else { throw tooDeep(value) }
        return known
      }
      guard depth <= depthMax else { throw tooDeep(value) }
      slotsLeft -= items.slots
      guard slotsLeft >= 0 else {
        throw FleeceError(.damaged, "collections over each other", at: value.offset)
      }
      let isDict = value.tag == FleeceFormat.dict
      if isDict { try FleeceDict(value, items).checkKeys(&comparedLeft) }
      var inner = 0
      for index in stride(from: isDict ? 1 : 0, to: items.slots, by: isDict ? 2 : 1) {
        let child = try FleeceValue.inSlot(
          value.bytes, at: items.first + index * items.width, width: items.width,
          lowest: value.lowest)
        guard child.tag == FleeceFormat.array || child.tag == FleeceFormat.dict else { continue }
        inner = max(inner, try height(of: child, depth: depth + 1))
      }
      unsafe heights[place] = UInt16(inner + 1)
      return inner + 1
    }

    private func tooDeep(_ value: FleeceValue) -> FleeceError {
      FleeceError(.limit, "nested deeper than \(depthMax)", at: value.offset)
    }
  }
}

extension FleeceDict {
  /// Checks that keys are valid and in order; equal keys may follow each other, since the real
  /// encoder writes them so.
  fileprivate func checkKeys(_ comparedLeft: inout Int) throws(FleeceError) {
    var number = -1
    var text: FleeceBytes?
    for index in 0..<count {
      switch try key(at: index) {
      case .shared(let next):
        guard text == nil, next >= number else { throw disorder(index) }
        number = next
      case .text(let next):
        if let before = text {
          comparedLeft -= min(before.count, next.count)
          guard comparedLeft >= 0 else {
            throw FleeceError(.limit, "long keys that come again", at: first + 2 * index * width)
          }
          guard before.order(next) <= 0 else { throw disorder(index) }
        }
        text = next
      }
    }
  }

  private func disorder(_ index: Int) -> FleeceError {
    FleeceError(.damaged, "keys out of order", at: first + 2 * index * width)
  }
}
