// LiveQueryRunner.swift: runs a query again after commits. Commits of this process are announced by
// the hub; for those of others it looks ten times a second, which costs a read of SQLite's counter
// when there was none.

import DocumentStore
import Foundation
import Synchronization

/// A query that is followed.
final class LiveQueryRunner: Sendable {
  typealias Report = @Sendable (Swift.Result<QueryResult, any Error>) -> Void

  private static let interval = DispatchTimeInterval.milliseconds(100)

  private struct State {
    var live: LiveQuery?
    var isEnded = false
    var lastFailure: String?
    var token: ListenerToken?
    /// Given up at the end: it holds the query, which holds this.
    var report: Report?
  }

  private let query: StoreQuery
  private let file: DataFile
  private let hub: ChangeHub
  private let queue = DispatchQueue(label: "live query")
  private let state: Mutex<State>
  private let values: Mutex<[String: QueryValue]>

  init(
    _ query: StoreQuery, _ values: [String: QueryValue], in database: Database,
    _ report: @escaping Report
  ) {
    self.query = query
    self.values = Mutex(values)
    file = database.file
    hub = database.hub
    state = Mutex(State(report: report))
    database.liveQueries.add(self)
  }

  func start() {
    let token = hub.add { [weak self] _ in self?.checkSoon() }
    state.withLock { $0.token = token }
    tick()
  }

  private func checkSoon() { queue.async { [weak self] in self?.check() } }

  private func tick() {
    queue.async { [weak self] in self?.check() }
    queue.asyncAfter(deadline: .now() + Self.interval) { [weak self] in
      guard let self, !state.withLock({ $0.isEnded }) else { return }
      tick()
    }
  }

  /// Runs it with other parameters.
  func restart(_ values: [String: QueryValue]) {
    self.values.withLock { $0 = values }
    queue.async { [weak self] in
      guard let self else { return }
      let old = state.withLock { state in
        defer { state.live = nil }
        return state.live
      }
      try? old?.close()
      check()
    }
  }

  private func check() {
    do {
      guard let live = try open(), let result = try live.refresh() else { return }
      let report = state.withLock { state in
        state.lastFailure = nil
        return state.report
      }
      report?(.success(result))
    } catch {
      let text = "\(error)"
      let report = state.withLock { state -> Report? in
        defer { state.lastFailure = text }
        return state.lastFailure == text ? nil : state.report
      }
      report?(.failure(error))
    }
  }

  /// The live query; nil when the runner has ended.
  private func open() throws -> LiveQuery? {
    let (live, isEnded) = state.withLock { ($0.live, $0.isEnded) }
    if isEnded { return nil }
    if let live { return live }
    let made = try file.live(query, values.withLock { $0 })
    let isKept = state.withLock { state in
      guard !state.isEnded else { return false }
      state.live = made
      return true
    }
    if isKept { return made }
    try made.close()
    return nil
  }

  /// Ends it and closes its connection.
  func end() {
    let (live, token) = state.withLock { state in
      state.isEnded = true
      defer { (state.live, state.token, state.report) = (nil, nil, nil) }
      return (state.live, state.token)
    }
    token?.remove()
    try? live?.close()
  }
}

/// The live queries of a database, which end when it is closed.
final class LiveQueries: Sendable {
  private struct Weak: Sendable {
    weak var runner: LiveQueryRunner?
  }

  private let runners = Mutex<[Weak]>([])

  func add(_ runner: LiveQueryRunner) {
    runners.withLock { runners in
      runners.removeAll { $0.runner == nil }
      runners.append(Weak(runner: runner))
    }
  }

  func end() {
    let all = runners.withLock { runners in
      defer { runners = [] }
      return runners.compactMap(\.runner)
    }
    for runner in all { runner.end() }
  }
}
