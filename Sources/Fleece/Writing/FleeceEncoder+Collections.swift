// FleeceEncoder+Collections.swift: arrays and dicts. Items wait until their collection ends, when
// the distance from each slot to its value is known: if one is too far for two bytes, all slots of
// that collection have four.

extension FleeceEncoder {
  /// Begins an array; its items follow, up to `endArray`.
  /// - Throws: `FleeceError` with code `.limit` when it is nested too deeply.
  public mutating func beginArray() throws(FleeceError) { try begin(isDict: false) }

  /// Begins a dict; calls of `key` and of a value alternate, up to `endDict`.
  /// - Throws: `FleeceError` with code `.limit` when it is nested too deeply.
  public mutating func beginDict() throws(FleeceError) { try begin(isDict: true) }

  private mutating func begin(isDict: Bool) throws(FleeceError) {
    guard frames.count <= min(depthMax, 1000) else {
      throw FleeceError(.limit, "nested deeper than \(depthMax)")
    }
    let last = frames[frames.count - 1]
    precondition(!last.isDict || !last.needsKey, "a key is due before this value")
    frames.append(Frame(first: items.count, isDict: isDict, needsKey: isDict))
  }

  /// Ends the innermost collection, an array.
  /// - Throws: `FleeceError` with code `.limit` beyond 2 GiB.
  /// - Complexity: O(items).
  public mutating func endArray() throws(FleeceError) { try end(isDict: false) }

  /// Ends the innermost collection, a dict, and sorts its pairs by their keys.
  ///
  /// Equal keys stay, in the order in which they were written.
  /// - Throws: `FleeceError` with code `.limit` beyond 2 GiB.
  /// - Complexity: O(pairs · log pairs) comparisons, O(pairs) when they are added in order.
  public mutating func endDict() throws(FleeceError) { try end(isDict: true) }

  private mutating func end(isDict: Bool) throws(FleeceError) {
    precondition(frames.count > 1, "no collection is open")
    let frame = frames.removeLast()
    precondition(frame.isDict == isDict, "the innermost collection is of the other kind")
    precondition(frame.needsKey == isDict, "a value is due for the last key")
    let slots = items.count - frame.first
    let tag = UInt16(isDict ? FleeceFormat.dict : FleeceFormat.array) << 12
    guard slots > 0 else { return add(PendingItem(small: tag)) }
    if isDict { sortPairs(from: frame.first) }

    let count = isDict ? slots / 2 : slots
    let place = try nextPlace()
    guard slots < (FleeceFormat.sizeMax - place) / 4 else {
      throw FleeceError(.limit, "\(slots) slots after \(place) bytes are more than 2 GiB")
    }
    output.append(bigEndian: tag | UInt16(min(count, FleeceFormat.longCount)))
    if count >= FleeceFormat.longCount {
      append(varint: count - FleeceFormat.longCount)
      if output.count & 1 != 0 { output.append(0) }
    }
    if frame.isWide || isOutOfReach(from: frame.first) {
      output.setByte(UInt8((tag | 0x800) >> 8) | output.byte(at: place) & 7, at: place)
      writeWide(from: frame.first)
    } else {
      writeNarrow(from: frame.first)
    }
    items.cut(to: frame.first)
    add(PendingItem(place: place))
  }

  /// Whether a slot of two bytes would not reach its value, the first slot being next.
  private func isOutOfReach(from first: Int) -> Bool {
    var place = output.count
    for index in first..<items.count {
      if let target = items[index].place, place - target > FleeceFormat.narrowReachBytes {
        return true
      }
      place += 2
    }
    return false
  }

  private mutating func writeNarrow(from first: Int) {
    output.reserve(2 * (items.count - first))
    for index in first..<items.count {
      output.append(bigEndian: Self.narrow(items[index], at: output.count))
    }
  }

  private mutating func writeWide(from first: Int) {
    output.reserve(4 * (items.count - first))
    for index in first..<items.count {
      output.append(bigEndian: Self.wide(items[index], at: output.count))
    }
  }
}
