// WorkerAction.swift: what a worker can be told, and what the lab has to know of each action: how a
// scenario says it, what it needs, and how it reads in a list of steps. A new action begins here,
// and goes on where it is done (Worker.swift, ObjectSession.swift); docs/decisions/0922 says how.

import LabCore

/// What a worker can be told.
package enum WorkerAction: Sendable, Hashable, Codable {
  /// Opens the database, or joins those who have it open.
  case open
  /// Leaves; the last one closes.
  case close
  /// Closes and opens the process's database.
  case reopen
  /// Runs transaction 0: creates these tables, those that exist already excepted.
  case createTables([TableDeclaration])
  /// Keeps the newest version alive under a name.
  case pin(String)
  /// Compares and releases a pinned version.
  case release(String)
  /// Compares what the engine says changed since a pinned version with what the contents differ in.
  case diff(String)
  /// Runs a transaction.
  case transaction(PlannedTransaction)
  /// Compacts the file.
  case compact
  /// Writes a copy of the newest version, opens it and compares.
  case copy(CopyStep)
  /// Runs the engine's verification, and answers with the content's hash.
  case verify
  /// Checks a claim about the live database. For `fileTimesContentAtMost` the worker measures the
  /// content itself.
  case expect(LiveExpectation)
  /// Forks, and asks the child what it can do.
  case fork
  /// Compares what a query over objects finds with what it must find.
  case query(ObjectQuery)
  /// Observes what a query finds, and keeps what is told.
  case observe(ObjectQuery)
  /// Moves the actor's realm to the newest version.
  case refresh
  /// Gives up the version that the actor's realm reads.
  case invalidate
  /// Uses another actor's realm, which must be refused.
  case misuse(of: String)
  /// Something befalls the actor's process; the lab or the worker does it.
  case process(ProcessEvent)
  /// Something befalls a file; the lab does it.
  case file(FileEvent)
}

/// An action that a scenario says by one word, or by a key with a name as its value.
package struct ActionWord: Sendable {
  /// The word.
  package let word: String
  /// What the value is the name of, where the word can be a key; nil where it stands alone.
  package var nameOf: String?
  /// Whether `try` takes the word.
  package var canBeTried = false
  /// The action with a name; a word that stands alone has the actor's.
  package let action: @Sendable (String) -> WorkerAction

  /// All of them, in the order in which messages list them.
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

  /// The words of actions that can run beside those of other actors.
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

  /// Whether it needs workers in processes of their own.
  package var isOfProcesses: Bool {
    switch self {
    case .process, .fork, .file: true
    default: false
    }
  }

  /// Whether it writes a second file, which the in-process storage has not.
  package var writesSecondFile: Bool {
    switch self {
    case .compact, .copy: true
    default: false
    }
  }

  /// Whether it may have to wait for a process that stands still, which then goes on before.
  package var waitsForOthers: Bool {
    switch self {
    case .createTables, .transaction, .compact, .copy, .fork, .process, .file: true
    default: false
    }
  }

  /// Whether its answer has the newest version with its content, which the model is held against.
  package var showsContent: Bool {
    switch self {
    case .verify, .pin, .diff, .copy, .compact: true
    default: false
    }
  }

  /// Whether it can run beside the steps of other actors, under any schedule.
  package var goesTogether: Bool {
    switch self {
    case .pin, .release, .diff, .verify, .compact: true
    default: false
    }
  }

  /// Why it has no meaning over objects, or over tables, and what to do instead; nil when it has.
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
  /// What it does, for people.
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
  /// What is claimed, for people.
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
  /// What befalls the process, for people.
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
  /// What befalls the file, for people.
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
