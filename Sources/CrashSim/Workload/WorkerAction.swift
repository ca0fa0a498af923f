// WorkerAction.swift: the actions of a worker, with their properties: their words in a scenario,
// their requirements, and their text in a list of steps. A new action is added here first, then
// where it is performed (Worker.swift, ObjectSession.swift); see docs/decisions/0922.

import LabCore

/// An action of a worker.
package enum WorkerAction: Sendable, Hashable, Codable {
  /// Opens the database, or shares the process's open handle.
  case open
  /// Stops using it; the last actor closes it.
  case close
  /// Closes and opens the process's database.
  case reopen
  /// Runs transaction 0: creates these tables, unless they exist.
  case createTables([TableDeclaration])
  /// Pins the newest version under a name.
  case pin(String)
  /// Compares and releases a pinned version.
  case release(String)
  /// Compares the changes since a pinned version, as the engine reports them, with the contents.
  case diff(String)
  /// Runs a transaction.
  case transaction(PlannedTransaction)
  /// Compacts the file.
  case compact
  /// Writes a copy of the newest version, opens it and compares.
  case copy(CopyStep)
  /// Runs the engine's verification, and returns the content's hash.
  case verify
  /// Checks an assertion about the live database. For `fileTimesContentAtMost` the worker measures
  /// the content itself.
  case expect(LiveExpectation)
  /// Forks, and tests in the child what it may do.
  case fork
  /// Compares the result of a query over objects with the required one.
  case query(ObjectQuery)
  /// Observes the result of a query, and records the reported changes.
  case observe(ObjectQuery)
  /// Moves the actor's realm to the newest version.
  case refresh
  /// Invalidates the actor's realm, which releases its version.
  case invalidate
  /// Uses another actor's realm, which must fail.
  case misuse(of: String)
  /// An event of the actor's process, caused by Faultline or the worker.
  case process(ProcessEvent)
  /// An event of a file, caused by Faultline.
  case file(FileEvent)
}

/// An action written as one word, or as a key with a name as its value.
package struct ActionWord: Sendable {
  /// The word.
  package let word: String
  /// What the value names, if the word can be a key; nil if it stands alone.
  package var nameOf: String?
  /// Whether `try` accepts the word.
  package var canBeTried = false
  /// The action with a name; for a word without a value, the actor's name.
  package let action: @Sendable (String) -> WorkerAction

  /// All words, in the order in which messages list them.
  package static let all: [ActionWord] = [
    ActionWord(word: "open", canBeTried: true) { _ in .open },
    ActionWord(word: "close") { _ in .close },
    ActionWord(word: "reopen", canBeTried: true) { _ in .reopen },
    ActionWord(word: "pin", nameOf: "pin", canBeTried: true) { .pin($0) },
    ActionWord(word: "release", nameOf: "pin") { .release($0) },
    ActionWord(word: "diff", nameOf: "pin") { .diff($0) },
    ActionWord(word: "verify", canBeTried: true) { _ in .verify },
    ActionWord(word: "compact", canBeTried: true) { _ in .compact },
    ActionWord(word: "fork") { _ in .fork },
    ActionWord(word: "refresh") { _ in .refresh },
    ActionWord(word: "invalidate") { _ in .invalidate },
  ]

  /// The words of actions that can run concurrently with those of other actors.
  package static let together = all.filter { $0.action("").goesTogether }.map(\.word)

  /// The words that can be keys.
  package static let keys = all.filter { $0.nameOf != nil }.map(\.word)

  /// The action of a word.
  package static func find(_ word: String) -> ActionWord? { all.first { $0.word == word } }
}

// MARK: - What an action needs

extension WorkerAction {
  /// The copy that it writes, if it writes one.
  package var copy: CopyStep? {
    switch self {
    case .copy(let copy): copy
    case .transaction(let transaction): transaction.copy
    default: nil
    }
  }

  /// Whether it opens the database, or one beside it.
  package var opensDatabase: Bool {
    switch self {
    case .open, .reopen, .fork, .createTables: true
    default: copy != nil
    }
  }

  /// Whether it needs workers in separate processes.
  package var isOfProcesses: Bool {
    switch self {
    case .process, .fork, .file: true
    default: false
    }
  }

  /// Whether it writes a second file, which the in-process storage does not support.
  package var writesSecondFile: Bool {
    switch self {
    case .compact, .copy: true
    default: false
    }
  }

  /// Whether it may have to wait for a stopped process, which is then continued first.
  package var waitsForOthers: Bool {
    switch self {
    case .createTables, .transaction, .compact, .copy, .fork, .process, .file: true
    default: false
    }
  }

  /// Whether its answer includes the newest version and content, which are compared with the model.
  package var showsContent: Bool {
    switch self {
    case .verify, .pin, .diff, .copy, .compact: true
    default: false
    }
  }

  /// Whether it can run concurrently with steps of other actors, under any schedule.
  package var goesTogether: Bool {
    switch self {
    case .pin, .release, .diff, .verify, .compact: true
    default: false
    }
  }

  /// Why it does not apply to objects, or to tables, with an alternative; nil if it applies.
  package func misfit(hasObjects: Bool) -> (message: String, remedy: String)? {
    switch self {
    case .refresh, .invalidate:
      hasObjects
        ? nil
        : (
          "only a realm can be refreshed or invalidated",
          "write 'schema: \(ObjectClasses.word)', or remove the step"
        )
    case .compact, .fork:
      hasObjects
        ? (
          "a realm is compacted when it is opened, and cannot be used after a fork",
          "open it with 'compactOnLaunch: true', or use a schema of tables"
        )
        : nil
    case .diff:
      hasObjects
        ? (
          "changes of a realm are reported to its observers",
          "write '{observe: …}', or use a schema of tables"
        )
        : nil
    default: nil
    }
  }
}

// MARK: - In words

extension WorkerAction {
  /// The action in words.
  package var phrase: String {
    switch self {
    case .open: "open the database; the first to do so creates it and its tables"
    case .close: "close it"
    case .reopen: "close it and open it again"
    case .createTables: "create the tables"
    case .pin(let name): "pin the newest version as '\(name)'"
    case .release(let name): "release '\(name)', which must be as it was"
    case .diff(let name): "ask what changed since '\(name)', and compare both contents"
    case .transaction(let transaction): "run transaction \(transaction.number)"
    case .verify: "verify the file, and compare its content with the model"
    case .compact: "compact the file, and compare its content with the model"
    case .copy(let copy): "write a copy to \(copy.fileName), and compare its content with the model"
    case .expect(let claim): claim.phrase
    case .fork: "fork; the child may use nothing of its parent's, and can open the file itself"
    case .query(let query):
      query.promise
    case .observe(let query):
      "observe the \(query.table) objects of '\(query.text)', and follow the reported changes"
    case .refresh: "refresh the realm, which must have stayed at its version"
    case .invalidate: "give up the version that the realm reads"
    case .misuse(let owner): "use the realm of '\(owner)' on another thread, which must be refused"
    case .process(let event): event.phrase
    case .file(let event): event.phrase
    }
  }
}

extension LiveExpectation {
  /// The assertion in words.
  package var phrase: String {
    switch self {
    case .count(let table, let rows): "\(table) has \(Formatting.counted(rows, "row"))"
    case .version(let version): "the newest version is \(version)"
    case .versionAtLeast(let version): "the newest version is \(version) or later"
    case .fileBytesAtMost(let bytes):
      "the file has at most \(Formatting.grouped(Int(clamping: bytes))) bytes"
    case .fileTimesContentAtMost(let times): "the file is at most \(times) times its content"
    case .pinnedUnchanged(let name): "'\(name)' is as it was"
    case .verifies: "the engine's verification finds nothing"
    }
  }
}

extension ProcessEvent {
  /// The event of the process, in words.
  var phrase: String {
    switch self {
    case .kill: "it is killed"
    case .exit: "it exits, and closes nothing"
    case .stop: "stop the process (SIGSTOP)"
    case .resume: "let it continue (SIGCONT)"
    case .limit(let limit):
      limit.count.map { "it gets no more \(limit.resource.rawValue) than \($0)" }
        ?? "its bound of \(limit.resource.rawValue) is lifted"
    }
  }
}

extension FileEvent {
  /// The event of the file, in words.
  var phrase: String {
    switch self {
    case .remove(let part): "remove the name of the \(part.rawValue) file"
    case .overwrite(let part, let filling):
      "write \(filling.rawValue) bytes over the \(part.rawValue) file"
    case .cut(let part, let bytes):
      "cut the \(part.rawValue) file to \(Formatting.grouped(Int(clamping: bytes))) bytes"
    }
  }
}
