// MessageCoding.swift: messages between client and server as bytes, and the frames in which they
// travel (docs/reference/sync-protocol.md, section 7). Invariants: a message has one encoding; no
// bytes cause a trap, and memory is at most a fixed multiple of their size; a reader of frames
// holds no more than its limit.

extension SyncLimits {
  /// Bytes of a frame.
  public static let frameBytesMax = 1 << 20
  /// Bytes of a message to the server: a changeset.
  public static let uploadBytesMax = changesetBytesMax + 2
  /// Bytes of a message to a client: an entry, or a log.
  public static let messageBytesMax = 1 << 30
  /// Bytes of entries that a client stores in one transaction, unless a single entry has more; and
  /// of a part of a log (I26).
  public static let storedBytesMax = 128 << 10
}

extension SyncMessage {
  /// The version of this encoding: the first byte of every message.
  public static let format: UInt8 = 1

  /// Its bytes.
  /// - Complexity: O(bytes).
  public func encoded() -> [UInt8] {
    var bytes = ByteWriter()
    bytes.append(Self.format)
    switch self {
    case .hello(let hello):
      bytes.append(1 as UInt8)
      bytes.append(hello.attempt)
      bytes.append(number: hello.client?.number ?? 0)
      for number in [hello.secret, hello.nonce, hello.epoch] { bytes.append(fixed: number) }
      bytes.append(number: hello.confirmed.number)
      bytes.append(fixed: hello.chain)
      bytes.append(number: hello.lowest.number)
      bytes.append(hello.needsLog ? 1 : 0 as UInt8)
    case .upload(let changeset):
      bytes.append(2 as UInt8)
      bytes.append(changeset.encoded())
    case .progress(let confirmed, let lowest, let asks):
      bytes.append(3 as UInt8)
      bytes.append(number: confirmed.number)
      bytes.append(number: lowest.number)
      bytes.append(asks ? 1 : 0 as UInt8)
    case .welcome(let welcome):
      bytes.append(4 as UInt8)
      bytes.append(number: welcome.client.number)
      for number in [welcome.secret, welcome.nonce, welcome.epoch] { bytes.append(fixed: number) }
      bytes.append(number: welcome.lastSequence)
      bytes.append(fixed: welcome.mark)
      bytes.append(
        (welcome.wentBack ? 1 : 0) | (welcome.log == nil ? 0 : 2)
          | (welcome.offered == nil ? 0 : 4) as UInt8)
      if let log = welcome.log { bytes.append(log: log) }
      if let offered = welcome.offered { bytes.append(fixed: offered) }
    case .entries(let entries):
      bytes.append(5 as UInt8)
      bytes.append(entries: entries)
    case .received(let sequence):
      bytes.append(6 as UInt8)
      bytes.append(number: sequence)
    case .wants(let log, let index):
      bytes.append(7 as UInt8)
      bytes.append(fixed: log)
      bytes.append(number: index)
    case .part(let part):
      bytes.append(8 as UInt8)
      bytes.append(fixed: part.log)
      bytes.append(number: part.index)
      bytes.append(part.isLast ? 1 : 0 as UInt8)
      bytes.append(count: part.bytes.count)
      bytes.append(part.bytes)
    }
    return bytes.bytes
  }

  /// The message of some bytes.
  /// - Parameters:
  ///   - bytes: The bytes.
  ///   - isUp: Whether they are from a client; messages of the other direction are errors.
  /// - Throws: `SyncError`, with code `malformed` or `limit`, or as `SyncMerger.take` for a log.
  /// - Complexity: O(bytes); a log as `SyncMerger.take` for each of its entries.
  public init(decoding bytes: [UInt8], isUp: Bool) throws(SyncError) {
    let bytesMax = isUp ? SyncLimits.uploadBytesMax : SyncLimits.messageBytesMax
    var reader = try SyncCoding.reader(bytes, format: Self.format, max: bytesMax)
    let kind = try reader.byte()
    guard (isUp ? [1, 2, 3, 7] : [4, 5, 6, 8]).contains(kind) else {
      throw reader.malformed("message of kind \(kind)")
    }
    switch kind {
    case 1: self = .hello(try reader.hello())
    case 2: self = .upload(try SyncChangeset(decoding: try reader.take(reader.rest)))
    case 3:
      self = .progress(
        confirmed: SyncVersion(try reader.number()), lowest: SyncVersion(try reader.number()),
        asks: try reader.isTrue())
    case 4: self = .welcome(try reader.welcome())
    case 5: self = .entries(try reader.entries())
    case 6: self = .received(try reader.number())
    case 7: self = .wants(log: try reader.fixed(UInt128.self), from: try reader.number())
    default: self = .part(try reader.part())
    }
    guard reader.rest == 0 else { throw reader.malformed("\(reader.rest) bytes too many") }
  }

  /// The same as messages of which each has entries of so many bytes at most, or a single entry.
  /// - Complexity: O(bytes).
  package func inParts(bytesMax: Int = SyncLimits.storedBytesMax) -> [SyncMessage] {
    guard case .entries(let entries) = self, entries.count > 1 else { return [self] }
    var parts: [[SyncEntry]] = []
    var size = Int.max
    for entry in entries {
      let count = entry.encoded().count
      if size > bytesMax - count {
        parts.append([])
        size = 0
      }
      parts[parts.count - 1].append(entry)
      size += count
    }
    return parts.map { .entries($0) }
  }
}

extension ByteReader {
  fileprivate mutating func hello() throws(SyncError) -> SyncHello {
    let attempt = try byte()
    guard attempt == 1 || attempt == 2 else { throw malformed("attempt \(attempt)") }
    let client = try number()
    return SyncHello(
      attempt: attempt, client: client == 0 ? nil : SyncClient(client),
      secret: try fixed(UInt64.self), nonce: try fixed(UInt64.self),
      epoch: try fixed(UInt64.self), confirmed: SyncVersion(try number()),
      chain: try fixed(UInt128.self), lowest: SyncVersion(try number()), needsLog: try isTrue())
  }

  fileprivate mutating func welcome() throws(SyncError) -> SyncWelcome {
    var welcome = SyncWelcome(
      client: SyncClient(try number()), secret: try fixed(UInt64.self),
      nonce: try fixed(UInt64.self), epoch: try fixed(UInt64.self), lastSequence: try number(),
      mark: try fixed(UInt128.self), wentBack: false, log: nil)
    // The first number belongs to nobody; the client counts on from its last changeset.
    guard welcome.client.number > 0, welcome.client < SyncClient.keeper,
      welcome.lastSequence < .max / 2
    else { throw malformed("a client or sequence number that nobody has") }
    let flags = try byte()
    guard flags < 6 else { throw malformed("flags \(flags)") }
    welcome.wentBack = flags & 1 != 0
    if flags & 2 != 0 { welcome.log = try log() }
    if flags & 4 != 0 { welcome.offered = try fixed(UInt128.self) }
    return welcome
  }

  fileprivate mutating func part() throws(SyncError) -> SyncLogPart {
    let part = SyncLogPart(
      log: try fixed(UInt128.self), index: try number(), isLast: try isTrue(),
      bytes: try take(try count(max: SyncLimits.storedBytesMax)))
    guard !part.bytes.isEmpty else { throw malformed("a part without bytes") }
    return part
  }
}

extension SyncMerger {
  /// Its bytes, of which an offered log's parts are pieces.
  /// - Complexity: O(bytes).
  package func encodedLog() -> [UInt8] {
    var bytes = ByteWriter()
    bytes.append(SyncMessage.format)
    bytes.append(log: self)
    return bytes.bytes
  }

  /// The log of some bytes.
  /// - Throws: `SyncError`, as for a message.
  /// - Complexity: As `take` for each of its entries.
  package init(decodingLog bytes: [UInt8]) throws(SyncError) {
    var reader = try SyncCoding.reader(
      bytes, format: SyncMessage.format, max: SyncLimits.messageBytesMax)
    self = try reader.log()
    guard reader.rest == 0 else { throw reader.malformed("\(reader.rest) bytes too many") }
  }

  /// The name of this log as an offered one: equal names are equal bytes.
  package func name(epoch: UInt64) -> UInt128 {
    var hash = SyncHash()
    for number in [epoch, start.number, head.number] { hash.append(UInt128(number)) }
    hash.append(chain(at: head) ?? 0)
    return hash.finish()
  }
}

/// The frames of messages: a frame is a byte, 1 in the last one of a message and 0 before, and at
/// most `SyncLimits.frameBytesMax` − 1 bytes of the message; all but the last are full.
package enum SyncFrames {
  private static let contentBytesMax = SyncLimits.frameBytesMax - 1

  /// The frames of a message's bytes.
  /// - Complexity: O(bytes).
  package static func frames(of bytes: [UInt8]) -> [[UInt8]] {
    var frames: [[UInt8]] = []
    var start = 0
    repeat {
      let end = min(bytes.count, start + contentBytesMax)
      frames.append([end == bytes.count ? 1 : 0] + bytes[start..<end])
      start = end
    } while start < bytes.count
    return frames
  }

  /// Joins the frames of one direction of a connection.
  package struct Reader: Sendable {
    private let bytesMax: Int
    private var bytes: [UInt8] = []

    /// - Parameter bytesMax: The limit of a message.
    package init(bytesMax: Int) { self.bytesMax = bytesMax }

    /// Takes the next frame.
    /// - Returns: The bytes of a message that it ends; nil for one that continues.
    /// - Throws: `malformed` or `limit`; the connection is of no use then.
    package mutating func take(_ frame: [UInt8]) throws(SyncError) -> [UInt8]? {
      guard let first = frame.first, first < 2, frame.count <= contentBytesMax + 1 else {
        throw SyncError(
          .malformed,
          "a frame of \(frame.count) bytes that begins with "
            + "\(frame.first.map { "\($0)" } ?? "nothing")")
      }
      guard first == 1 || frame.count == contentBytesMax + 1 else {
        throw SyncError(.malformed, "\(frame.count) bytes in a frame that is not the last")
      }
      guard frame.count - 1 <= bytesMax - bytes.count else {
        throw SyncError(.limit, "a message of more than \(bytesMax) bytes")
      }
      bytes += frame.dropFirst()
      guard first == 1 else { return nil }
      defer { bytes = [] }
      return bytes
    }
  }
}
