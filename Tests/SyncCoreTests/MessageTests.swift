// MessageTests.swift: the bytes of messages and their frames: there and back, a second reader, and
// bytes that mean nothing.

import Fuzz
import Requirements
import SyncCore
import SyncFuzz
import Testing

@Suite("The bytes of messages")
struct MessageTests {
  /// Messages of both directions, with the logs of drawn worlds.
  private static func messages() -> [SyncMessage] {
    var found: [SyncMessage] = []
    for seed in 0..<12 as Range<UInt64> {
      var world = SyncWorld(MutantChoices(seed: seed))
      _ = world.run(steps: 50)
      var draw = CodecTests.Draw(state: seed)
      let whole = world.server
      for log in [nil, whole, whole.trimmedToBarrier()] {
        found.append(.welcome(welcome(&draw, log)))
      }
      var offering = welcome(&draw, nil)
      offering.offered = UInt128(draw.wide()) << 60 | 3
      found.append(.welcome(offering))
      found += (0..<20).map { _ in message(&draw) }
    }
    return found
  }

  private static func welcome(
    _ draw: inout CodecTests.Draw, _ log: SyncMerger?
  ) -> SyncWelcome {
    SyncWelcome(
      client: SyncClient(1 + draw.next()), secret: draw.wide(), nonce: draw.wide(),
      epoch: draw.wide(), lastSequence: draw.next(), mark: UInt128(draw.next()) << 70,
      wentBack: draw.below(2) == 0, log: log)
  }

  private static func message(_ draw: inout CodecTests.Draw) -> SyncMessage {
    switch draw.below(7) {
    case 0:
      .hello(
        SyncHello(
          attempt: UInt8(1 + draw.below(2)),
          client: draw.below(3) == 0 ? nil : SyncClient(1 + draw.next()), secret: draw.wide(),
          nonce: draw.wide(), epoch: draw.wide(), confirmed: SyncVersion(draw.wide()),
          chain: UInt128(draw.next()) << 64, lowest: SyncVersion(draw.wide()),
          needsLog: draw.below(2) == 0))
    case 1: .upload(draw.changeset())
    case 2:
      .progress(
        confirmed: SyncVersion(draw.wide()), lowest: SyncVersion(draw.wide()),
        asks: draw.below(2) == 0)
    case 3: .entries((0..<draw.below(4)).map { _ in draw.entry() })
    case 4: .wants(log: UInt128(draw.wide()) << 63, from: draw.wide())
    case 5:
      .part(
        SyncLogPart(
          log: UInt128(draw.wide()) << 63, index: draw.wide(), isLast: draw.below(2) == 0,
          bytes: (0...draw.below(300)).map { _ in UInt8(draw.below(256)) }))
    default: .received(draw.wide())
    }
  }

  private static func isUp(_ message: SyncMessage) -> Bool {
    switch message {
    case .hello, .upload, .progress, .wants: true
    case .welcome, .entries, .received, .part: false
    }
  }

  @Test("lead back to the same message, for both readers")
  func thereAndBack() throws {
    for (number, message) in Self.messages().enumerated() {
      let bytes = message.encoded()
      let isUp = Self.isUp(message)
      #expect(try SyncMessage(decoding: bytes, isUp: isUp) == message, "message \(number)")
      #expect(throws: SyncError.self) { try SyncMessage(decoding: bytes, isUp: !isUp) }
      var (second, log) = (SecondReader(bytes), LogParts?.none)
      var expected = message
      var parts: LogParts?
      if case .welcome(var welcome) = message {
        parts = welcome.log.map {
          LogParts(
            start: $0.startInWords, objects: $0.startState.objects.mapValues { NodeParts($0) },
            entries: $0.entries)
        }
        welcome.log = nil
        expected = .welcome(welcome)
      }
      #expect(second.message(log: &log) == expected, "message \(number)")
      #expect(log == parts, "message \(number)")
    }
  }

  @Test("have logs that can be taken from any barrier on")
  func trimmedLogs() throws {
    for seed in 0..<80 as Range<UInt64> {
      var world = SyncWorld(MutantChoices(seed: seed &+ 500))
      _ = world.run(steps: 40)
      let log = world.server.trimmedToBarrier()
      let parts = try SyncMerger(
        log.startInWords, objects: log.startState, entries: log.entries)
      #expect(parts == log, "seed \(seed)")
    }
    // The barrier stays behind a connected client, and then moves past entries that name it.
    var log = SyncMerger()
    let stays = [0, 0, 0, 0, 3] as [UInt64]
    for (index, goal) in stays.enumerated() {
      let number = UInt64(index) + 1
      try log.accept(
        SyncChangeset(
          client: SyncClient(1), sequence: number, base: SyncVersion(number - 1),
          stamp: SyncStamp(bits: number),
          operations: [.create(SyncObject("C", .int(Int64(number))))]),
        barrierAtMost: SyncVersion(goal))
    }
    for version in [0, 3] as [UInt64] {
      var part = log
      part.trim(to: SyncVersion(version))
      #expect(part.start.number == version)
      let parts = try SyncMerger(
        part.startInWords, objects: part.startState, entries: part.entries)
      #expect(parts == part, "from \(version)")
    }
  }

  @Test("have parts of logs with a byte or more, and not more than a client stores at once (I26)")
  func logParts() throws {
    func part(_ count: Int) -> [UInt8] {
      SyncMessage.part(
        SyncLogPart(log: 7, index: 1, isLast: true, bytes: [UInt8](repeating: 1, count: count))
      ).encoded()
    }
    for count in [1, SyncLimits.storedBytesMax] {
      #expect(try SyncMessage(decoding: part(count), isUp: false).encoded() == part(count))
    }
    for count in [0, SyncLimits.storedBytesMax + 1] {
      #expect(throws: SyncError.self) { try SyncMessage(decoding: part(count), isUp: false) }
    }
    var world = SyncWorld(MutantChoices(seed: 9))
    _ = world.run(steps: 50)
    let log = world.server.trimmedToBarrier()
    let bytes = log.encodedLog()
    #expect(try SyncMerger(decodingLog: bytes) == log)
    #expect(throws: SyncError.self) { try SyncMerger(decodingLog: bytes + [0]) }
    #expect(throws: SyncError.self) { try SyncMerger(decodingLog: Array(bytes.dropLast())) }
    // Equal names are equal bytes: another epoch, beginning or end is another log.
    var longer = world.server
    let next = longer.lastSequence(of: SyncClient(1)) + 1
    let later = SyncStamp(bits: longer.startInWords.stamp.bits + 1 << 40)
    try longer.accept(
      SyncChangeset(
        client: SyncClient(1), sequence: next, base: longer.head, stamp: later,
        operations: [.create(SyncObject("C", .int(77)))]))
    let names = [
      log.name(epoch: 1), log.name(epoch: 2), longer.name(epoch: 1),
      SyncMerger(log.state, at: log.head).name(epoch: 1),
    ]
    #expect(Set(names).count == names.count)
    #expect(try SyncMerger(decodingLog: bytes).name(epoch: 1) == names[0])
  }

  @Test("are refused when they are cut, changed to another spelling, or go on")
  func strict() {
    for (number, message) in Self.messages().enumerated() where number % 7 == 0 {
      let bytes = message.encoded()
      let isUp = Self.isUp(message)
      for end in bytes.indices where end < 40 || end % 13 == 0 {
        #expect(throws: SyncError.self) {
          try SyncMessage(decoding: Array(bytes[..<end]), isUp: isUp)
        }
      }
      #expect(throws: SyncError.self) { try SyncMessage(decoding: bytes + [0], isUp: isUp) }
      var draw = CodecTests.Draw(state: UInt64(number))
      for _ in 0..<40 {
        var changed = bytes
        changed[draw.below(bytes.count)] = UInt8(draw.below(256))
        guard let other = try? SyncMessage(decoding: changed, isUp: isUp) else { continue }
        #expect(other.encoded() == changed, "message \(number): a second spelling is accepted")
      }
    }
  }

  @Test("have objects, properties, members and keys in ascending order, once each")
  func order() throws {
    var state = SyncState()
    for id in 1...2 as ClosedRange<Int64> {
      let object = SyncObject("C", .int(id))
      try state.apply(.create(object))
      for value in 1...2 as ClosedRange<Int64> {
        let key = SyncText("\(value)")
        try state.apply(.change(SyncField(object, [], "p"), .setInsert(.int(value))))
        try state.apply(.change(SyncField(object, [], "q"), .dictionarySet(key, .null)))
      }
    }
    let welcome = SyncWelcome(
      client: SyncClient(1), secret: 0, nonce: 0, epoch: 0, lastSequence: 0, mark: 0,
      wentBack: false, log: SyncMerger(state))
    let right = SyncMessage.welcome(welcome).encoded()
    #expect(try SyncMessage(decoding: right, isUp: false) == .welcome(welcome))
    // The two objects: class 0, key 1 (as 2), and class 0, key 2 (as 4); members 3 2, 3 4; keys.
    let places: [(found: [UInt8], other: [UInt8])] = [
      ([0, 1, 67, 1, 2], [0, 1, 67, 1, 4]), ([3, 2, 3, 4], [3, 4, 3, 2]),
      ([3, 2, 3, 4], [3, 2, 3, 2]), ([1, 49, 0, 1, 50, 0], [1, 50, 0, 1, 49, 0]),
      ([1, 49, 0, 1, 50, 0], [1, 49, 0, 1, 49, 0]),
    ]
    for (found, other) in places {
      var changed = right
      let place = try #require(
        right.indices.first { right[$0...].starts(with: found) })
      changed.replaceSubrange(place..<place + found.count, with: other)
      #expect {
        try SyncMessage(decoding: changed, isUp: false)
      } throws: {
        ($0 as? SyncError)?.message.contains("do not ascend") ?? false
      }
    }
  }

  @Test("trap no machine, whatever they say (I14)")
  func hostile() throws {
    let target = try #require(FuzzTarget.ofSync.first { $0.name == "sync-message" })
    var (accepted, refused) = (0, 0)
    var draw = CodecTests.Draw(state: 5)
    for seed in target.seeds() {
      #expect(target.run(seed) == .accepted)
      for _ in 0..<(FullSize.isOn ? 20_000 : 40) {
        var input = seed
        for _ in 0...draw.below(3) { input[draw.below(input.count)] = UInt8(draw.below(256)) }
        switch target.run(input) {
        case .accepted: accepted += 1
        case .refused: refused += 1
        case .finding(let text): Issue.record("\(text): \(input)")
        }
      }
    }
    print("hostile messages: \(accepted) accepted, \(refused) refused")
    #expect(accepted > 20 && refused > 100)
  }

  @Test("travel in full frames and a last one, within the limit")
  func frames() throws {
    let full = SyncLimits.frameBytesMax - 1
    for count in [1, full, full + 1, 2 * full] {
      let bytes = [UInt8](repeating: 3, count: count - 1) + [9]
      let frames = SyncFrames.frames(of: bytes)
      #expect(frames.count == (count + full - 1) / full)
      var reader = SyncFrames.Reader(bytesMax: 2 * full)
      var whole: [UInt8]?
      for frame in frames {
        #expect(whole == nil && frame.count <= SyncLimits.frameBytesMax)
        whole = try reader.take(frame)
      }
      #expect(whole == bytes)
    }
    var reader = SyncFrames.Reader(bytesMax: full)
    let first = [0] + [UInt8](repeating: 7, count: full)
    #expect(try reader.take(first) == nil)
    #expect(throws: SyncError.self) { try reader.take([1, 7]) }
    for wrong in [[], [2, 1], [0, 1], [1] + first] as [[UInt8]] {
      var reader = SyncFrames.Reader(bytesMax: 1 << 30)
      #expect(throws: SyncError.self) { try reader.take(wrong) }
    }
  }

  @Test("of many entries are small, or have one entry")
  func parts() throws {
    var draw = CodecTests.Draw(state: 3)
    let entries = (0..<9).map { number -> SyncEntry in
      var entry = draw.entry()
      let bytes = [UInt8](repeating: 1, count: number == 4 ? 3 << 20 : 400_000)
      entry.changeset.operations.append(
        .change(SyncField(SyncObject("C", .null), [], "p"), .set(.binary(bytes))))
      return entry
    }
    let parts = SyncMessage.entries(entries).inParts(bytesMax: SyncLimits.frameBytesMax)
    var joined: [SyncEntry] = []
    for part in parts {
      guard case .entries(let some) = part else { continue }
      joined += some
      #expect(some.count == 1 || part.encoded().count <= SyncLimits.frameBytesMax + 64)
    }
    #expect(joined == entries && parts.count > 3 && parts.count < 9)
    // What a client stores in one transaction is bounded (I26).
    for part in SyncMessage.entries((0..<400).map { _ in draw.entry() }).inParts() {
      guard case .entries(let some) = part else { continue }
      #expect(some.count == 1 || part.encoded().count <= SyncLimits.storedBytesMax + 2_000)
    }
    #expect(SyncMessage.received(1).inParts() == [.received(1)])
  }
}
