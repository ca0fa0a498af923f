// FleeceEncoder+Texts.swift: texts, data and keys as items. A text of 2 to 15 bytes is written
// once, as long as a pointer of two bytes reaches it; longer texts and data are written each time.

extension FleeceEncoder {
  /// A text as an item: inline in a slot, or a pointer to where it was written.
  @inline(__always)
  mutating func item(ofText text: FleeceBytes) throws(FleeceError) -> PendingItem {
    guard text.count >= 2, text.count < FleeceFormat.unsharedTextBytes else {
      return try item(of: text, tag: FleeceFormat.text)
    }
    let key = WrittenTexts.Key(text)
    if let place = texts.place(of: key) {
      let back = try nextPlace() - place
      if back <= FleeceFormat.sharedReachBytes || frames[frames.count - 1].isWide {
        return PendingItem(place: place)
      }
    }
    let item = try item(of: text, tag: FleeceFormat.text)
    if let place = item.place { texts.note(key, at: place) }
    return item
  }

  /// Writes a text or data, and returns its item.
  mutating func item(of content: FleeceBytes, tag: UInt8) throws(FleeceError) -> PendingItem {
    let count = content.count
    guard count >= 2 else {
      return PendingItem(
        small: UInt16(tag << 4 | UInt8(count)) << 8 | UInt16(count == 1 ? content.uint8(0) : 0))
    }
    guard count < FleeceFormat.sizeMax - output.count else {
      throw FleeceError(.limit, "\(count) bytes after \(output.count) are more than 2 GiB")
    }
    let place = try nextPlace()
    if count < FleeceFormat.longLength {
      output.append(tag << 4 | UInt8(count))
    } else {
      output.append(tag << 4 | UInt8(FleeceFormat.longLength))
      append(varint: count)
    }
    output.append(content)
    if output.count & 1 != 0 { output.append(0) }
    return PendingItem(place: place)
  }

  /// Seven bits per byte, low ones first.
  mutating func append(varint number: Int) {
    var rest = number
    while rest > 127 {
      output.append(UInt8(rest & 127 | 128))
      rest >>= 7
    }
    output.append(UInt8(rest))
  }

  /// Writes the key of the next pair: as a number if the table of shared keys has or accepts it,
  /// else as a text.
  /// - Parameter key: The key.
  /// - Throws: `FleeceError` with code `.limit` beyond 2 GiB.
  /// - Complexity: O(bytes).
  public mutating func key(_ key: String) throws(FleeceError) {
    try FleeceBytes.over(key) { (view: FleeceBytes) throws(FleeceError) in
      try self.key(utf8: view)
    }
  }

  /// Writes the key of the next pair: as a number if the table of shared keys has or accepts it,
  /// else as a text.
  /// - Parameter utf8: The key's bytes, which are not checked.
  /// - Throws: `FleeceError` with code `.limit` beyond 2 GiB.
  /// - Complexity: O(bytes).
  @inline(__always)
  public mutating func key(utf8: FleeceBytes) throws(FleeceError) {
    if let number = sharedKeys?.numberAdding(utf8) {
      return addKey(PendingItem(small: UInt16(number)))
    }
    addKey(try item(ofText: utf8))
  }

  /// Writes the key of the next pair as a number of `sharedKeys`, or of the table that it was
  /// copied from.
  /// - Parameter number: The number.
  /// - Throws: `FleeceError` with code `.unknownSharedKey` when the table has no such number.
  public mutating func key(shared number: Int) throws(FleeceError) {
    guard let sharedKeys, number >= 0, number < sharedKeys.count else {
      throw FleeceError(
        .unknownSharedKey, "\(number) of \(self.sharedKeys?.count ?? 0) shared keys")
    }
    addKey(PendingItem(small: UInt16(number)))
  }
}
