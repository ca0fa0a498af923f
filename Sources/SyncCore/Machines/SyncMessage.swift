// SyncMessage.swift: the messages between client and server (docs/reference/sync-protocol.md).

/// A client's first message of a connection: its identity and its state.
public struct SyncHello: Hashable, Sendable {
  /// 1, and 2 once the answer showed that the client's file is a copy: distinguishes a repeated or
  /// late hello from a new one.
  public var attempt: UInt8
  /// Its number; nil requests one.
  public var client: SyncClient?
  /// The secret that the server assigned with its number.
  public var secret: UInt64
  /// The last nonce that its file holds: it distinguishes copies of a file.
  public var nonce: UInt64
  /// The server's epoch as it knows it; zero for none.
  public var epoch: UInt64
  /// The last entry that it has.
  public var confirmed: SyncVersion
  /// The hash over all entries up to that one.
  public var chain: UInt128
  /// No changeset that it will still upload has a lower base.
  public var lowest: SyncVersion
  /// Whether its log is of no use, so that it needs a new one.
  public var needsLog: Bool

  package init(
    attempt: UInt8, client: SyncClient?, secret: UInt64, nonce: UInt64, epoch: UInt64,
    confirmed: SyncVersion, chain: UInt128, lowest: SyncVersion, needsLog: Bool
  ) {
    self.attempt = attempt
    self.client = client
    self.secret = secret
    self.nonce = nonce
    self.epoch = epoch
    self.confirmed = confirmed
    self.chain = chain
    self.lowest = lowest
    self.needsLog = needsLog
  }
}

/// The server's response to a hello.
public struct SyncWelcome: Hashable, Sendable {
  /// The client's number: the one that it sent, or a new one.
  public var client: SyncClient
  /// The secret that proves that number.
  public var secret: UInt64
  /// The nonce that the client must store before it uploads.
  public var nonce: UInt64
  /// The server's epoch.
  public var epoch: UInt64
  /// The last changeset of this client that the log holds; zero for none.
  public var lastSequence: UInt64
  /// The hash over all changesets of this client as uploaded.
  public var mark: UInt128
  /// Whether the server has lost entries that the client has.
  public var wentBack: Bool
  /// The log that replaces the client's; nil when the client's is a part of the server's, or when
  /// the log comes in parts.
  public var log: SyncMerger?
  /// The name of a log that replaces the client's and comes in parts.
  public var offered: UInt128?

  package init(
    client: SyncClient, secret: UInt64, nonce: UInt64, epoch: UInt64, lastSequence: UInt64,
    mark: UInt128, wentBack: Bool, log: SyncMerger?, offered: UInt128? = nil
  ) {
    self.client = client
    self.secret = secret
    self.nonce = nonce
    self.epoch = epoch
    self.lastSequence = lastSequence
    self.mark = mark
    self.wentBack = wentBack
    self.log = log
    self.offered = offered
  }
}

/// A piece of the bytes of a log that replaces a client's.
public struct SyncLogPart: Hashable, Sendable {
  /// The log's name: equal names are equal bytes.
  public var log: UInt128
  /// Its number, from 0.
  public var index: UInt64
  /// Whether no more follow.
  public var isLast: Bool
  /// The bytes; at least one.
  public var bytes: [UInt8]

  package init(log: UInt128, index: UInt64, isLast: Bool, bytes: [UInt8]) {
    self.log = log
    self.index = index
    self.isLast = isLast
    self.bytes = bytes
  }
}

/// A message between a client and the server.
public enum SyncMessage: Hashable, Sendable {
  /// From a client: its identity.
  case hello(SyncHello)
  /// From a client: a changeset.
  case upload(SyncChangeset)
  /// From a client: its state; with a request, the following entries are sent again.
  case progress(confirmed: SyncVersion, lowest: SyncVersion, asks: Bool)
  /// From a client: asks for the parts of an offered log, from one on.
  case wants(log: UInt128, from: UInt64)
  /// From the server: the client's identity.
  case welcome(SyncWelcome)
  /// From the server: entries that follow each other; own ones are the acknowledgement.
  case entries([SyncEntry])
  /// From the server: the last changeset that is durable there.
  case received(UInt64)
  /// From the server: a part of an offered log.
  case part(SyncLogPart)
}

extension SyncHash {
  /// The mark after a changeset of a client.
  static func mark(_ before: UInt128, _ changeset: SyncChangeset) -> UInt128 {
    var hash = SyncHash()
    hash.append(before)
    hash.append(changeset.encoded())
    return hash.finish()
  }
}
