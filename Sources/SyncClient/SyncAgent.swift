// SyncAgent.swift: drives a client's machine on its file: input from the server is applied to the
// rows, in one transaction with the data kept beside them, and nothing is sent or reported before
// that is durable. Realms of any process see the result as one more version. Invariants: one agent
// per file at a time; between two calls the file is authoritative, since writers in any process add
// changesets to it.

import Engine
import ObjectDatabase
import SyncCore

/// Synchronizes one file.
package final class SyncAgent {
  private let file: RealmFile
  private let now: SyncedFile.Clock
  private let lock: AgentLock?
  private var machine: ClientMachine
  /// The error that ended the agent: its machine is ahead of the file since then.
  private var failure: EngineError?
  /// The version that the last step read or made: while it is the newest, nobody has added a
  /// changeset.
  private var known: Version?

  /// Makes the agent of a file that is synchronized.
  /// - Parameters:
  ///   - configuration: How the file is opened.
  ///   - now: The wall clock in milliseconds since 1970.
  /// - Throws: `Realm.Error`, or `EngineError`, with code `.locked` while the file has an agent.
  package init(_ configuration: Realm.Configuration, now: @escaping SyncedFile.Clock) throws {
    file = try RealmFile(configuration)
    self.now = now
    // A file of the lab's storage has no path under which another process could find it.
    let path = configuration.engineOpener == nil ? file.path : nil
    lock = try path.map { path throws(EngineError) in try AgentLock(of: path) }
    let write = try file.database.beginWrite()
    defer { write.cancel() }
    machine = ClientMachine(try StoredClient(write, for: nil).file)
  }

  /// Takes an input.
  /// - Parameter input: The event, except commits and stores, which are read from the file; nil
  ///   after a transaction was committed.
  /// - Returns: What to send, to report to the app, or to close; everything it depends on is
  ///   durable.
  /// - Throws: `EngineError`; the agent is unusable then, and a new one continues with the file.
  /// - Complexity: O(1) for nil when nothing was committed; else O(bytes kept beside the rows).
  ///
  /// Durability: when the call returns, the input survives any crash.
  package func step(_ input: ClientInput?) throws(EngineError) -> [ClientOutput] {
    if let failure { throw failure }
    do throws(EngineError) { return try take(input) } catch {
      failure = error
      throw error
    }
  }

  private func take(_ input: ClientInput?) throws(EngineError) -> [ClientOutput] {
    // Asked before the transaction begins: a version that comes between is read again next time.
    let newest = file.database.version
    if input == nil, known == newest { return [] }
    let write = try file.database.beginWrite()
    defer { write.cancel() }
    var message: SyncMessage?
    if case .message(let received)? = input { message = received }
    let stored = try StoredClient(write, for: message)
    let outputs = machine.step(input, on: stored.file, at: now())
    guard case .store(let new)? = outputs.first else {
      known = newest
      return outputs
    }
    try stored.store(new)
    known = try write.commit()
    return machine.step(.stored, at: now())
  }
}

extension SyncAgent {
  /// Where the file is: for tests and the lab.
  package func progress() throws(EngineError) -> (
    client: SyncClient, epoch: UInt64, confirmed: SyncVersion
  ) {
    let identity = try SyncIdentity(try file.database.snapshot())
    return (identity.client, identity.epoch, identity.confirmed)
  }

  /// A description of an error in the file; nil when there is none.
  ///
  /// For tests and the lab. The rows of all objects that kept entries and pending changesets refer
  /// or link to have the state that the app should see (I8).
  package func breach() throws(EngineError) -> String? {
    let write = try file.database.beginWrite()
    defer { write.cancel() }
    let stored = try StoredClient(write, for: nil)
    let visible = stored.file.visible
    for object in stored.named.sorted() {
      let row = try stored.reader.row(of: object)
      let node = try row.flatMap { row throws(EngineError) in
        try stored.reader.node(of: object, row.key, row.described)
      }
      guard node != visible.objects[object] else { continue }
      guard let node, let wanted = visible.objects[object] else {
        return "\(object.type) \(object.key) is \(node == nil ? "not " : "")there"
      }
      let names = Set(node.fields.keys).union(wanted.fields.keys).sorted()
      guard let name = names.first(where: { node[$0] != wanted[$0] }) else { continue }
      return "\(name) of \(object.type) \(object.key) is \(node[name]), and is to be "
        + "\(wanted[name])"
    }
    return nil
  }
}
