// EngineError.swift: how the engine reports a failed call. Wrong bytes and failing system calls are
// errors; only misuse by the caller traps.

/// An error of the engine.
public struct EngineError: Error, Sendable, CustomStringConvertible {
  /// The kind of error.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    private enum Kind: String {
      case io, noSpace, corrupted, poisoned, locked, notADatabase, unsupportedFormat
      case schemaMismatch, tableExists, noSuchTable, keyExists, keyNotFound, valueTooLarge
      case noSuchColumn, columnExists, indexOutOfRange
      case duplicateValue, noIndex
      case busy, closed, limit
      case forked, tooManyReaders, tooManyVersions, incompatible, readOnly
      case fileExists
      case invalidKey, wrongKey, keyNeeded, notEncrypted
      case swappedNode, rolledBackNode, forgedSlot, truncated
      case notComparable
    }

    private let kind: Kind

    /// A system call failed; see `errno`.
    public static let io = Code(kind: .io)
    /// The medium is full; the old version stays current.
    public static let noSpace = Code(kind: .noSpace)
    /// The file's bytes break a rule of the format.
    public static let corrupted = Code(kind: .corrupted)
    /// A sync or a root slot write failed earlier: close the database and open it again.
    public static let poisoned = Code(kind: .poisoned)
    /// A handle or process has the database open and does not share it.
    public static let locked = Code(kind: .locked)
    /// The file is something else.
    public static let notADatabase = Code(kind: .notADatabase)
    /// The file was written in a format that this engine does not know.
    public static let unsupportedFormat = Code(kind: .unsupportedFormat)
    /// Values do not fit the table's columns, or a schema breaks a rule.
    public static let schemaMismatch = Code(kind: .schemaMismatch)
    /// The table exists already.
    public static let tableExists = Code(kind: .tableExists)
    /// No table has that name.
    public static let noSuchTable = Code(kind: .noSuchTable)
    /// No column has that name.
    public static let noSuchColumn = Code(kind: .noSuchColumn)
    /// The column exists already.
    public static let columnExists = Code(kind: .columnExists)
    /// A collection has no element at that index.
    public static let indexOutOfRange = Code(kind: .indexOutOfRange)
    /// The key to insert exists already.
    public static let keyExists = Code(kind: .keyExists)
    /// The key to update or delete is not there.
    public static let keyNotFound = Code(kind: .keyNotFound)
    /// Another row has the value already, and the column is unique.
    public static let duplicateValue = Code(kind: .duplicateValue)
    /// The column has no index, and the call needs one.
    public static let noIndex = Code(kind: .noIndex)
    /// A value is longer than the format allows.
    public static let valueTooLarge = Code(kind: .valueTooLarge)
    /// Another write transaction did not end in time, or this thread has one open already.
    public static let busy = Code(kind: .busy)
    /// The database, transaction or snapshot is closed.
    public static let closed = Code(kind: .closed)
    /// A limit of the format is reached.
    public static let limit = Code(kind: .limit)

    /// The process is a fork of the one that opened the database: open it again here.
    public static let forked = Code(kind: .forked)
    /// All reader slots are taken: release snapshots.
    public static let tooManyReaders = Code(kind: .tooManyReaders)
    /// Snapshots keep more versions alive than the options allow.
    public static let tooManyVersions = Code(kind: .tooManyVersions)
    /// The processes that have the database open share memory of another layout.
    public static let incompatible = Code(kind: .incompatible)
    /// The database was opened for reading only.
    public static let readOnly = Code(kind: .readOnly)
    /// The destination of a copy exists already, and files are never overwritten.
    public static let fileExists = Code(kind: .fileExists)
    /// An encryption key has not 64 bytes.
    public static let invalidKey = Code(kind: .invalidKey)
    /// The key is not the one that the file was created with.
    public static let wrongKey = Code(kind: .wrongKey)
    /// The file is encrypted, and no key was given.
    public static let keyNeeded = Code(kind: .keyNeeded)
    /// A key was given, and the file is not encrypted.
    public static let notEncrypted = Code(kind: .notEncrypted)
    /// A node of an encrypted file is in the place of another one: it was moved by hand.
    public static let swappedNode = Code(kind: .swappedNode)
    /// A node of an encrypted file is an older one of the same place: it was put back by hand, or
    /// the medium lost a write.
    public static let rolledBackNode = Code(kind: .rolledBackNode)
    /// A root slot of an encrypted file was not written with its key.
    public static let forgedSlot = Code(kind: .forgedSlot)
    /// The file is shorter than its newest version.
    public static let truncated = Code(kind: .truncated)
    /// Two snapshots are not of one open database, or in the wrong order, so they cannot be
    /// compared.
    public static let notComparable = Code(kind: .notComparable)

    /// The name of the code.
    public var description: String { kind.rawValue }
  }

  /// The kind of error.
  public let code: Code
  /// The failure, with both numbers where numbers disagree, the place, and the remedy.
  public let message: String
  /// The system's error number, when a system call failed.
  public let errno: Int32?
  /// Whether a lab made this error on purpose.
  public let isInjected: Bool

  /// Makes an error.
  /// - Parameters:
  ///   - code: The kind of error.
  ///   - message: The failure, its place, and the remedy.
  ///   - errno: The system's error number.
  ///   - isInjected: Whether a lab made this error on purpose.
  public init(code: Code, message: String, errno: Int32? = nil, isInjected: Bool = false) {
    self.code = code
    self.message = message
    self.errno = errno
    self.isInjected = isInjected
  }

  /// Code, message and error number.
  public var description: String {
    let number = errno.map { " (errno \($0))" } ?? ""
    return "\(code): \(message)\(number)\(isInjected ? " [injected]" : "")"
  }

  static func corrupted(_ message: String, at ref: Ref? = nil) -> EngineError {
    let place = ref.map { " at ref \($0.offsetBytes)" } ?? ""
    return EngineError(code: .corrupted, message: message + place)
  }

  static func fileExists(_ path: String) -> EngineError {
    EngineError(
      code: .fileExists,
      message: "\(path) already exists, and a copy never overwrites a file; remove it or choose "
        + "another name")
  }

  /// The `.locked` of an encrypted database, which one handle opens at a time.
  static func encryptedInUse(_ path: String) -> EngineError {
    EngineError(
      code: .locked,
      message: "\(path) is encrypted and open elsewhere; an encrypted database is open in one "
        + "process and one handle at a time, because its pages are in that handle's memory; close "
        + "it there (fuser \(path) names the process) and open again")
  }

  static func closed(_ what: String) -> EngineError {
    EngineError(code: .closed, message: "the \(what) is closed; open a new one")
  }
}
