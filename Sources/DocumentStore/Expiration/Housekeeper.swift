// Housekeeper.swift: purges documents as they expire, for as long as the file is open. Invariant:
// no temporary failure ends it. A purge that finds a writer, or a full medium, is tried again; it
// ends only when the file is closed or accepts no more writes. The caller supplies time and
// waiting, so that a lab controls both.

/// Purges expired documents of a data file repeatedly.
public struct Housekeeper: Sendable {
  /// The result of a turn.
  public struct Turn: Sendable {
    /// The documents that were purged, by collection and ID.
    public var purged: [ExpiredDocument] = []
    /// The error that prevented the purge; the next turn tries again.
    public var failure: DocumentStoreError?
    /// How long to wait before the next turn, in milliseconds.
    public var delayMilliseconds: Int64 = 0
  }

  /// The longest wait: expirations that other threads and processes set are seen after it.
  public static let delayMaxMilliseconds: Int64 = 1000
  /// The wait after a failure.
  public static let retryMilliseconds: Int64 = 250

  private let file: DataFile
  private let nowMilliseconds: @Sendable () -> Int64

  /// A housekeeper; it does nothing until its turns are called.
  /// - Parameters:
  ///   - file: The data file, open for writing.
  ///   - nowMilliseconds: The time in milliseconds since 1970; the file's own clock if nil.
  public init(_ file: DataFile, nowMilliseconds: (@Sendable () -> Int64)? = nil) {
    self.file = file
    let options = file.options
    self.nowMilliseconds = nowMilliseconds ?? { options.nowMilliseconds }
  }

  /// Purges the documents that are due now.
  /// - Returns: The result, and when to run the next turn.
  /// - Throws: `DocumentStoreError` with code `.notOpen` or `.notWriteable`, which no later turn
  ///   can do anything about.
  /// - Complexity: As `DataFile.purgeExpired`.
  public func takeTurn() throws(DocumentStoreError) -> Turn {
    var turn = Turn()
    let now = nowMilliseconds()
    do {
      turn.purged = try file.purgeExpired(nowMilliseconds: now)
      let next = try file.read { try $0.nextExpiration() } ?? Int64.max
      // Documents that became due during the purge cause no wait.
      let delay = max(next, now).subtractingReportingOverflow(now)
      turn.delayMilliseconds = min(
        delay.overflow ? Int64.max : delay.partialValue, Self.delayMaxMilliseconds)
    } catch {
      let failure = SQLFailure.error(error, file.path)
      guard failure.code != .notOpen, failure.code != .notWriteable else { throw failure }
      turn.failure = failure
      turn.delayMilliseconds = Self.retryMilliseconds
    }
    return turn
  }

  /// Takes turns until the file is closed, or a wait is cancelled.
  /// - Parameters:
  ///   - wait: Waits that many milliseconds; it ends the run by throwing.
  ///   - report: Called with the result of each turn.
  public func run(
    wait: (Int64) async throws -> Void = { try await Task.sleep(for: .milliseconds($0)) },
    report: (Turn) -> Void = { _ in }
  ) async {
    while let turn = try? takeTurn() {
      report(turn)
      do { try await wait(turn.delayMilliseconds) } catch { return }
    }
  }
}
