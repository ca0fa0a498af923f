// ScenarioGrammar.swift: every key and every fixed word of the scenario language, in one place.
// Invariant: the parser takes its keys from here, and scenarios/schema.json lists the same ones
// under `$defs` with the names of these cases (a test compares them), so editors and the parser
// agree.

import CrashStates
import Engine
import Exploration
import LabCore

/// A kind of mapping in a scenario file, with the keys it may have.
package enum GrammarObject: String, CaseIterable, Sendable {
  case scenario
  case history
  case documents
  case documentStep
  case sync
  case syncStep
  case syncEdit
  case database
  case step
  case limit
  case overwrite
  case shorten
  case action
  case statement
  case contentEdit
  case randomText
  case expectation
  case versionBound
  case fileBound
  case sizeBound
  case crash
  case model
  case budget
  case media
  case mediaPlace
  case survives
  case mayGoBack
  case schedule
  case killSweep
  case sweep
  case fault
  case writeBack
  case holdBehind
  case torn
  case negative

  /// The keys, in the order in which messages list them.
  ///
  /// A schema's tables and columns, processes, actors and pins are names chosen in a file; they are
  /// not included.
  package var keys: [String] {
    switch self {
    case .scenario:
      [
        "version", "title", "schema", "processes", "database", "steps", "history", "documents",
        "sync", "schedule", "crash", "media", "killSweep", "sweep", "faults", "writeBack",
        "negative", "seed", "tags",
      ]
    case .history:
      [
        "of", "histories", "steps", "rows", "processes", "with", "without", "plant", "breaks",
      ]
    case .documents:
      [
        "sync", "format", "processes", "before", "steps", "together", "checkpointPages", "breaks",
      ]
    case .documentStep:
      GrammarWords.documentVerbs + [
        "in", "by", "body", "blob", "stale", "at", "kind", "on", "cancel", "equals", "finds",
        "repeat", "fails", "blind",
      ]
    case .sync: ["nodes", "before", "steps", "plant", "breaks"]
    case .syncStep:
      GrammarWords.syncVerbs + [
        "do", "direction", "times", "upTo", "to", "seconds", "dog", "age", "name", "toys",
        "friends", "tags", "gone",
      ]
    case .syncEdit:
      GrammarWords.syncEdits + [
        "age", "name", "toys", "by", "toy", "at", "from", "to", "key", "value",
      ]
    case .database:
      ["commitProtocol", "key", "grouped", "compactOnLaunch", "readOnly", "maximumVersions"]
        + Self.realmKeys
    case .step:
      [
        "all", "expect", "together", "kill", "exit", "stop", "continue", "limit", "remove",
        "overwrite", "shorten",
      ]
    case .limit: ["process"] + LimitedResource.allCases.map(\.rawValue)
    case .overwrite: ["file", "with"]
    case .shorten: ["file", "to"]
    case .action:
      ["open"] + ActionWord.keys + [
        "copy", "key", "write", "repeat", "cancel", "async", "fails", "try", "with", "query", "of",
        "finds", "misuse", "observe",
      ]
    case .statement: ["insert", "upsert", "update", "delete", "times", "upTo", "edit"]
    case .contentEdit: ["at", "set", "insert", "remove", "clear", "move", "swap"]
    case .randomText: ["random"]
    case .expectation: ["count", "version", "file", "pinned", "verify"]
    case .versionBound: ["atLeast"]
    case .fileBound: ["sizeBytes"]
    case .sizeBound: ["atMost"]
    case .crash: ["model", "on", "explore", "budget", "recovery"]
    case .model: ["name", "base", "modelVersion"] + ModelParameter.all.map(\.key)
    case .budget: ["states"]
    case .media:
      [
        "faults", "files", "at", "sectorBytes", "when", "each", "survives", "mayGoBack", "budget",
      ]
    case .mediaPlace: ["structure", "offset", "length"]
    case .survives, .mayGoBack: FileStructure.allCases.map(\.rawValue)
    case .schedule: ["strategy", "depth", "preemptions", "runs", "points", "script"]
    case .killSweep: ["process", "at", "side", "by", "crashStates"]
    case .sweep: ["on", "file", "error", "lasts"]
    case .fault:
      [
        "on", "file", "bytes", "pid", "command", "actor", "every", "skip", "nth", "chance",
        "maximumHits", "ofCommit", "commit", "after", "until", "during", "includeWriteBack", "seed",
        "anyErrno", "oncePerOpenFile", "keep",
      ] + GrammarWords.faultEffects
    case .writeBack: ["rate", "seed"]
    case .holdBehind: ["bytes"]
    case .torn: ["unit", "bytes", "parts", "keep"]
    case .negative: ["expect", "because"]
    }
  }

  /// Keys of `database` with options of realms.
  package static let realmKeys = ["schemaVersion", "migration", "deleteIfNeeded", "seedCopy"]

  /// Its name in messages.
  package var title: String {
    switch self {
    case .randomText: "random text"
    case .versionBound: "version bound"
    case .fileBound: "file expectation"
    case .sizeBound: "size bound"
    case .mediaPlace: "place"
    case .documents: "documents section"
    case .documentStep: "step on documents"
    case .sync: "sync section"
    case .syncStep: "step of synchronization"
    case .syncEdit: "change of a transaction"
    case .contentEdit: "edit"
    default: rawValue
    }
  }
}

/// The fixed words of the language that are not keys.
package enum GrammarWords {
  /// Commands for an actor that consist of one word.
  package static let actions = ActionWord.all.map(\.word)
  /// Commands of one word that can be tried and fail.
  package static let attempts = ActionWord.all.filter(\.canBeTried).map(\.word)
  /// The type of a table's key.
  package static let primary = "int primary"
  /// Types of a column, besides `primary`, lists and links.
  package static let columnTypes: [String] = {
    var types = ["mixed"]
    for type in elementTypes {
      types += [type, type + "?"]
      if type != "double", type != "binary" { types += [type + " indexed", type + "? indexed"] }
      if type == "string" { types += [type + " full-text", type + "? full-text"] }
    }
    types += ["int unique", "string unique"]
    return types
  }()
  /// Contents of drawn histories.
  package static let historyContents = HistoryContent.allCases.map(\.rawValue)
  package static let historyFeatures = HistoryFeature.allCases.map(\.rawValue)
  /// Keys of steps on documents that say what is done; a step has one.
  package static let documentVerbs = [
    "save", "increment", "conflict", "resolve", "delete", "purge", "expire", "purgeExpired",
    "index", "dropIndex", "createCollection", "deleteCollection", "transaction", "query", "watch",
    "plant", "plantLostBlob", "do",
  ]
  /// Steps on documents of one word.
  package static let documentWords = [
    "open", "openAndPurge", "close", "compact", "reindex", "hold", "release", "look", "refresh",
    "plantSplitLook",
  ]
  /// Keys of steps of synchronization that say what is done; a step has one.
  package static let syncVerbs = [
    "write", "connect", "disconnect", "deliver", "drop", "duplicate", "delay", "cut", "heal",
    "crash", "clock", "copy", "restore", "clone", "expect",
  ]
  /// Steps of synchronization of one word.
  package static let syncWords = ["settle", "trim"]
  /// Keys of changes of a transaction that say what is done; a change has one.
  package static let syncEdits = [
    "create", "set", "delete", "increment", "insert", "erase", "move", "link", "tag", "untag",
    "count",
  ]
  /// Types of a list's elements, written in brackets.
  package static let elementTypes = ["int", "string", "bool", "double", "binary", "date", "uuid"]
  /// Persistence models that a scenario can name.
  package static let models = PersistenceModel.stock.map(\.name)
  /// Places at which a process can be killed, besides a number.
  package static let killPlaces = [
    "every operation", "every sync", "every write", "every truncate", "every command",
    "every commit step",
  ]
  /// Engine error codes that can be expected from a command; `refused` is for a compaction that
  /// other users prevent.
  package static let errorCodes = [
    "io", "noSpace", "corrupted", "poisoned", "locked", "notADatabase", "unsupportedFormat",
    "schemaMismatch", "tableExists", "noSuchTable", "keyExists", "keyNotFound", "valueTooLarge",
    "busy", "closed", "limit", "tooManyReaders", "tooManyVersions", "incompatible", "fileExists",
    "forked", "readOnly", "invalidKey", "wrongKey", "keyNeeded", "notEncrypted", "truncated",
    "schemaVersion", "alreadyOpen",
    WorkerAnswer.refusedCode,
  ]
  /// Steps of the engine's commits.
  package static let commitSteps = CommitStep.allCases.map(\.description)
  /// Bytes of a medium's sector.
  package static let sectorSizes = ["512", "4096"]
  /// Errors that a fault can return.
  package static let errnos = ErrnoTable.numbers.keys.sorted()
  /// Effects of a fault; it has one of these keys.
  package static let faultEffects = [
    "ignore", "error", "holdBehind", "short", "noSpaceAfter", "quota", "delay", "hang",
    "failSync", "lose", "torn", "misdirect", "stale", "flip", "rot", "cutTail", "makeReadOnly",
    "clearCache", "killCaller", "killOther", "killFileSystem",
  ]
  /// Names that no table, column, process, actor or pin may have, because a step or a statement
  /// would then be ambiguous.
  package static let reserved: Set<String> = Set(
    GrammarObject.step.keys + GrammarObject.action.keys + GrammarObject.statement.keys
      + GrammarObject.step.oldKeys.map(\.old) + actions
      + ["random", "sequence", "primary", "int", "string"])
}

/// Bounds of the numbers in a scenario file.
public enum ScenarioBounds {
  /// Keys: those above are reserved for Faultline.
  package static let keys: ClosedRange<Int64> = -(1 << 62)...(1 << 62)
  /// Keys of rows with a unique value, which is derived from the key.
  package static let uniqueKeys: ClosedRange<Int64> = -(1 << 50)...(1 << 50)
  /// Transactions of one step, rows of one statement.
  package static let repeats: ClosedRange<Int64> = 1...1_000_000
  /// Most statements in an expanded scenario.
  package static let mutations = 2_000_000
  /// Most statements, rows and keys visited during planning: a second or two.
  public static let planWork = 50_000_000
  /// Letters of one text.
  package static let letters: ClosedRange<Int64> = 0...1_000_000
  /// Elements of one list.
  package static let items: ClosedRange<Int64> = 0...100_000
  /// Collections of a content that are nested in each other.
  package static let contentDepth = 16
  /// Bytes of all texts together.
  package static let textBytes = 256 << 20
  /// Tables; columns of one table; actors.
  package static let names = 64
  /// Bytes of a file in which a medium's faults can be.
  package static let mediaBytes: Int64 = 1 << 48
  /// Letters of a name.
  package static let nameLetters = 63
}
