// LabWorld+Steps.swift: does what a scenario's steps say.

import Engine
import LabCore
import ObjectDatabase
import Recording
import SyncCore
import SyncServer
import Workload

extension LabWorld {
  /// Does a step; the parser has checked its names.
  /// - Throws: `usage` when a run that nothing disturbs has no message for a step about messages,
  ///   which would test nothing.
  func perform(_ step: Workload.SyncStep) throws {
    if case .expect = step.action, wasDisturbed { return }
    if disturbance == nil, !step.mayBeIdle { try requireMessages(for: step) }
    for _ in 0..<step.times { try perform(step.action) }
  }

  private func requireMessages(for step: Workload.SyncStep) throws(LabError) {
    let place: (name: String, direction: SyncDirection)
    var least = 1
    switch step.action {
    case .deliver(let name, let direction), .drop(let name, let direction),
      .duplicate(let name, let direction):
      place = (name, direction)
    case .delay(let name, let direction):
      place = (name, direction)
      least = 2
    default: return
    }
    guard let client = client(place.name) else { return }
    let waiting = place.direction == .up ? client.toServer : client.toClient
    guard waiting.count < least else { return }
    let way = place.direction == .up ? "from \(place.name)" : "to \(place.name)"
    throw .usage(
      "\(step.position): "
        + (least == 1
          ? "no message \(way) is on its way; "
            + "nodes are connected by 'settle', or by 'connect' and what they then say"
          : "there are not two messages \(way) on their way, so none can overtake another"))
  }

  private func perform(_ action: SyncAction) throws {
    switch action {
    case .write(let name, let edits): try each(name) { try write($0, edits) }
    case .settle: try settle(isWhole: clients.allSatisfy(\.isReachable))
    case .trim: try serve(.trim)
    case .connect(let name): try each(name) { try connect($0) }
    case .disconnect(let name): try each(name) { try disconnect($0, tellsServer: true) }
    case .deliver(let name, let direction): try each(name) { try deliver($0, direction) }
    case .drop(let name, let direction):
      try each(name) { client in
        let waiting = direction == .up ? client.toServer : client.toClient
        if let first = waiting.first { chartLoss(of: first, client, direction) }
      }
      try queue(name, direction) { if !$0.isEmpty { $0.removeFirst() } }
    case .duplicate(let name, let direction):
      try queue(name, direction) { if let first = $0.first { $0.insert(first, at: 0) } }
    case .delay(let name, let direction):
      try queue(name, direction) { if !$0.isEmpty { $0.append($0.removeFirst()) } }
    case .cut(let name, let direction):
      try each(name) { $0.cuts.formUnion(direction.map { [$0] } ?? SyncDirection.allCases) }
    case .heal(let name): try each(name) { $0.cuts = [] }
    case .crash(let name):
      try restart(name)
      try judge(LabInvariants.afterCrash)
    case .clock(let name, let seconds):
      if let client = client(name) {
        client.clockOffset = seconds
      } else {
        server.clockOffset = seconds
      }
    case .copy(let name): try copy(name)
    case .restore(let name): try restore(name)
    case .clone(let source, let target): try clone(source, target)
    case .expect(let name, let dog, let wanted): try expect(name, dog, wanted)
    }
  }

  private func each(_ name: String, _ body: (LabClient) throws -> Void) throws {
    if let client = client(name) { try body(client) }
  }

  private func queue(
    _ name: String, _ direction: SyncDirection, _ change: (inout [[UInt8]]) -> Void
  ) throws {
    try each(name) { client in
      switch direction {
      case .up: change(&client.toServer)
      case .down: change(&client.toClient)
      }
    }
  }

  // MARK: files

  private func copy(_ name: String) throws {
    guard let client = client(name) else {
      server.copy = server.disk.fileSystem.image
      return
    }
    client.copy = (client.disk.fileSystem.image, client.own)
  }

  private func restore(_ name: String) throws {
    guard let client = client(name) else { return try restoreServer() }
    guard let (image, own) = client.copy else { return }
    if declared.plant != .silentRestore { try goBack(client, to: own) }
    try restart(name, with: image)
  }

  /// A client will have the content of another file.
  private func goBack(_ client: LabClient, to own: Set<Int>) throws {
    hasCopies = true
    let kept = try server.store?.state() ?? SyncState()
    for transaction in client.own.subtracting(own) where !kept.has(transaction) {
      mayBeLost.insert(transaction)
    }
    client.own = own
    client.seen = nil
  }

  private func restoreServer() throws {
    guard let image = server.copy else { return }
    // What is pending somewhere comes again; all else may be gone with the server. So may a pending
    // transaction whose copy has arrived: who knows that its objects are there, and then that they
    // are not, is told that their creation is overruled.
    let kept = try server.store?.state() ?? SyncState()
    func hasArrivedAsCopy(_ transaction: Int) -> Bool {
      kept.has(transaction) && clients.count { $0.own.contains(transaction) } > 1
    }
    var pending: Set<Int> = []
    for client in clients {
      for changeset in try client.pending() { pending.formUnion(changeset.transactions) }
    }
    for client in clients {
      mayBeLost.formUnion(
        client.promised.filter { !pending.contains($0) || hasArrivedAsCopy($0) })
    }
    server.epoch += 1
    hasCopies = true
    sentEntries = [:]
    confirmedSequences = [:]
    server.seen = .zero
    guard declared.plant != .keepEpoch else { return try restart(server.name, with: image) }
    // A life begins with the backup, which is durable; the restore is what it records first.
    server.isRestoring = true
    try restart(server.name, with: try Self.backup(of: image))
  }

  /// A copy of a server's file that says that it is one.
  private static func backup(of image: TreeImage) throws -> TreeImage {
    let disk = try LabDisk("backup")
    try disk.restart(with: image)
    let file = try RealmFile(disk.configuration())
    try SyncServerStore.markBackup(file.database)
    return disk.fileSystem.image
  }

  private func clone(_ source: String, _ target: String) throws {
    guard let from = client(source), let to = client(target) else { return }
    try goBack(to, to: from.own)
    try restart(target, with: from.disk.fileSystem.image)
  }

  // MARK: writes

  private func write(_ client: LabClient, _ edits: [SyncEdit]) throws {
    guard let realm = client.open?.realm, !client.disk.hasNoPower else { return }
    client.clock.set(client.clock.read() + 1)
    let transaction = client.number * 1_000 + client.writeCount
    client.writeCount += 1
    let notes = Note.pair(of: transaction)
    realm.beginWrite()
    realm.create(Note.self, value: ["id": notes[0]])
    if declared.plant == .splitWrites {
      try realm.commitWrite()
      realm.beginWrite()
    }
    realm.create(Note.self, value: ["id": notes[1], "isSecond": true])
    for edit in edits { realm.make(edit) }
    try realm.commitWrite()
    guard !client.disk.hasNoPower else { return }
    client.promised.insert(transaction)
    client.own.insert(transaction)
    client.disk.mark("committed \(transaction)")
    chart(client.name, "commits \(transaction)")
    switch declared.plant {
    case .hideWrites: try client.hideNote(notes[0])
    case .doubledEntry:
      try realm.write { realm.delete(realm.objects(Note.self).filter { $0.id == notes[0] }) }
      try realm.write { realm.create(Note.self, value: ["id": notes[0]]) }
    default: break
    }
    try step(client, nil)
  }

  // MARK: expectations

  private func expect(_ name: String, _ id: Int64, _ wanted: [DogProperty]) throws {
    let state = try client(name)?.state() ?? server.store?.state() ?? SyncState()
    let dog = state.objects[SyncObject("Dog", .int(id))]
    for property in wanted {
      guard let dog else {
        if property == .gone { continue }
        throw LabBreach(.expected, "\(name) has no dog \(id)")
      }
      let found = property.found(in: dog)
      guard found == property else {
        throw LabBreach(.expected, "dog \(id) of \(name) has \(found), not \(property)")
      }
    }
  }
}

extension DogProperty {
  /// The property as a node has it.
  fileprivate func found(in dog: SyncNode) -> DogProperty {
    func number(_ value: SyncValue?) -> Int64 {
      if case .int(let number)? = value { number } else { 0 }
    }
    func text(_ value: SyncValue?) -> String {
      if case .text(let text)? = value { "\(text)" } else { "" }
    }
    switch self {
    case .age: return .age(number(dog["age"].value?.value))
    case .name: return .name(text(dog["name"].value?.value))
    case .toys: return .toys(dog["toys"].list.map { text($0.value) })
    case .friends:
      return .friends(
        dog["friends"].list.map { slot in
          if case .link(let object) = slot.value { object.number } else { 0 }
        })
    case .tags: return .tags(dog["tags"].set.map { text($0) }.sorted())
    case .gone: return .age(number(dog["age"].value?.value))
    }
  }
}

extension SyncObject {
  fileprivate var number: Int64 {
    if case .int(let number) = key { number } else { 0 }
  }
}

extension Realm {
  /// Makes a change inside of a write transaction; none where its dog is gone.
  fileprivate func make(_ edit: SyncEdit) {
    func dog(_ id: Int64) -> Dog? { object(ofType: Dog.self, forPrimaryKey: Int(id)) }
    switch edit {
    case .create(let id, let properties):
      let made = dog(id) ?? create(Dog.self, value: ["id": Int(id)])
      for property in properties { made.take(property, self) }
    case .set(let id, let properties):
      for property in properties { dog(id)?.take(property, self) }
    case .delete(let id): if let gone = dog(id) { delete(gone) }
    case .increment(let id, let amount): dog(id)?.increment(\.age, by: Int(amount))
    case .insert(let id, let toy, let place):
      guard let toys = dog(id)?.toys else { return }
      toys.insert(toy, at: min(place.map { Int($0) } ?? toys.count, toys.count))
    case .erase(let id, let place):
      guard let toys = dog(id)?.toys, Int(place) < toys.count else { return }
      toys.remove(at: Int(place))
    case .move(let id, let from, let to):
      guard let toys = dog(id)?.toys, max(Int(from), Int(to)) < toys.count else { return }
      toys.move(from: Int(from), to: Int(to))
    case .link(let id, let other):
      if let friend = dog(other) { dog(id)?.friends.append(friend) }
    case .tag(let id, let tag): dog(id)?.tags.insert(tag)
    case .untag(let id, let tag): dog(id)?.tags.remove(tag)
    case .count(let id, let key, let value): dog(id)?.counts[key] = value.map { Int($0) }
    }
  }
}

extension Dog {
  fileprivate func take(_ property: DogProperty, _ realm: Realm) {
    switch property {
    case .age(let new): age = Int(new)
    case .name(let new): name = new
    case .toys(let new):
      toys.removeAll()
      for toy in new { toys.append(toy) }
    case .friends, .tags, .gone: break
    }
  }
}

extension SyncState {
  /// Whether both notes of a transaction are there.
  func has(_ transaction: Int) -> Bool {
    Note.pair(of: transaction).allSatisfy {
      objects[SyncObject("Note", .int(Int64($0)))] != nil
    }
  }
}

extension SyncChangeset {
  /// The transactions whose first notes it makes.
  var transactions: [Int] {
    operations.compactMap { operation in
      guard case .create(let object) = operation, object.type == "Note",
        case .int(let id) = object.key, id.isMultiple(of: 2)
      else { return nil }
      return Int(id / 2)
    }
  }
}
