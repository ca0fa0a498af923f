// PayloadStoreTests.swift [U]: payloads in memory and in the file keep their bytes.

import Testing

@testable import LabCore
@testable import Recording

@Suite("Payloads of large recordings")
struct PayloadStoreTests {
  /// Bytes that differ from payload to payload and from place to place.
  private static func payload(_ number: Int) -> [UInt8] {
    let count = number % 7 == 0 ? 100_000 + number : 4096 - number % 3
    return (0..<count).map { UInt8(truncatingIfNeeded: $0 / 256 &+ $0 &+ number &* 31) }
  }

  @Test("more than memory is to hold goes to a file and comes back, with and without a file")
  func spills() throws {
    for (directory, isFiled) in [(RunDirectory.diskRoot, true), ("/proc", false)] {
      let store = PayloadStore(memoryBytesMax: 4 << 20, directory: directory)
      var places: [PayloadStore.Place] = []
      for number in 0..<1000 {
        let bytes = Self.payload(number)
        let place = unsafe store.append(bytes.span.bytes)
        places.append(try #require(place))
      }
      #expect(store.isLarge == isFiled)
      for number in [0, 999, 500] + (0..<1000) {
        let bytes = store.bytes(at: places[number])
        #expect(bytes == Self.payload(number), "payload \(number)")
      }
    }
  }

  @Test("a payload that lies in the store is equal to the same bytes in an array")
  func equality() throws {
    let store = PayloadStore(memoryBytesMax: 0)
    let bytes = Self.payload(1)
    let appended = unsafe store.append(bytes.span.bytes)
    let place = try #require(appended)
    let stored = Payload(store, place)
    #expect(stored == Payload(bytes) && stored.countBytes == bytes.count)
    #expect(stored.hashValue == Payload(bytes).hashValue)
  }
}
