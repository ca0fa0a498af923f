// LabWorld.swift: a server and clients on the lab's disks, and the messages between them.
// Invariants: everything follows from the declaration and the disturbance; what a node says is on
// its way only after its call has returned with power on; a mark follows each call, so that the
// crash states before and after it are different ones.

import Engine
import FaultFS
import LabCore
import ObjectDatabase
import Recording
import SyncClient
import SyncCore
import SyncServer
import Workload

/// A server and its clients.
package final class LabWorld {
  let declared: SyncDeclaration
  let server: LabServer
  private(set) var clients: [LabClient] = []
  let disturbance: LabDisturbance?
  /// Whether the cut, or the fault, has happened.
  package private(set) var wasDisturbed = false
  private var time: UInt64 = 1_000_000
  private var lastSession: UInt64 = 0
  /// Entries by version that the server has said, in this epoch.
  var sentEntries: [SyncVersion: SyncEntry] = [:]
  /// The last changesets that it has acknowledged.
  var confirmedSequences: [SyncClient: UInt64] = [:]
  /// Transactions that a restored server may have lost.
  var mayBeLost: Set<Int> = []
  /// Whether files were copied, so that one transaction may come twice.
  var hasCopies = false
  var entryMessages = 0
  /// All messages, when they arrive or are lost, and what happens at nodes; at most 2,000.
  package private(set) var messages: [LabMessage] = []
  package internal(set) var breaches: [LabBreach] = []

  /// Makes the world, with its files.
  /// - Throws: `LabBreach` or an error of the lab when that fails.
  package init(_ declared: SyncDeclaration, _ disturbance: LabDisturbance? = nil) throws {
    self.declared = declared
    self.disturbance = disturbance
    server = try LabServer(declared.server)
    server.sendsWhole = declared.plant == .wholeLogs
    try server.create()
    try server.start()
    for (number, name) in declared.clients.enumerated() {
      let client = try LabClient(name, number)
      client.clock.set(time)
      try client.start()
      clients.append(client)
    }
  }

  func client(_ name: String) -> LabClient? { clients.first { $0.name == name } }

  private var disks: [LabDisk] { [server.disk] + clients.map(\.disk) }

  // MARK: a run

  /// Does the steps, comes to rest, and is judged.
  /// - Throws: `LabError` for what is no verdict.
  package func run() throws(LabError) {
    do {
      for step in declared.before { try perform(step) }
      try begin()
      try steps()
      try rest()
    } catch let breach as LabBreach {
      breaches.append(breach)
    } catch let error as LabError {
      throw error
    } catch {
      breaches.append(LabBreach(.total, "\(error)"))
    }
  }

  private func begin() throws {
    // Files begin as they are after a clean end, so that all of them is durable.
    for client in clients {
      hangUp(client)
      client.stop()
    }
    server.stop()
    for disk in disks {
      try disk.restart(with: disk.fileSystem.image)
      let ignored = FaultRule(when: .init([.sync]), what: .ignoreSync)
      try disk.record(disturbance, rules: ignoresSyncs(disk) ? [ignored] : [])
    }
    try surviving { try server.start() }
    // One whose power fails at once is back already.
    for client in clients where client.open == nil { try surviving { try client.start() } }
    for disk in disks { disk.mark("begin") }
    try recoverIfCut()
  }

  /// Does something during which power may fail.
  private func surviving(_ body: () throws -> Void) throws {
    do { try body() } catch { try recover(from: error) }
    try recoverIfCut()
  }

  private func ignoresSyncs(_ disk: LabDisk) -> Bool {
    declared.plant == (disk === server.disk ? .serverSyncs : .clientSyncs)
  }

  private var goesOn: Bool { if case .accidents? = disturbance { true } else { false } }

  /// Does the steps until they end, or the one disturbance that there is.
  private func steps() throws {
    for step in declared.steps where !wasDisturbed || goesOn {
      try surviving { try perform(step) }
      try judge(LabInvariants.always)
    }
  }

  /// Ends the faults, and judges what is left.
  private func rest() throws {
    for client in clients { client.cuts = [] }
    repeat {
      wasDisturbedAnew = false
      try surviving { try settle(isWhole: true) }
    } while wasDisturbedAnew
    try judge(LabInvariants.always)
    endRecording()
    plantRows()
    for invariant in LabInvariants.atRest { note(invariant) }
  }

  private var wasDisturbedAnew = false

  private func note(_ invariant: LabInvariant) {
    do {
      if let text = try invariant.judge(self) {
        breaches.append(LabBreach(invariant.promise, text))
      }
    } catch { breaches.append(LabBreach(invariant.promise, "\(error)")) }
  }

  func judge(_ invariants: [LabInvariant]) throws {
    for invariant in invariants {
      if let text = try invariant.judge(self) { throw LabBreach(invariant.promise, text) }
    }
  }

  /// Ends all recordings: what the judge does at rest is no part of the run.
  private func endRecording() {
    for disk in disks { disk.finish() }
  }

  /// The recordings, life by life; none of a run that never came to rest.
  package var recordings: [(node: String, lives: [Trace])] { disks.map { ($0.node, $0.lives) } }

  // MARK: power

  /// Takes an error that the disturbance explains; throws any other.
  private func recover(from error: any Error) throws {
    let hasNoPower = disks.contains(where: \.hasNoPower)
    let faulty = disks.filter { $0.wasFaulty && !$0.hasNoPower }
    guard hasNoPower || !faulty.isEmpty && !(error is LabBreach) else { throw error }
    // Whose error it was is unknown when power has failed, too.
    for disk in faulty {
      noteDisturbance()
      try surviving { try restart(disk.node) }
    }
  }

  /// Restarts the nodes whose power has failed.
  ///
  /// That of another node may fail meanwhile, and its own again; there are only so many
  /// disturbances, so this ends.
  private func recoverIfCut() throws {
    while let disk = disks.first(where: \.hasNoPower), let place = disk.place {
      noteDisturbance()
      do {
        try restart(disk.node) { (trace) throws(LabError) in
          switch self.disturbance {
          case .cut(_, let image): image
          case .accidents(_, let rest): try rest(place, trace)
          default: TreeImage()
          }
        }
      } catch { try recover(from: error) }
      guard !disks.contains(where: \.hasNoPower) else { continue }
      try judge(LabInvariants.afterCrash)
    }
  }

  private func noteDisturbance() {
    wasDisturbed = true
    wasDisturbedAnew = true
  }

  /// A node's process ends, and another one continues.
  /// - Parameters:
  ///   - node: Its name.
  ///   - rest: What is left of its files, after its recording; nil for what was written.
  /// - Throws: What stopping or starting a node throws.
  func restart(
    _ node: String, leaving rest: ((Trace) throws(LabError) -> TreeImage)? = nil
  ) throws {
    if let client = client(node) {
      let session = hangUp(client)
      if declared.plant == .lostIdentity { try client.loseIdentity() }
      client.stop()
      try client.disk.restart(leaving: rest)
      try client.start()
      if let session { try serve(.closed(session: session)) }
    } else {
      for client in clients { try disconnect(client, tellsServer: false) }
      server.stop()
      try server.disk.restart(leaving: rest)
      try restoreIfBegun()
      try server.start()
    }
    mark(node, "\(node) is back")
    chart(node, rest == nil ? "begins again" : "begins again with what is left of its files")
  }

  /// A node's process ends, and another one continues with other files.
  func restart(_ node: String, with image: TreeImage) throws {
    try restart(node) { (_) throws(LabError) in image }
  }

  /// Restores the server's file, if that has begun and not ended.
  ///
  /// Who restores a file after a power failure finds a backup, and does it again, or finds a file
  /// that can be served, and lets it be served. Once a restore has ended there is no backup.
  private func restoreIfBegun() throws {
    guard server.isRestoring else { return }
    try server.restore(planting: declared.plant)
    guard isOn(server.disk) else { return }
    server.isRestoring = false
    mark(server.name, "\(server.name) is restored")
    chart(server.name, "is restored")
  }

  /// Whether a fault has hit, in its life.
  package func hasHit(_ fault: LabAccident) -> Bool {
    disks.contains { $0.node == fault.place.node && $0.faultyLives.contains(fault.place.life) }
  }

  /// Transactions that apps were told are durable.
  package var commitCount: Int { clients.reduce(0) { $0 + $1.promised.count } }

  private func mark(_ node: String, _ text: String) {
    disks.first { $0.node == node }?.mark(text)
  }

  // MARK: calls

  private func tick(_ offset: Int64) -> UInt64 {
    time += 1
    return UInt64(max(1, Int64(time) + offset * 1_000))
  }

  private func isOn(_ disk: LabDisk) -> Bool { !disk.hasNoPower }

  /// The server takes an input.
  func serve(_ input: ServerInput) throws {
    guard let store = server.store, isOn(server.disk) else { return }
    let replies = try store.step([input], at: tick(server.clockOffset))
    guard isOn(server.disk) else { return }
    for reply in replies {
      switch reply {
      case .send(let session, let message): send(message, session)
      case .bootstrap(let session, let bootstrap, let index):
        for entry in bootstrap.entries { sentEntries[entry.version] = entry }
        for message in try bootstrap.messages(from: index) { send(message, session) }
      case .close(let session):
        if let client = clients.first(where: { $0.session == session }) {
          try disconnect(client, tellsServer: true)
        }
      }
    }
    server.disk.mark("server replied")
  }

  private func send(_ message: SyncMessage, _ session: UInt64) {
    note(message)
    guard let client = clients.first(where: { $0.session == session }) else { return }
    guard !client.cuts.contains(.down) else {
      return chart(from: server.name, to: client.name, message.title, isLost: true)
    }
    client.toClient.append(message.encoded())
  }

  /// Judges a message by what its client will store in one transaction (I26).
  private func judge(_ message: SyncMessage) {
    let bytes: Int
    switch message {
    case .entries(let entries) where entries.count > 1:
      bytes = entries.reduce(0) { $0 + $1.encoded().count }
    case .part(let part): bytes = part.bytes.count
    case .welcome(let welcome): bytes = welcome.log?.encodedLog().count ?? 0
    default: return
    }
    guard bytes > LabServer.messageBytesMax, !breaches.contains(where: { $0.promise == .bounded })
    else { return }
    breaches.append(
      LabBreach(.bounded, "'\(message.title)' has \(bytes) bytes to store in one transaction"))
  }

  private func note(_ message: SyncMessage) {
    judge(message)
    switch message {
    case .entries(let entries):
      entryMessages += 1
      for entry in entries {
        sentEntries[entry.version] = entry
        let author = entry.changeset.client
        confirmedSequences[author] = max(confirmedSequences[author] ?? 0, entry.changeset.sequence)
      }
    case .welcome(let welcome):
      for entry in welcome.log?.entries ?? [] { sentEntries[entry.version] = entry }
    default: return
    }
  }

  private func chart(
    from: String, to: String, _ text: String, isLost: Bool = false
  ) {
    guard messages.count < 2_000 else { return }
    messages.append(LabMessage(from: from, to: to, text: text, isLost: isLost))
  }

  /// Notes what happened at a node.
  func chart(_ node: String, _ text: String) { chart(from: node, to: node, text) }

  /// Notes a message that was on its way and never arrives.
  func chartLoss(of message: [UInt8], _ client: LabClient, _ direction: SyncDirection) {
    guard let message = try? SyncMessage(decoding: message, isUp: direction == .up) else { return }
    let ends = direction == .up ? (client.name, server.name) : (server.name, client.name)
    chart(from: ends.0, to: ends.1, message.title, isLost: true)
  }

  /// A client's agent acts: on an input, or on what was committed.
  func step(_ client: LabClient, _ input: ClientInput?) throws {
    guard let open = client.open, isOn(client.disk) else { return }
    client.clock.set(tick(client.clockOffset))
    if case .tick? = input, declared.plant == .noTicks { return }
    let before = try client.version()
    let outputs = try open.agent.step(input)
    guard isOn(client.disk) else { return }
    if case .tick? = input, declared.plant == .chatter { try client.chatter() }
    guard try client.version() <= before + 1 || declared.plant == .chatter else {
      throw LabBreach(.atomic, "\(client.name) applied one message in several transactions")
    }
    for output in outputs {
      switch output {
      case .send(let message):
        if client.cuts.contains(.up) {
          chart(from: client.name, to: server.name, message.title, isLost: true)
        } else {
          client.toServer.append(message.encoded())
        }
        if case .upload = message, declared.plant == .forgetPending { try client.forgetPending() }
      case .tell: continue
      case .close: try disconnect(client, tellsServer: true)
      case .store: throw LabBreach(.total, "an agent asked to store")
      }
    }
    client.disk.mark("agent acted")
  }

  // MARK: connections

  func connect(_ client: LabClient) throws {
    try disconnect(client, tellsServer: true)
    lastSession += 1
    client.session = lastSession
    try serve(.opened(session: lastSession, random: lastSession * 7 + 1))
    try step(client, .connected)
  }

  func disconnect(_ client: LabClient, tellsServer: Bool) throws {
    guard let session = hangUp(client) else { return }
    if tellsServer { try serve(.closed(session: session)) }
    try step(client, .closed)
  }

  /// Ends a connection; nobody is told.
  @discardableResult
  func hangUp(_ client: LabClient) -> UInt64? {
    for message in client.toServer { chartLoss(of: message, client, .up) }
    for message in client.toClient { chartLoss(of: message, client, .down) }
    defer {
      client.session = nil
      client.toServer = []
      client.toClient = []
    }
    return client.session
  }

  /// Delivers the next message of a client in one direction.
  /// - Returns: Whether there was one.
  @discardableResult
  func deliver(_ client: LabClient, _ direction: SyncDirection) throws -> Bool {
    guard let session = client.session else { return false }
    switch direction {
    case .up:
      guard !client.toServer.isEmpty else { return false }
      let message = try SyncMessage(decoding: client.toServer.removeFirst(), isUp: true)
      chart(from: client.name, to: server.name, message.title)
      try serve(.message(session: session, message))
    case .down:
      guard !client.toClient.isEmpty else { return false }
      let message = try SyncMessage(decoding: client.toClient.removeFirst(), isUp: false)
      chart(from: server.name, to: client.name, message.title)
      try step(client, .message(message))
    }
    return true
  }

  /// The most rounds until a world is at rest.
  static let roundsMax = 300

  /// Connects everybody, and delivers until nothing is left to say.
  /// - Parameter isWhole: Whether all nodes have to come to rest.
  /// - Throws: `LabBreach` when they do not; what a node throws.
  func settle(isWhole: Bool) throws {
    var waits = 0
    for _ in 0..<Self.roundsMax {
      var isBusy = false
      for client in clients {
        if client.session == nil { try connect(client) }
        try step(client, nil)
        isBusy = try deliver(client, .up) || isBusy
        isBusy = try deliver(client, .down) || isBusy
      }
      if disks.contains(where: \.hasNoPower) { return }
      if isBusy { continue }
      if try isAtRest() { return }
      guard waits < 4 else { break }
      waits += 1
      for client in clients { try step(client, .tick) }
    }
    guard isWhole else { return }
    throw LabBreach(
      .live, "after \(Self.roundsMax) rounds or 4 waits, what is missing is not asked for")
  }

  /// Whether every client is welcome, has the server's version, and nothing pending.
  private func isAtRest() throws -> Bool {
    for client in clients {
      guard client.open?.agent.isLive == true, try client.pending().isEmpty,
        try client.open?.agent.progress().confirmed == server.store?.head
      else { return false }
    }
    return true
  }
}

extension SyncMessage {
  /// Its kind, with what it is about.
  fileprivate var title: String {
    switch self {
    case .hello(let hello): "hello: has \(hello.confirmed.number)"
    case .upload(let changeset): "upload \(changeset.sequence)"
    case .progress(let confirmed, _, let asks):
      "progress: has \(confirmed.number)" + (asks ? ", asks" : "")
    case .welcome(let welcome):
      "welcome \(welcome.client.number)" + (welcome.offered == nil ? "" : ", offers a log")
    case .entries(let entries):
      "entries \(entries.map { "\($0.version.number)" }.joined(separator: ", "))"
    case .received(let sequence): "received \(sequence)"
    case .wants(_, let index): "wants parts from \(index)"
    case .part(let part): "part \(part.index)" + (part.isLast ? ", the last" : "")
    }
  }
}
