// FixedHasher.swift: hashes machines for searches through their states. Invariants: equal values
// have equal hashes in every process and on every machine, unlike those of Swift's Hasher, which
// has a random seed; everything that a machine's future depends on is hashed, a log by its chain.

/// A value that can be hashed without a random seed.
package protocol FixedHashable {
  /// Feeds everything that distinguishes it.
  func feed(_ hasher: inout FixedHasher)
}

/// 64 bits over words that come one after another.
package struct FixedHasher: Sendable {
  private var state: UInt64 = 0x2d35_8dcc_aa6c_78a5

  /// Nothing yet.
  package init() {}

  /// The hash.
  package var value: UInt64 {
    let (high, low) = (state ^ 0x8bb8_4b93_962e_acc9)
      .multipliedFullWidth(by: 0x4b33_a62e_d433_d4a3)
    return high ^ low
  }

  @inline(__always)
  package mutating func feed(_ word: UInt64) {
    let (high, low) = (state ^ word).multipliedFullWidth(by: 0x9e37_79b9_7f4a_7c15)
    state = (high ^ low) &+ word &* 0xe703_7ed1_a0b4_28db &+ 1
  }

  package mutating func feed(_ number: Int) { feed(UInt64(bitPattern: Int64(number))) }

  package mutating func feed(_ isTrue: Bool) { feed(isTrue ? 1 : 0 as UInt64) }

  package mutating func feed(_ wide: UInt128) {
    feed(UInt64(truncatingIfNeeded: wide))
    feed(UInt64(truncatingIfNeeded: wide >> 64))
  }

  mutating func feed(_ bytes: [UInt8]) {
    feed(bytes.count)
    var (word, count) = (UInt64(0), 0)
    for byte in bytes {
      word = word << 8 | UInt64(byte)
      count += 1
      if count % 8 == 0 { feed(word) }
    }
    if count % 8 != 0 { feed(word) }
  }

  package mutating func feed(_ value: (some FixedHashable)?) {
    feed(value != nil)
    value?.feed(&self)
  }

  package mutating func feed(_ values: [some FixedHashable]) {
    feed(values.count)
    for value in values { value.feed(&self) }
  }

  /// Members in any order.
  package mutating func feed<Member>(
    unordered members: some Collection<Member>, _ each: (Member, inout FixedHasher) -> Void
  ) {
    var sum: UInt64 = 0
    for member in members {
      var hasher = FixedHasher()
      each(member, &hasher)
      sum &+= hasher.value
    }
    feed(members.count)
    feed(sum)
  }
}

// MARK: changesets and entries

extension SyncKey {
  fileprivate func feed(_ hasher: inout FixedHasher) {
    switch self {
    case .null: hasher.feed(0)
    case .int(let number):
      hasher.feed(1)
      hasher.feed(UInt64(bitPattern: number))
    case .text(let text):
      hasher.feed(2)
      hasher.feed(text.utf8)
    case .objectId(let high, let low):
      hasher.feed(3)
      hasher.feed(high)
      hasher.feed(UInt64(low))
    case .uuid(let number):
      hasher.feed(4)
      hasher.feed(number)
    }
  }
}

extension SyncObject: FixedHashable {
  package func feed(_ hasher: inout FixedHasher) {
    hasher.feed(type.utf8)
    key.feed(&hasher)
  }
}

extension SyncOperation: FixedHashable {
  package func feed(_ hasher: inout FixedHasher) {
    switch self {
    case .create(let object):
      hasher.feed(0)
      object.feed(&hasher)
    case .delete(let object):
      hasher.feed(1)
      object.feed(&hasher)
    case .change(let field, .set(.int(let number))) where field.steps.isEmpty:
      hasher.feed(2)
      field.object.feed(&hasher)
      hasher.feed(field.property.utf8)
      hasher.feed(UInt64(bitPattern: number))
    case .change:
      // Others are rare: their bytes.
      var writer = OperationWriter()
      writer.append(self)
      hasher.feed(3)
      for name in writer.nameTable { hasher.feed(name.utf8) }
      hasher.feed(writer.body.bytes)
    }
  }
}

extension SourcedOperation: FixedHashable {
  package func feed(_ hasher: inout FixedHasher) {
    hasher.feed(source)
    operation.feed(&hasher)
  }
}

extension SyncChangeset: FixedHashable {
  package func feed(_ hasher: inout FixedHasher) {
    hasher.feed(client.number)
    hasher.feed(sequence)
    hasher.feed(base.number)
    hasher.feed(stamp.bits)
    hasher.feed(operations)
  }
}

extension SyncOverruling: FixedHashable {
  package func feed(_ hasher: inout FixedHasher) {
    hasher.feed(operation)
    hasher.feed(UInt64(cause.rawValue))
    hasher.feed(by.number)
  }
}

extension SyncEntry: FixedHashable {
  package func feed(_ hasher: inout FixedHasher) {
    hasher.feed(version.number)
    hasher.feed(user)
    changeset.feed(&hasher)
    hasher.feed(resolved != nil)
    hasher.feed(resolved ?? [])
    hasher.feed(restated != nil)
    hasher.feed(restated ?? [])
    hasher.feed(overruled)
    hasher.feed(refusal.map { UInt64($0) + 1 } ?? 0)
    hasher.feed(barrier.number)
    hasher.feed(digest)
  }
}

extension SyncMerger: FixedHashable {
  package func feed(_ hasher: inout FixedHasher) {
    hasher.feed(firstVersion)
    hasher.feed(isBroken)
    hasher.feed(chains[chains.count - 1])
  }
}

// MARK: machines

extension SyncMessage: FixedHashable {
  package func feed(_ hasher: inout FixedHasher) {
    switch self {
    case .hello(let hello):
      hasher.feed(1)
      for number in [
        UInt64(hello.attempt), hello.client?.number ?? 0, hello.secret, hello.nonce, hello.epoch,
        hello.confirmed.number, hello.lowest.number,
      ] {
        hasher.feed(number)
      }
      hasher.feed(hello.chain)
      hasher.feed(hello.needsLog)
    case .upload(let changeset):
      hasher.feed(2)
      changeset.feed(&hasher)
    case .progress(let confirmed, let lowest, let asks):
      hasher.feed(3)
      hasher.feed(confirmed.number)
      hasher.feed(lowest.number)
      hasher.feed(asks)
    case .welcome(let welcome):
      hasher.feed(4)
      for number in [
        welcome.client.number, welcome.secret, welcome.nonce, welcome.epoch, welcome.lastSequence,
      ] {
        hasher.feed(number)
      }
      hasher.feed(welcome.mark)
      hasher.feed(welcome.wentBack)
      hasher.feed(welcome.log)
      hasher.feed(welcome.offered ?? 0)
    case .entries(let entries):
      hasher.feed(5)
      hasher.feed(entries)
    case .received(let sequence):
      hasher.feed(6)
      hasher.feed(sequence)
    case .wants(let log, let index):
      hasher.feed(7)
      hasher.feed(log)
      hasher.feed(index)
    case .part(let part):
      hasher.feed(8)
      hasher.feed(part.log)
      hasher.feed(part.index)
      hasher.feed(part.isLast)
      hasher.feed(part.bytes)
    }
  }
}

extension ClientFile: FixedHashable {
  package func feed(_ hasher: inout FixedHasher) {
    for number in [client.number, secret, nonce, epoch, stamp.bits] { hasher.feed(number) }
    log.feed(&hasher)
    hasher.feed(pending)
    hasher.feed(mark)
    hasher.feed(needsLog)
  }
}

extension ClientNews: FixedHashable {
  package func feed(_ hasher: inout FixedHasher) {
    switch self {
    case .committed(let changeset):
      hasher.feed(1)
      changeset.feed(&hasher)
    case .confirmed(let entry):
      hasher.feed(2)
      entry.feed(&hasher)
    case .contained(let changeset):
      hasher.feed(3)
      changeset.feed(&hasher)
    case .rebased(let old, let new, let overruled):
      hasher.feed(4)
      old.feed(&hasher)
      new.feed(&hasher)
      hasher.feed(overruled)
    case .serverWentBack(let version):
      hasher.feed(5)
      hasher.feed(version.number)
    case .renamed(let old, let new):
      hasher.feed(6)
      hasher.feed(old.number)
      hasher.feed(new.number)
    case .diverged(let error):
      hasher.feed(7)
      hasher.feed(Array(error.message.utf8))
    }
  }
}

extension ClientOutput: FixedHashable {
  package func feed(_ hasher: inout FixedHasher) {
    switch self {
    case .send(let message):
      hasher.feed(1)
      message.feed(&hasher)
    case .store(let file):
      hasher.feed(2)
      file.feed(&hasher)
    case .tell(let news):
      hasher.feed(3)
      news.feed(&hasher)
    case .close: hasher.feed(4)
    }
  }
}

extension ClientMachine: FixedHashable {
  package func feed(_ hasher: inout FixedHasher) {
    file.feed(&hasher)
    switch phase {
    case .offline: hasher.feed(0)
    case .greeting: hasher.feed(1)
    case .live: hasher.feed(2)
    }
    hasher.feed(asksForNumber)
    hasher.feed(sent)
    hasher.feed(received)
    held.feed(&hasher)
  }
}

extension ClientRecord: FixedHashable {
  package func feed(_ hasher: inout FixedHasher) {
    for number in [client.number, secret, nonce, offered, lowest.number] { hasher.feed(number) }
    hasher.feed(mark)
    hasher.feed(isExpired)
  }
}

extension ServerFile: FixedHashable {
  package func feed(_ hasher: inout FixedHasher) {
    hasher.feed(epoch)
    log.feed(&hasher)
    hasher.feed(clients)
  }
}

extension ServerOutput: FixedHashable {
  package func feed(_ hasher: inout FixedHasher) {
    switch self {
    case .send(let session, let message):
      hasher.feed(1)
      hasher.feed(session)
      message.feed(&hasher)
    case .store(let file):
      hasher.feed(2)
      file.feed(&hasher)
    case .close(let session):
      hasher.feed(3)
      hasher.feed(session)
    }
  }
}

extension ServerMachine: FixedHashable {
  package func feed(_ hasher: inout FixedHasher) {
    file.feed(&hasher)
    hasher.feed(unordered: refusedTypes) { $1.feed($0.utf8) }
    hasher.feed(unordered: sessions) { session, hasher in
      for number in [
        session.key, session.value.random, session.value.client, session.value.nonce,
        session.value.sent, session.value.confirmed, UInt64(session.value.attempt),
      ] {
        hasher.feed(number)
      }
      hasher.feed(session.value.isPart)
    }
    hasher.feed(unordered: unconfirmed) { $1.feed($0) }
    held.feed(&hasher)
  }
}
