// SyncDeclaration.swift: what a scenario does with a synchronized realm, in place of tables and
// rows. Invariant (ensured by the parser): there is one server, and steps name declared nodes.

import LabCore

/// A realm's server and clients, and the steps.
package struct SyncDeclaration: Sendable, Hashable {
  /// The server's name.
  package var server = ""
  /// The clients' names, in the order of the file.
  package var clients: [String] = []
  /// Steps that are durable before the run.
  package var before: [SyncStep] = []
  /// The steps of the run.
  package var steps: [SyncStep] = []
  /// A planted bug.
  package var plant: SyncPlant?
  /// The invariant that the planted bug breaks.
  package var breaks: SyncPromise?

  package init() {}

  /// The nodes, the server first.
  package var nodes: [String] { [server] + clients }

  /// Forgets positions in the scenario's file.
  mutating func dropPlaces() {
    let none = SourcePosition(line: 1, column: 1)
    for index in before.indices { before[index].position = none }
    for index in steps.indices { steps[index].position = none }
  }
}

/// One step.
package struct SyncStep: Sendable, Hashable {
  /// Its position in the file.
  package var position: SourcePosition
  /// The action.
  package var action: SyncAction
  /// How many messages it is about, at most.
  package var times = 1
  /// Whether there may be none.
  package var mayBeIdle = false

  package init(position: SourcePosition, action: SyncAction) {
    self.position = position
    self.action = action
  }
}

/// A direction of messages.
package enum SyncDirection: String, Sendable, Hashable, CaseIterable {
  /// From a client to the server.
  case up
  /// From the server to a client.
  case down
}

/// The action of a step.
package enum SyncAction: Sendable, Hashable {
  /// A client's app commits one transaction.
  case write(String, [SyncEdit])
  /// Connects everybody, and delivers until nothing is left to say.
  case settle
  /// The server removes entries that nobody needs.
  case trim
  case connect(String)
  case disconnect(String)
  /// The next message of a client arrives.
  case deliver(String, SyncDirection)
  /// The next message is lost.
  case drop(String, SyncDirection)
  /// The next message arrives twice.
  case duplicate(String, SyncDirection)
  /// The next message is overtaken by all others.
  case delay(String, SyncDirection)
  /// Messages are lost from now on; nil is both directions.
  case cut(String, SyncDirection?)
  /// Messages are no longer lost.
  case heal(String)
  /// A node's process ends, and another one continues with the file.
  case crash(String)
  /// A node's clock is this many seconds ahead.
  case clock(String, seconds: Int64)
  /// A node's file is copied.
  case copy(String)
  /// A node continues with the copy; a server with another epoch.
  case restore(String)
  /// A client continues with a copy of another client's file.
  case clone(String, to: String)
  /// What a node must have now.
  case expect(String, dog: Int64, has: [DogProperty])
}

extension SyncAction {
  /// Its key in a scenario.
  package var verb: String {
    switch self {
    case .write: "write"
    case .settle: "settle"
    case .trim: "trim"
    case .connect: "connect"
    case .disconnect: "disconnect"
    case .deliver: "deliver"
    case .drop: "drop"
    case .duplicate: "duplicate"
    case .delay: "delay"
    case .cut: "cut"
    case .heal: "heal"
    case .crash: "crash"
    case .clock: "clock"
    case .copy: "copy"
    case .restore: "restore"
    case .clone: "clone"
    case .expect: "expect"
    }
  }
}

/// One change of a transaction, about the dog of a number.
package enum SyncEdit: Sendable, Hashable {
  case create(Int64, [DogProperty])
  case set(Int64, [DogProperty])
  case delete(Int64)
  /// Adds to the age.
  case increment(Int64, by: Int64)
  /// Inserts a toy; nil appends it.
  case insert(Int64, toy: String, at: Int64?)
  case erase(Int64, at: Int64)
  case move(Int64, from: Int64, to: Int64)
  /// Appends a friend.
  case link(Int64, to: Int64)
  case tag(Int64, String)
  case untag(Int64, String)
  /// Sets an entry of the dictionary; nil removes it.
  case count(Int64, key: String, value: Int64?)
}

/// A property with a value.
package enum DogProperty: Sendable, Hashable {
  case age(Int64)
  case name(String)
  case toys([String])
  /// The numbers of linked dogs.
  case friends([Int64])
  /// The members of the set, in any order.
  case tags([String])
  /// Whether the dog is gone.
  case gone
}

/// A bug that the lab plants.
package enum SyncPlant: String, Sendable, Hashable, CaseIterable {
  /// A client's row changes behind its recorder's back.
  case clientRow
  /// A server's row changes behind its log's back.
  case serverRow
  /// The server's disk ignores syncs.
  case serverSyncs
  /// The clients' disks ignore syncs.
  case clientSyncs
  /// A client forgets its pending changesets when it has sent one.
  case forgetPending
  /// A client's rows lose its own last object.
  case hideWrites
  /// An app's transaction is committed in two parts.
  case splitWrites
  /// A client's file is restored, and nobody is told.
  case silentRestore
  /// A restored server keeps its epoch.
  case keepEpoch
  /// A backup is restored in two transactions, so a crash leaves it served with the old epoch.
  case splitRestore
  /// The restore of a backup syncs nothing.
  case restoreSyncs
  /// A server sends a log, and entries, in one message, however many bytes these have.
  case wholeLogs
  /// Two files say that they are one client's.
  case sharedIdentity
  /// Clients never ask again for what was lost.
  case noTicks
  /// A client commits whenever it has waited.
  case chatter
  /// A client's file loses its identity when its process ends.
  case lostIdentity
  /// An app makes an object again that the log has made already.
  case doubledEntry
}
