// World+Machines.swift: the inputs and outputs of machines.

import SyncCore

extension World {
  /// Passes an input to a client; `pending` are the changesets that were pending in the file that a
  /// store has replaced.
  mutating func step(_ slot: Int, _ input: ClientInput, pending: [SyncChangeset] = []) {
    let outputs = clients[slot].machine.step(input, at: now(clients[slot].clock))
    for output in outputs {
      switch output {
      case .send(let message):
        if case .progress(let confirmed, _, _) = message, confirmed > clients[slot].disk.log.head {
          breaks("I9", "client \(slot) says version \(confirmed.number), which is not durable")
        }
        send(message, slot, isUp: true)
      case .store(let file):
        storeCount += 1
        clients[slot].storing = file
        if !options.storesAreEvents { _ = endStore(slot) }
      case .tell(let news): hear(news, slot, pending)
      case .close:
        if clients[slot].connection != 0 { hangUp(slot) }
      }
    }
    judge(slot)
  }

  mutating func stepServer(_ input: ServerInput) {
    let head = server.machine.file.log.head
    let outputs = server.machine.step(input, at: now(server.clock))
    judgeServer(since: head)
    for output in outputs {
      switch output {
      case .send(let session, let message):
        judgeDurable(message, session)
        guard let slot = clients.firstIndex(where: { $0.connection == session }) else { continue }
        if case .entries = message { entryMessageCount += 1 }
        send(message, slot, isUp: false)
      case .store(let file):
        storeCount += 1
        server.storing = file
        if !options.serverStoresAreEvents { _ = endServerStore() }
      case .close(let session):
        guard let slot = clients.firstIndex(where: { $0.connection == session }) else { continue }
        clients[slot].connection = 0
        packets.removeAll { $0.connection == session }
        step(slot, .closed)
      }
    }
  }

  private mutating func send(_ message: SyncMessage, _ slot: Int, isUp: Bool) {
    let node = clients[slot]
    guard node.connection != 0, isUp ? !node.isCutUp : !node.isCutDown else { return }
    let packet = Packet(slot: slot, isUp: isUp, connection: node.connection, message: message)
    guard options.packetsMax == 0 || packets.count < options.packetsMax,
      !options.packetsDiffer || !packets.contains(packet)
    else {
      return
    }
    packets.append(packet)
  }

  /// Handles a report to a client's app.
  private mutating func hear(_ news: ClientNews, _ slot: Int, _ pending: [SyncChangeset]) {
    switch news {
    case .committed(let changeset):
      guard let id = Self.identity(changeset) else { return }
      if !Self.isRefused(changeset) { clients[slot].promised.append(id) }
      bases[id] = changeset.base.number
    case .confirmed, .contained: return
    case .rebased(let old, let new, let overruled):
      guard let id = Self.identity(old) else { return }
      bases[id] = new.base.number
      // The loss was reported to the app: its object was deleted at the server.
      if overruled.contains(where: { old.operations[$0.operation] == .create(Self.object(id)) }) {
        clients[slot].promised.removeAll { $0 == id }
      }
    case .serverWentBack:
      // Confirmed transactions may be lost; pending ones may not.
      let kept = Set(pending.compactMap { Self.identity($0) })
      let file = clients[slot].disk
      clients[slot].promised.removeAll { id in
        !kept.contains(id) && !Self.has(file, id)
      }
      clients[slot].epoch = 0
    case .renamed: mayDouble = true
    case .diverged(let error): breaks("I2", "client \(slot): \(error)")
    }
  }

  /// The number of the transaction that a changeset is.
  static func identity(_ changeset: SyncChangeset) -> Int? {
    for operation in changeset.operations {
      if case .create(let object) = operation, object.type != shared.type,
        case .int(let number) = object.key
      {
        return Int(number)
      }
    }
    return nil
  }

  static func isRefused(_ changeset: SyncChangeset) -> Bool {
    changeset.operations.contains { $0.object.type == refused }
  }

  /// The object that a transaction creates.
  static func object(_ id: Int) -> SyncObject { SyncObject(note, .int(Int64(id))) }

  /// Whether an app sees a transaction.
  static func has(_ file: ClientFile, _ id: Int) -> Bool {
    file.log.state.objects[object(id)] != nil
      || file.pending.contains { identity($0) == id }
  }
}
