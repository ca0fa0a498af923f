// FleeceValidation.swift [U]: every value of a document looked at once, before anybody relies on
// it. Reading needs no validation: each step checks itself. It is for whoever takes bytes in (a
// store's integrity check, a peer's revision) and wants to know now whether they are whole. What
// passes: every value can be read; keys are numbers from 0 on or texts, in order; nesting is
// `depthMax` at most; and no two collections lie over each other, as far as the sum of their slots
// can tell. Values that several pointers lead to are looked at once, so shared ones cost nothing.
// Bound: one step for each slot of each different collection, and these are no more than the bytes
// have room for; keys are compared up to 8 bytes for each byte. So O(bytes) steps, and as many
// bytes of memory as the document.

extension FleeceValue {
  /// How deep collections may lie in each other.
  public static let depthMax = 256

  /// Checks this value and all that lies in it.
  /// - Parameter depthMax: How deep collections may lie in each other, from 1 to 1000.
  /// - Throws: `FleeceError` with code `.damaged` or `.limit`; it says where.
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
    /// For each offset / 2: how deep the collection there is in itself, or 0 if nobody looked.
    // Safety: as many entries as the document has pairs of bytes; offsets lie inside the document.
    let heights: UnsafeMutableBufferPointer<UInt16>
    let depthMax: Int
    /// Slots that the bytes still have room for.
    var slotsLeft: Int
    /// Bytes of keys that may still be compared: pointers to short keys need 4 for each byte at
    /// most, and longer keys stand there as often as they are compared.
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
      // An odd offset is possible inside of nothing: pointers are even, and the root is.
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
  /// Keys are keys, and in order; equal ones may stand beside each other, as the real encoder
  /// writes them when it is given them.
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
