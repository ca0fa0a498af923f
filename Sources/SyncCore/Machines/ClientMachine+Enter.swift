// ClientMachine+Enter.swift: the effect of a welcome: it changes the client's number, or its log,
// or nothing. Invariant: every pending changeset stays pending, or is in the log, or its loss is
// reported to the app (I7).

extension ClientMachine {
  mutating func enter(_ welcome: SyncWelcome) {
    let isSame = isOwn(welcome)
    if isSame, !knows(welcome) {
      // Its file is a copy, or an older state of itself: the server's changesets of this client are
      // not those that this file made.
      asksForNumber = true
      greet()
      return
    }
    if welcome.wentBack {
      held.append(.tell(.serverWentBack(confirmed: file.log.head)))
    }
    if !isSame || welcome.log != nil { rebase(on: welcome) }
    if !isSame, file.client != ClientFile.unnamed {
      held.append(.tell(.renamed(from: file.client, to: welcome.client)))
    }
    file.client = welcome.client
    file.secret = welcome.secret
    file.nonce = welcome.nonce
    file.epoch = welcome.epoch
    file.needsLog = false
    asksForNumber = false
    phase = .live
    sent = welcome.lastSequence
    received = welcome.lastSequence
    held.isDirty = true
    // Who says nothing under a new number has not shown that it knows it.
    if !isSame { sendProgress(asks: false) }
    upload()
  }

  /// A log that comes in parts is the driver's business until it is whole; only the nonce is kept.
  ///
  /// Without it a file and its copy, which both need the log, would take the number from each other
  /// again and again, each time before a part arrives: neither would ever have another nonce.
  mutating func take(nonceOf welcome: SyncWelcome) {
    guard isOwn(welcome), welcome.nonce != file.nonce else { return }
    file.nonce = welcome.nonce
    held.isDirty = true
  }

  /// Whether a welcome has the number that this client has.
  ///
  /// A server that has lost it may give the same number to anybody, and to this client as a new
  /// one, with another secret.
  private func isOwn(_ welcome: SyncWelcome) -> Bool {
    welcome.client == file.client && welcome.secret == file.secret
  }

  /// Whether the changesets that the server has of this client are those that this file made.
  private func knows(_ welcome: SyncWelcome) -> Bool {
    let logged = file.log.lastSequence(of: file.client)
    // A log that replaces this one may be that of an older server.
    guard welcome.lastSequence >= logged else { return welcome.log == nil }
    var mark = file.mark
    var sequence = logged
    for changeset in file.pending where changeset.sequence <= welcome.lastSequence {
      mark = SyncHash.mark(mark, changeset)
      sequence = changeset.sequence
    }
    return sequence == welcome.lastSequence && mark == welcome.mark
  }

  /// Makes the pending changesets anew: on another log, or as another client's.
  ///
  /// The difference between the two states is treated as one more entry of the old log, and the
  /// changesets are resolved after it. So the same rules apply as between clients; where both
  /// changed one value, the client's is the later one.
  private mutating func rebase(on welcome: SyncWelcome) {
    let isSame = isOwn(welcome)
    let log = welcome.log ?? file.log
    var old = file.log
    let contained = file.pending.prefix {
      isSame && welcome.log != nil && $0.sequence <= welcome.lastSequence
    }
    for changeset in contained {
      _ = try? old.accept(changeset)
      held.append(.tell(.contained(changeset)))
    }
    var latest = old.knownStamp(client: .server, base: old.head)
    if welcome.log != nil {
      latest = SyncStamp.next(now: 0, after: latest) ?? latest
      _ = try? old.accept(
        SyncChangeset(
          client: .server, sequence: 1, base: old.head, stamp: latest,
          operations: log.state.operations(from: old.state)))
    }
    var rebased: [SyncChangeset] = []
    var stamp = log.knownStamp(client: welcome.client, base: log.head)
    for (index, changeset) in file.pending.dropFirst(contained.count).enumerated() {
      var late = changeset
      latest = SyncStamp.next(now: changeset.stamp.milliseconds, after: latest) ?? latest
      late.stamp = latest
      let entry = try? old.accept(late)
      stamp = SyncStamp.next(now: changeset.stamp.milliseconds, after: stamp) ?? stamp
      let new = SyncChangeset(
        client: welcome.client, sequence: welcome.lastSequence + UInt64(index) + 1,
        base: log.head, stamp: stamp,
        operations: entry.map { Self.originals($0.effect) } ?? changeset.operations)
      rebased.append(new)
      held.append(
        .tell(.rebased(from: changeset, to: new, overruled: entry?.overruled ?? [])))
    }
    file.stamp = max(file.stamp, stamp)
    file.log = log
    file.pending = rebased
    file.mark = welcome.mark
  }

  /// Resolved operations as original ones: a fill has the effect of an assignment.
  private static func originals(_ operations: [SourcedOperation]) -> [SyncOperation] {
    operations.map {
      guard case .change(let field, .listFill(let values)) = $0.operation else {
        return $0.operation
      }
      return .change(field, .listAssign(values))
    }
  }
}

extension SyncClient {
  /// The client assumed as author of the difference between two logs, in a replay of the older one.
  static let server = SyncClient(.max - 1)
}
