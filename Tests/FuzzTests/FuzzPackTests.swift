// FuzzPackTests.swift: packs of inputs hold what was put in, and no bytes make reading one trap.

import Fuzz
import Testing

@Suite("Packs of inputs")
struct FuzzPackTests {
  @Test("give back what was put in")
  func roundTrip() {
    var choices = MutantChoices(seed: 3)
    var inputs: [[UInt8]] = [[], [0], [UInt8](repeating: 0, count: 9000), [1, 0, 0, 2]]
    for _ in 0..<200 {
      let count = choices.below(400)
      inputs.append(
        (0..<count).map { _ in choices.below(3) == 0 ? UInt8(choices.below(256)) : 0 })
    }
    let packed = FuzzPack.pack(inputs)
    #expect(FuzzPack.isPack(packed))
    #expect(FuzzPack.unpack(packed) == inputs)
    #expect(FuzzPack.pack([[UInt8](repeating: 0, count: 131_072)]).count < 20)
  }

  @Test("that are damaged are refused or read, and never trap")
  func damaged() {
    var choices = MutantChoices(seed: 4)
    let packed = FuzzPack.pack([Array("abc".utf8), [UInt8](repeating: 0, count: 99), [7]])
    var refused = 0
    for _ in 0..<20_000 {
      var bytes = packed
      let place = 8 + choices.below(bytes.count - 8)
      bytes[place] = UInt8(choices.below(256))
      if choices.below(4) == 0 { bytes.removeSubrange(place...) }
      if FuzzPack.unpack(bytes) == nil { refused += 1 }
    }
    #expect(refused > 1000)
    #expect(FuzzPack.unpack(Array("FLPACK1\n".utf8)) == [])
    #expect(FuzzPack.unpack(Array("FLPACK2\n".utf8)) == nil)
  }
}
