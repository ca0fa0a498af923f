// SyncAgent.swift: drives a client's machine on its file: what comes from the server goes into the
// rows, in one transaction with what is kept beside them, and nothing is sent or told before that
// is durable. Realms of any process see the result as one more version.
// Invariants: one agent of a file at a time; between two calls the file is the truth, as writers in
// any process add changesets to it.

import Engine
import ObjectDatabase
import SyncCore

/// Synchronizes one file.
package final class SyncAgent {
  private let file: RealmFile
  private let now: SyncedFile.Clock
  private let lock: AgentLock?
  private var machine: ClientMachine
  /// What ended the agent: its machine is ahead of the file since.
  private var failure: EngineError?

  /// Makes the agent of a file that is synchronized.
  /// - Parameters:
  ///   - configuration: How the file is opened.
  ///   - now: The wall clock in milliseconds since 1970.
  /// - Throws: `Realm.Error`, or `EngineError`, with code `.locked` while the file has an agent.
  package init(_ configuration: Realm.Configuration, now: @escaping SyncedFile.Clock) throws {
    file = try RealmFile(configuration)
    self.now = now
    lock = try file.path.map { path throws(EngineError) in try AgentLock(of: path) }
    let write = try file.database.beginWrite()
    defer { write.cancel() }
    machine = ClientMachine(try StoredClient(write, for: nil).file)
  }

  /// Takes an input.
  /// - Parameter input: What happened, no commits and stores: those are seen in the file; nil for
  ///   transactions that somebody committed.
  /// - Returns: What is to be sent, told to the app, or closed; all that it rests on is durable.
  /// - Throws: `EngineError`; the agent is of no use then, and another one goes on with the file.
  ///
  /// Durability: when the call returns, what came in survives any crash.
  package func step(_ input: ClientInput?) throws(EngineError) -> [ClientOutput] {
    if let failure { throw failure }
    do throws(EngineError) { return try take(input) } catch {
      failure = error
      throw error
    }
  }

  private func take(_ input: ClientInput?) throws(EngineError) -> [ClientOutput] {
    let write = try file.database.beginWrite()
    defer { write.cancel() }
    var message: SyncMessage?
    if case .message(let received)? = input { message = received }
    let stored = try StoredClient(write, for: message)
    let outputs = machine.step(input, on: stored.file, at: now())
    guard case .store(let new)? = outputs.first else { return outputs }
    try stored.store(new)
    try write.commit()
    return machine.step(.stored, at: now())
  }
}

extension SyncAgent {
  /// What is wrong with the file, in words; nil for nothing.
  ///
  /// For tests and the lab.
  /// Of all objects that entries that are kept and pending changesets are about, or link to, the
  /// rows have what the app is to see (I8).
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
