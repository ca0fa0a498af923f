// FleeceBytesTarget.swift: any bytes as a document, and a mutator that knows where values begin.

import Fleece
import Fuzz

enum FleeceBytesTarget {
  static let target = FuzzTarget(
    name: "fleece",
    judges: "bytes of documents: two readers, JSON there and back, paths, copies",
    smokeCount: 1500, seeds: { samples }, run: { FleeceJudgement.run($0) }
  ).with {
    $0.mutate = mutate
    $0.describe = { input in
      let json = try? FleeceDocument(input).withRoot { (root) throws(FleeceError) in
        try root.json(keys: FleeceJudgement.keys)
      }
      return InputText.dump(input) + (json.map { [String($0.prefix(2000))] } ?? [])
    }
  }

  /// Texts whose documents are seeds: every form of every value.
  static let texts = [
    "[]", "{}", "[null,true,false,0,-1,2047,2048,-2049,65536,12345678,4294967296]",
    "[18446744073709551615,-9223372036854775808,1.5,0.1,1e300,-0.0]",
    #"["","a","ab","abc","a text of 15 by","a text of 16 byt","ab","abc","é🚀\n\"\\\u0001"]"#,
    #"{"name":"Ann","age":41,"zip":"12345","é":[1,[2,[3,{"b":"c"}]]],"long key of many bytes":{}}"#,
    #"{"outer":{"name":[{"age":2},{"age":-3}],"list":[{"n":1},{"n":2}]},"a":[0,1],"type":""}"#,
    "[[[[[[[[[[]]]]]]]]]]", #"{"a":1,"a":2,"b":{"a":{"a":{"a":[]}}}}"#,
  ]

  private static let samples: [[UInt8]] = {
    var samples = texts.compactMap { try? FleeceEncoder.bytes(ofJSON: $0) }
    for text in texts {
      var keys = FleeceJudgement.keys
      if let bytes = try? FleeceEncoder.bytes(ofJSON: text, sharedKeys: &keys) {
        samples.append(bytes)
      }
    }
    samples.append([0x30, 0x00])
    samples += [wide, manyItems].compactMap { $0 }
    // A dict that three arrays have twice each.
    samples.append([
      0x70, 0x01, 0x41, 0x61, 0x00, 0x01, 0x60, 0x02, 0x80, 0x04, 0x80, 0x05, 0x60, 0x02, 0x80,
      0x04, 0x80, 0x05, 0x60, 0x02, 0x80, 0x04, 0x80, 0x05, 0x80, 0x03,
    ])
    return samples
  }()

  /// A copy whose items have four bytes.
  private static let wide: [UInt8]? = {
    guard let bytes = try? FleeceEncoder.bytes(ofJSON: #"[3000,{"name":[3000]},"abc",1]"#) else {
      return nil
    }
    return try? FleeceDocument(bytes).withRoot { (root) throws(FleeceError) in
      var encoder = FleeceEncoder(sharedKeys: FleeceJudgement.keys)
      try encoder.copy(root)
      return try encoder.finish()
    }
  }()

  /// An array whose count needs a varint; it is longer than most inputs.
  private static let manyItems: [UInt8]? = {
    var encoder = FleeceEncoder()
    guard (try? encoder.beginArray()) != nil else { return nil }
    for _ in 0..<2048 { encoder.null() }
    guard (try? encoder.endArray()) != nil else { return nil }
    return try? encoder.finish()
  }()

  @Sendable private static func mutate(
    _ input: [UInt8], _ sizeMax: Int, _ choices: inout MutantChoices
  ) -> [UInt8]? {
    guard input.count >= 4, choices.below(5) > 0 else { return nil }
    var bytes = input
    for _ in 0...choices.below(3) { change(&bytes, &choices) }
    if bytes.count % 2 == 1 { bytes.removeLast() }
    if choices.below(2) == 0, bytes.count >= 4 {
      // The outermost value is one of the last.
      put(0x8000 | UInt16(1 + choices.below(min(bytes.count / 2 - 1, 12))), bytes.count - 2, &bytes)
    }
    return bytes.count <= sizeMax ? bytes : nil
  }

  private static func change(_ bytes: inout [UInt8], _ choices: inout MutantChoices) {
    let pairs = bytes.count / 2
    guard pairs > 1 else {
      bytes += [0x60, 0x00]
      return
    }
    let place = 2 * choices.below(pairs)
    let end = 2 * min(pairs, place / 2 + 1 + choices.below(8))
    switch choices.below(10) {
    case 0: put(0x8000 | UInt16(choices.below(min(0x8000, pairs))), place, &bytes)
    case 1: put(0xc000 | UInt16(choices.below(16)), place, &bytes)
    case 2: put([0x6000, 0x7000, 0x6800, 0x7800][choices.below(4)] | few(&choices), place, &bytes)
    case 3: put([0x3000, 0x3400, 0x3800, 0x3c00][choices.below(4)], place, &bytes)
    case 4:
      put([0x1000, 0x4000, 0x5000, 0x2000][choices.below(4)] | few(&choices) << 8, place, &bytes)
    case 5: bytes[place] ^= 1 << UInt8(choices.below(8))
    case 6: bytes[place + 1] &+= choices.below(2) == 0 ? 1 : 255
    case 7: bytes.insert(contentsOf: bytes[place..<end], at: 2 * choices.below(pairs))
    case 8: bytes.removeSubrange(place..<end)
    default: bytes.swapAt(place, 2 * choices.below(pairs))
    }
  }

  private static func few(_ choices: inout MutantChoices) -> UInt16 {
    choices.below(8) == 0 ? UInt16(choices.below(2048)) & 0x7ff : UInt16(choices.below(6))
  }

  private static func put(_ number: UInt16, _ place: Int, _ bytes: inout [UInt8]) {
    bytes[place] = UInt8(number >> 8)
    bytes[place + 1] = UInt8(number & 255)
  }
}
