// FleeceJSONWriter+Scalars.swift [U]: numbers, texts and data as JSON.

extension JSONWriter {
  mutating func append(_ text: StaticString) {
    text.withUTF8Buffer { bytes in
      // Safety: the view is used inside this closure only.
      unsafe output.append(FleeceBytes(UnsafeRawBufferPointer(bytes)))
    }
  }

  mutating func append(special head: UInt8) {
    switch head {
    case FleeceFormat.null: append("null")
    case FleeceFormat.isTrue: append("true")
    case FleeceFormat.isFalse: append("false")
    default: append("undefined")
    }
  }

  mutating func append(integer: Int64) {
    if integer < 0 { output.append(UInt8(ascii: "-")) }
    append(magnitude: integer.magnitude)
  }

  mutating func append(magnitude: UInt64) {
    guard magnitude > 9 else { return output.append(UInt8(ascii: "0") + UInt8(magnitude)) }
    var (digits, rest, count) = (InlineArray<20, UInt8>(repeating: 0), magnitude, 0)
    while rest > 0 {
      digits[count] = UInt8(ascii: "0") + UInt8(rest % 10)
      rest /= 10
      count += 1
    }
    while count > 0 {
      count -= 1
      output.append(digits[count])
    }
  }

  /// The standard library writes the fewest digits that read back, as the real library does.
  mutating func append(real value: FleeceValue) {
    let double = value.double ?? 0
    if double.isNaN {
      // The description of a NaN can have payload bits.
      append("nan")
    } else if !value.isDouble, let float = value.float {
      append(description: float.description)
    } else {
      append(description: double.description)
    }
  }

  private mutating func append(description: String) {
    for byte in description.utf8 { output.append(byte) }
  }

  mutating func append(base64 data: FleeceBytes) {
    let letters: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    output.append(UInt8(ascii: "\""))
    // Base64 needs a third more; a text that is too long is rejected right after this value.
    output.reserve(data.count / 3 * 4 + 5)
    letters.withUTF8Buffer { letters in
      var index = 0
      while index < data.count {
        let left = min(3, data.count - index)
        var bits: UInt32 = 0
        for place in 0..<3 {
          bits = bits << 8 | (place < left ? UInt32(data.uint8(index + place)) : 0)
        }
        for place in 0..<4 {
          let letter = unsafe letters[Int(bits >> UInt32(18 - 6 * place) & 63)]
          output.append(place <= left ? letter : UInt8(ascii: "="))
        }
        index += 3
      }
    }
    output.append(UInt8(ascii: "\""))
  }

  mutating func append(quoted text: FleeceBytes) {
    output.append(UInt8(ascii: "\""))
    var start = 0
    while start < text.count {
      let plain = text.plainEnd(from: start)
      if plain > start {
        output.append(text.part(at: start, count: plain - start))
        start = plain
        continue
      }
      let byte = text.uint8(start)
      if byte < 0x80 {
        append(escaped: byte)
        start += 1
      } else {
        let count = text.scalarSize(at: start)
        if count > 0 {
          output.append(text.part(at: start, count: count))
        } else {
          append("\u{fffd}")
        }
        start += max(1, count)
      }
    }
    output.append(UInt8(ascii: "\""))
  }

  private mutating func append(escaped byte: UInt8) {
    output.append(UInt8(ascii: "\\"))
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): output.append(byte)
    case 10: output.append(UInt8(ascii: "n"))
    case 13: output.append(UInt8(ascii: "r"))
    case 9: output.append(UInt8(ascii: "t"))
    default:
      append("u00")
      output.append(UInt8(ascii: "0") + byte >> 4)
      let low = byte & 15
      output.append(low < 10 ? UInt8(ascii: "0") + low : UInt8(ascii: "a") + low - 10)
    }
  }
}
