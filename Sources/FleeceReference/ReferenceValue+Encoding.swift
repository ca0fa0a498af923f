// ReferenceValue+Encoding.swift: converts trees to bytes with the encoder, and bytes to trees with
// the in-place reader, to compare the two.

import Fleece

extension ReferenceValue {
  /// Writes the value.
  ///
  /// Keys that are numbers need an encoder with a table that has them.
  package func write(to encoder: inout FleeceEncoder) throws(FleeceError) {
    switch self {
    case .null: encoder.null()
    case .undefined: encoder.undefined()
    case .boolean(let value): encoder.boolean(value)
    case .signed(let value): try encoder.integer(value)
    case .unsigned(let value): try encoder.unsignedInteger(value)
    case .float(let bits): try encoder.float(Float(bitPattern: bits))
    case .double(let bits): try encoder.double(Double(bitPattern: bits))
    case .text(let bytes):
      try FleeceBytes.over(bytes) { (view: FleeceBytes) throws(FleeceError) in
        try encoder.text(utf8: view)
      }
    case .data(let bytes): try encoder.data(bytes)
    case .array(let items):
      try encoder.beginArray()
      for item in items { try item.write(to: &encoder) }
      try encoder.endArray()
    case .dict(let pairs):
      try encoder.beginDict()
      for pair in pairs {
        switch pair.key {
        case .shared(let number): try encoder.key(shared: number)
        case .text(let bytes):
          try FleeceBytes.over(bytes) { (view: FleeceBytes) throws(FleeceError) in
            try encoder.key(utf8: view)
          }
        }
        try pair.value.write(to: &encoder)
      }
      try encoder.endDict()
    }
  }

  /// The result of the in-place reader for a value, as a tree.
  package init(reading value: FleeceValue) throws(FleeceError) {
    switch value.kind {
    case .null: self = .null
    case .undefined: self = .undefined
    case .boolean: self = .boolean(value.boolean == true)
    case .integer:
      if value.isUnsigned {
        self = .unsigned(value.unsignedInteger ?? 0)
      } else {
        self = .signed(value.integer ?? 0)
      }
    case .real:
      if value.isDouble {
        self = .double((value.double ?? 0).bitPattern)
      } else {
        self = .float((value.float ?? 0).bitPattern)
      }
    case .text: self = .text(value.textBytes?.array ?? [])
    case .data: self = .data(value.data?.array ?? [])
    case .array:
      var items: [ReferenceValue] = []
      if let array = value.array {
        for index in 0..<array.count {
          guard let item = try array.value(at: index) else { break }
          items.append(try ReferenceValue(reading: item))
        }
      }
      self = .array(items)
    case .dict:
      var pairs: [Pair] = []
      if let dict = value.dict {
        for index in 0..<dict.count {
          let key: Key
          switch try dict.key(at: index) {
          case .shared(let number): key = .shared(number)
          case .text(let text): key = .text(text.array)
          }
          pairs.append(Pair(key, try ReferenceValue(reading: dict.value(at: index))))
        }
      }
      self = .dict(pairs)
    }
  }

  /// The value with keys as numbers where a table has them.
  package func sharing(_ keys: [String]) -> ReferenceValue {
    var numbers: [[UInt8]: Int] = [:]
    for (number, key) in keys.enumerated() { numbers[Array(key.utf8)] = number }
    return sharing(numbers)
  }

  private func sharing(_ numbers: [[UInt8]: Int]) -> ReferenceValue {
    switch self {
    case .array(let items): return .array(items.map { $0.sharing(numbers) })
    case .dict(let pairs):
      return .dict(
        pairs.map { pair in
          var key = pair.key
          if case .text(let bytes) = key, let number = numbers[bytes] { key = .shared(number) }
          return Pair(key, pair.value.sharing(numbers))
        })
    default: return self
    }
  }

  /// The keys that are written as texts, at any depth.
  package var keyTexts: [[UInt8]] {
    switch self {
    case .array(let items): return items.flatMap(\.keyTexts)
    case .dict(let pairs):
      return pairs.flatMap { pair in
        var texts = pair.value.keyTexts
        if case .text(let bytes) = pair.key { texts.append(bytes) }
        return texts
      }
    default: return []
    }
  }

  /// The value in the form read after writing: short integers are signed, floats in four bytes are
  /// exact, and pairs are sorted.
  package var normalized: ReferenceValue {
    switch self {
    case .unsigned(let value) where value <= 2047: return .signed(Int64(value))
    case .array(let items): return .array(items.map(\.normalized))
    case .dict(let pairs):
      let sorted = pairs.enumerated().sorted { left, right in
        switch (left.element.key, right.element.key) {
        case (.shared(let one), .shared(let other)) where one != other: return one < other
        case (.text(let one), .text(let other)) where one != other:
          return one.lexicographicallyPrecedes(other)
        case (.shared, .text): return true
        case (.text, .shared): return false
        default: return left.offset < right.offset
        }
      }
      return .dict(sorted.map { Pair($0.element.key, $0.element.value.normalized) })
    default: return self
    }
  }
}
