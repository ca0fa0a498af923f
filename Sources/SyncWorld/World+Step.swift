// World+Step.swift: the effects of events.

import SyncCore

extension World {
  /// Executes an event.
  /// - Returns: Whether it applied.
  @discardableResult
  package mutating func step(_ event: WorldEvent) -> Bool {
    time += 1
    switch event {
    case .write(let slot, let kind): return isSlot(slot) && write(slot, kind)
    case .connect(let slot): return isSlot(slot) && connect(slot)
    case .hangUp(let slot):
      guard isSlot(slot), clients[slot].connection != 0 else { return false }
      hangUp(slot)
    case .tick(let slot):
      guard isSlot(slot), clients[slot].connection != 0 else { return false }
      step(slot, .tick)
    case .deliver(let index): return packets.indices.contains(index) && deliver(index)
    case .drop(let index):
      guard packets.indices.contains(index) else { return false }
      packets.remove(at: index)
    case .duplicate(let index):
      guard packets.indices.contains(index) else { return false }
      packets.append(packets[index])
    case .cutUp(let slot):
      guard isSlot(slot), !clients[slot].isCutUp else { return false }
      clients[slot].isCutUp = true
    case .cutDown(let slot):
      guard isSlot(slot), !clients[slot].isCutDown else { return false }
      clients[slot].isCutDown = true
    case .heal(let slot):
      guard isSlot(slot), clients[slot].isCutUp || clients[slot].isCutDown else { return false }
      clients[slot].isCutUp = false
      clients[slot].isCutDown = false
    default: return stepFault(event)
    }
    return true
  }

  private mutating func stepFault(_ event: WorldEvent) -> Bool {
    switch event {
    case .stored(let slot): return isSlot(slot) && endStore(slot)
    case .serverStored: return endServerStore()
    case .crash(let slot):
      guard isSlot(slot) else { return false }
      restart(slot, .init(file: clients[slot].disk, promised: clients[slot].promised))
    case .serverCrash: restartServer(server.disk)
    case .clock(let slot, let seconds):
      guard isSlot(slot) else { return false }
      clients[slot].clock = Int64(seconds) * 1000
    case .serverClock(let seconds): server.clock = Int64(seconds) * 1000
    case .clone(let source, let target):
      guard isSlot(source), isSlot(target), source != target else { return false }
      mayDouble = true
      clients[target].copy = nil
      restart(
        target, .init(file: clients[source].disk, promised: clients[source].promised))
    case .save(let slot):
      guard isSlot(slot) else { return false }
      clients[slot].copy = .init(file: clients[slot].disk, promised: clients[slot].promised)
    case .restore(let slot):
      guard isSlot(slot), let copy = clients[slot].copy else { return false }
      mayDouble = true
      restart(slot, copy)
    case .trim: stepServer(.trim)
    case .expire(let slot):
      guard isSlot(slot) else { return false }
      stepServer(.expire(clients[slot].disk.client))
    case .saveServer: server.copy = server.disk
    case .restoreServer:
      guard var file = server.copy else { return false }
      mayDouble = true
      server.epochCount += 1
      file.epoch = server.epochCount
      server.older = []
      restartServer(file)
    case .loseStores(let count):
      guard count > 0, server.older.count >= count else { return false }
      mayDouble = true
      let file = server.older[server.older.count - count]
      server.older.removeLast(count)
      restartServer(file)
    default: return false
    }
    return true
  }

  private func isSlot(_ slot: Int) -> Bool { clients.indices.contains(slot) }

  private mutating func write(_ slot: Int, _ kind: Int) -> Bool {
    let id = slot * 1000 + clients[slot].writeCount
    clients[slot].writeCount += 1
    step(slot, .commit(operations(id, kind: kind, slot: slot)))
    return true
  }

  /// Operations on a new note, and on an object that others change, too.
  private func operations(_ id: Int, kind: Int, slot: Int) -> [SyncOperation] {
    let type = kind == 5 ? Self.refused : Self.note
    var operations: [SyncOperation] = [.create(SyncObject(type, .int(Int64(id))))]
    guard (1...4).contains(kind) else { return operations }
    operations.append(.create(Self.shared))
    let value = SyncValue.int(Int64(id))
    let list = SyncField(Self.shared, [], "list")
    switch kind {
    case 1: operations.append(.change(SyncField(Self.shared, [], "n"), .set(value)))
    case 2: operations.append(.change(list, .listInsert(at: 0, [value])))
    case 3: operations.append(.change(SyncField(Self.shared, [], "set"), .setInsert(value)))
    default:
      let count = clients[slot].machine.file.visible.objects[Self.shared]?["list"].list.count ?? 0
      operations.append(
        .change(list, count > 0 ? .listErase(at: count - 1, count: 1) : .listAssign([value])))
    }
    return operations
  }

  private mutating func connect(_ slot: Int) -> Bool {
    guard clients[slot].connection == 0 else { return false }
    clients[slot].connectionCount += 1
    let connection = UInt64(slot + 1) * 10_000 + clients[slot].connectionCount * 4
    clients[slot].connection = connection
    stepServer(.opened(session: connection, random: connection))
    step(slot, .connected)
    return true
  }

  /// Closes a connection at the client; the server notices it, too.
  mutating func hangUp(_ slot: Int) {
    let connection = clients[slot].connection
    clients[slot].connection = 0
    packets.removeAll { $0.connection == connection }
    step(slot, .closed)
    stepServer(.closed(session: connection))
  }

  private mutating func deliver(_ index: Int) -> Bool {
    let packet = packets.remove(at: index)
    deliveredCount += 1
    guard clients[packet.slot].connection == packet.connection else { return true }
    if packet.isUp {
      stepServer(.message(session: packet.connection, packet.message))
    } else {
      step(packet.slot, .message(packet.message))
    }
    return true
  }

  mutating func endStore(_ slot: Int) -> Bool {
    guard let file = clients[slot].storing else { return false }
    let pending = clients[slot].disk.pending
    clients[slot].storing = nil
    clients[slot].disk = file
    step(slot, .stored, pending: pending)
    return true
  }

  mutating func endServerStore() -> Bool {
    guard let file = server.storing else { return false }
    server.storing = nil
    server.older.append(server.disk)
    if server.older.count > 4 { server.older.removeFirst() }
    server.disk = file
    stepServer(.stored)
    return true
  }

  /// Restarts a client with a file.
  private mutating func restart(_ slot: Int, _ copy: ClientNode.Copy) {
    if clients[slot].connection != 0 { hangUp(slot) }
    let file = copy.file
    clients[slot].promised = copy.promised
    clients[slot].storing = nil
    clients[slot].disk = file
    clients[slot].machine = ClientMachine(file)
    clients[slot].epoch = file.epoch
    clients[slot].confirmed = file.log.head.number
    judge(slot)
  }

  private mutating func restartServer(_ file: ServerFile) {
    server.storing = nil
    server.disk = file
    server.machine = ServerMachine(file, refusing: [Self.refused])
    packets = []
    for slot in clients.indices where clients[slot].connection != 0 {
      clients[slot].connection = 0
      step(slot, .closed)
    }
  }
}
