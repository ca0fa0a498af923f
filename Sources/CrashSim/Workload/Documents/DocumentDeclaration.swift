// DocumentDeclaration.swift: what a scenario does with documents, in place of tables and rows.
// Invariant (ensured by the parser): steps name declared processes, and a transaction has no other
// inside.

import LabCore

/// A scenario's documents: how the data file is opened, and the steps.
package struct DocumentDeclaration: Sendable, Hashable {
  /// When commits become durable.
  package enum Sync: String, Sendable, Hashable, CaseIterable {
    case full
    case normal
  }

  /// When commits become durable.
  package var sync = Sync.full
  /// The format to which the file is taken back after `before`; nil for the newest.
  package var format: Int?
  /// Steps whose results are durable before the run.
  package var before: [DocumentStep] = []
  /// The steps of the run.
  package var steps: [DocumentStep] = []
  /// Actors that do steps side by side after `steps`, each with the file open for itself.
  package var together: [DocumentActorDeclaration] = []
  /// After how many pages in the log actors side by side checkpoint; nil for SQLite's own number.
  package var checkpointPages: Int?
  /// The invariant that a planted bug breaks.
  package var breaks: DocumentPromise?
  /// The processes, in the order of the file; steps that name none are the first one's.
  package var processes = ["app"]

  package init() {}

  /// Forgets positions in the scenario's file.
  mutating func dropPlaces() {
    for index in before.indices { before[index].dropPlaces() }
    for index in steps.indices { steps[index].dropPlaces() }
    for actor in together.indices {
      for index in together[actor].steps.indices { together[actor].steps[index].dropPlaces() }
    }
  }

  /// Most actors side by side.
  package static let actorsMax = 6
  /// Formats that a file can be taken back to.
  package static let formats = [400, 500, 501, 502]
}

/// An actor of steps side by side.
package struct DocumentActorDeclaration: Sendable, Hashable {
  /// Its name.
  package var name: String
  /// Its steps, in their order.
  package var steps: [DocumentStep]

  package init(name: String, steps: [DocumentStep]) {
    self.name = name
    self.steps = steps
  }
}

/// One step.
package struct DocumentStep: Sendable, Hashable {
  /// Its position in the file.
  package var position: SourcePosition
  /// The process.
  package var process: String
  /// The collection; `_default`, or a name in the default scope.
  package var collection: String
  /// How often it is repeated; `#` in names and texts is the number of the repetition.
  package var repeats: Int
  /// The error code that it must end with.
  package var fails: String?
  /// The action.
  package var action: DocumentAction

  package init(
    position: SourcePosition, process: String, collection: String, repeats: Int = 1,
    fails: String? = nil, action: DocumentAction
  ) {
    self.position = position
    self.process = process
    self.collection = collection
    self.repeats = repeats
    self.fails = fails
    self.action = action
  }
}

extension DocumentStep {
  fileprivate mutating func dropPlaces() {
    position = SourcePosition(line: 1, column: 1)
    guard case .transaction(var steps, let cancels) = action else { return }
    for index in steps.indices { steps[index].dropPlaces() }
    action = .transaction(steps, cancels: cancels)
  }
}

/// The kind of an index.
package enum DeclaredIndex: String, Sendable, Hashable, CaseIterable {
  case value
  case fullText
  case array
  case predictive
}

/// The action of a step on documents.
package enum DocumentAction: Sendable, Hashable {
  /// Saves a document on its current revision, or as a new one.
  case save(id: String, body: DocumentValue, blobBytes: Int?)
  /// Saves on a revision that the document does not have.
  case saveStale(id: String, body: DocumentValue)
  /// Adds a revision from elsewhere that is in conflict with the current one.
  case conflict(id: String, body: DocumentValue)
  /// Ends a conflict; the current revision stays.
  case resolve(id: String)
  case delete(id: String)
  case purge(id: String)
  /// Sets when a document expires, in milliseconds; nil is never.
  case expire(id: String, at: Int64?)
  /// Adds 1 to the number of a document that holds nothing else, on the revision that it was read
  /// from, again after a conflict; a blind one is a planted bug: it saves on any revision. The name
  /// is saved, too: equal changes of one revision are one revision.
  case increment(id: String, name: String, isBlind: Bool)
  /// Removes what has expired by this time.
  case purgeExpired(now: Int64)
  case createIndex(name: String, kind: DeclaredIndex, property: String)
  case deleteIndex(name: String)
  /// Creates the collection.
  case createCollection
  /// Deletes the collection.
  case deleteCollection
  /// Steps that are one transaction, which may be taken back.
  case transaction([DocumentStep], cancels: Bool)
  /// Documents whose property has a value.
  case query(property: String, equals: DocumentValue, finds: [String])
  /// Opens a snapshot, which stays as it is until it is released.
  case hold
  case release
  case close
  case open
  /// Opens the file again, which removes what has expired by the lab's time.
  case openAndPurge
  /// Reads a collection in one snapshot; a split one is a planted bug: indexes in another.
  case look(isSplit: Bool)
  /// Begins a live query over documents whose property is a number.
  case watch(property: String)
  /// Asks the live query for its result.
  case refresh
  case compact
  case reindex
  /// A planted bug: SQL behind the store's back, in a transaction of its own.
  case plant(sql: String)
  /// A planted bug: the blob of a document vanishes.
  case plantLostBlob(id: String)

  /// Whether it can be a part of a transaction.
  package var isChange: Bool {
    switch self {
    case .save, .saveStale, .conflict, .resolve, .delete, .purge, .expire, .createIndex,
      .deleteIndex, .createCollection, .deleteCollection:
      true
    case .increment, .purgeExpired, .transaction, .query, .hold, .release, .close, .open,
      .openAndPurge, .look, .watch, .refresh, .compact, .reindex, .plant, .plantLostBlob:
      false
    }
  }

  /// Whether actors side by side can do it.
  package var isForActors: Bool {
    switch self {
    case .purgeExpired, .openAndPurge, .close, .plant, .plantLostBlob: false
    default: true
    }
  }

  /// Whether only actors side by side can do it.
  package var isForActorsAlone: Bool {
    switch self {
    case .look, .watch, .refresh: true
    default: false
    }
  }
}

/// A value in a body; numbers are whole.
package indirect enum DocumentValue: Sendable, Hashable {
  /// A pair of a dict.
  package struct Pair: Sendable, Hashable {
    package var key: String
    package var value: DocumentValue

    package init(_ key: String, _ value: DocumentValue) {
      self.key = key
      self.value = value
    }
  }

  case null
  case boolean(Bool)
  case integer(Int64)
  case text(String)
  case array([DocumentValue])
  /// Pairs in the order of the file.
  case dict([Pair])

  /// With the number of a repetition for `#`; a text that is only `#` is the number.
  package func numbered(_ number: Int) -> DocumentValue {
    switch self {
    case .null, .boolean, .integer: self
    case .text("#"): .integer(Int64(number))
    case .text(let text): .text(text.replacing("#", with: "\(number)"))
    case .array(let items): .array(items.map { $0.numbered(number) })
    case .dict(let pairs): .dict(pairs.map { Pair($0.key, $0.value.numbered(number)) })
    }
  }

  /// Its JSON, with the pairs in their order.
  package var json: String { text(isSorted: false) }

  /// Its JSON with sorted keys, which is equal for equal values.
  package var canonical: String { text(isSorted: true) }

  private func text(isSorted: Bool) -> String {
    switch self {
    case .null: return "null"
    case .boolean(let value): return value ? "true" : "false"
    case .integer(let value): return "\(value)"
    case .text(let text): return Self.quoted(text)
    case .array(let items):
      return "[" + items.map { $0.text(isSorted: isSorted) }.joined(separator: ",") + "]"
    case .dict(let pairs):
      let ordered = isSorted ? pairs.sorted { $0.key < $1.key } : pairs
      let texts = ordered.map { Self.quoted($0.key) + ":" + $0.value.text(isSorted: isSorted) }
      return "{" + texts.joined(separator: ",") + "}"
    }
  }

  private static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": quoted += "\\\""
      case "\\": quoted += "\\\\"
      case "\n": quoted += "\\n"
      case "\t": quoted += "\\t"
      case "\r": quoted += "\\r"
      default:
        if scalar.value < 32 || scalar.value == 127 {
          let hex = String(scalar.value, radix: 16)
          quoted += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
        } else {
          quoted.unicodeScalars.append(scalar)
        }
      }
    }
    return quoted + "\""
  }

  /// A property of a dict.
  package subscript(_ name: String) -> DocumentValue? {
    guard case .dict(let pairs) = self else { return nil }
    return pairs.first { $0.key == name }?.value
  }
}
