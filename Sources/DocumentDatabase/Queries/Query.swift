// Query.swift [U]: a query over the documents of a database, and its parameters. Safety:
// `@unchecked Sendable` because the class has subclasses; all stored properties are constant and
// `Sendable`.

import DocumentStore
import Foundation
import Synchronization

/// A query.
///
/// Any thread may use it. `QueryBuilder` builds one, and `Database.createQuery` reads SQL++.
public class Query: @unchecked Sendable, CustomStringConvertible {
  let clauses: QueryClauses
  private let text: String?
  private let state = Mutex(State())

  private struct State {
    var parameters: Parameters?
    var runners: [Int: LiveQueryRunner] = [:]
    var next = 0
  }

  /// A built query.
  init(_ clauses: QueryClauses) {
    self.clauses = clauses
    text = nil
  }

  /// A query in SQL++.
  init(_ text: String, in database: Database) {
    self.text = text
    clauses = QueryClauses(database: database)
  }

  private var query: StoreQuery {
    text.map { StoreQuery($0, language: .text) } ?? StoreQuery(clauses.json)
  }

  private func database() throws -> Database {
    if let database = clauses.database { return database }
    throw DatabaseError(CBLError.invalidQuery, "the query has no source; add from(…)")
  }

  /// The values of the query's parameters; one without a value is missing.
  ///
  /// They are copied when they are set. Setting them updates the query's listeners.
  public var parameters: Parameters? {
    get { state.withLock { $0.parameters } }
    set {
      let copy = newValue.map { Parameters(parameters: $0) }
      let runners = state.withLock { state in
        state.parameters = copy
        return Array(state.runners.values)
      }
      for runner in runners { runner.restart(copy?.values ?? [:]) }
    }
  }

  private var values: [String: QueryValue] { parameters?.values ?? [:] }

  /// Runs the query.
  ///
  /// Within a batch of this thread it sees the batch's changes, else the last commit.
  /// - Returns: The rows.
  /// - Throws: ``DatabaseError``: ``CBLError/invalidQuery``, ``CBLError/missingIndex``.
  public func execute() throws -> ResultSet {
    let database = try database()
    let result = try database.reading { try $0.run(query, values) }
    return ResultSet(result, database.file)
  }

  /// How the query runs.
  /// - Returns: Its SQL, and the steps of SQLite with the tables and indexes that they use.
  /// - Throws: ``DatabaseError``, as ``execute()``.
  public func explain() throws -> String {
    try database().reading { try $0.explain(query).description }
  }

  /// Calls a listener with the rows, and again with the new ones after each commit that changed
  /// them.
  ///
  /// Commits by other processes are noticed, too.
  /// - Parameters:
  ///   - queue: The queue that the listener is called on; nil for the main queue.
  ///   - listener: The listener.
  /// - Returns: What ends it.
  public func addChangeListener(
    withQueue queue: DispatchQueue? = nil, _ listener: @escaping @Sendable (QueryChange) -> Void
  ) -> ListenerToken {
    let target = queue ?? .main
    let report: @Sendable (Swift.Result<QueryResult, any Error>) -> Void = { outcome in
      let file = self.clauses.database?.file
      let change =
        switch outcome {
        case .success(let result):
          QueryChange(query: self, results: ResultSet(result, file), error: nil)
        case .failure(let error):
          QueryChange(query: self, results: nil, error: DatabaseError.from(error))
        }
      target.async { listener(change) }
    }
    guard let database = clauses.database else {
      report(.failure(DatabaseError(CBLError.invalidQuery, "the query has no source")))
      return ListenerToken {}
    }
    let runner = LiveQueryRunner(query, values, in: database, report)
    let number = state.withLock { state in
      state.next += 1
      state.runners[state.next] = runner
      return state.next
    }
    runner.start()
    return ListenerToken { [weak self] in
      runner.end()
      _ = self?.state.withLock { $0.runners.removeValue(forKey: number) }
    }
  }

  /// Ends a listener.
  /// - Parameter token: What adding it returned.
  public func removeChangeListener(withToken token: ListenerToken) { token.remove() }

  /// The query: SQL++, or JSON for one that was built.
  public var description: String { text ?? clauses.json }
}

/// The rows of a query after a change.
public struct QueryChange: Sendable {
  /// The query.
  public let query: Query
  /// The rows; nil after an error.
  public let results: ResultSet?
  /// The error.
  public let error: (any Error)?
}

extension Database {
  /// A query in SQL++.
  /// - Parameter query: The text.
  /// - Returns: The query.
  /// - Throws: ``DatabaseError`` with code ``CBLError/invalidQuery`` and the place of the error, or
  ///   ``CBLError/missingIndex``.
  public func createQuery(_ query: String) throws -> Query {
    let made = Query(query, in: self)
    _ = try made.explain()
    return made
  }
}

/// Values of a query's parameters.
///
/// Any thread may use it.
public final class Parameters: Sendable {
  private let state: Mutex<[String: Item]>

  /// No values.
  public init() { state = Mutex([:]) }

  /// A copy of other parameters.
  /// - Parameter parameters: These; nil for none.
  public init(parameters: Parameters?) {
    state = Mutex(parameters?.state.withLock { $0 } ?? [:])
  }

  /// A value.
  /// - Parameter name: The parameter's name.
  /// - Returns: The value; nil when there is none.
  public func value(forName name: String) -> Any? {
    state.withLock { $0[name] }?.value(isMutable: false)
  }

  /// Sets a value.
  /// - Parameters:
  ///   - value: A value of a type that documents hold; nil is null.
  ///   - name: The parameter's name.
  /// - Returns: These parameters.
  @discardableResult
  public func setValue(_ value: Any?, forName name: String) -> Parameters {
    let item = Item(converting: value).copy()
    state.withLock { $0[name] = item }
    return self
  }

  var values: [String: QueryValue] { state.withLock { $0 }.mapValues { QueryValue($0) } }

  /// Sets a text.
  /// - Parameters:
  ///   - value: The text; nil is null.
  ///   - name: The parameter's name.
  /// - Returns: These parameters.
  @discardableResult
  public func setString(_ value: String?, forName name: String) -> Parameters {
    setValue(value, forName: name)
  }

  /// Sets a number.
  /// - Parameters:
  ///   - value: The number; nil is null.
  ///   - name: The parameter's name.
  /// - Returns: These parameters.
  @discardableResult
  public func setNumber(_ value: NSNumber?, forName name: String) -> Parameters {
    setValue(value, forName: name)
  }

  /// Sets an integer.
  /// - Parameters:
  ///   - value: The integer.
  ///   - name: The parameter's name.
  /// - Returns: These parameters.
  @discardableResult
  public func setInt(_ value: Int, forName name: String) -> Parameters {
    setValue(value, forName: name)
  }

  /// Sets an integer.
  /// - Parameters:
  ///   - value: The integer.
  ///   - name: The parameter's name.
  /// - Returns: These parameters.
  @discardableResult
  public func setInt64(_ value: Int64, forName name: String) -> Parameters {
    setValue(value, forName: name)
  }

  /// Sets a number.
  /// - Parameters:
  ///   - value: The number.
  ///   - name: The parameter's name.
  /// - Returns: These parameters.
  @discardableResult
  public func setFloat(_ value: Float, forName name: String) -> Parameters {
    setValue(value, forName: name)
  }

  /// Sets a number.
  /// - Parameters:
  ///   - value: The number.
  ///   - name: The parameter's name.
  /// - Returns: These parameters.
  @discardableResult
  public func setDouble(_ value: Double, forName name: String) -> Parameters {
    setValue(value, forName: name)
  }

  /// Sets a boolean.
  /// - Parameters:
  ///   - value: The boolean.
  ///   - name: The parameter's name.
  /// - Returns: These parameters.
  @discardableResult
  public func setBoolean(_ value: Bool, forName name: String) -> Parameters {
    setValue(value, forName: name)
  }

  /// Sets a date.
  /// - Parameters:
  ///   - value: The date; nil is null.
  ///   - name: The parameter's name.
  /// - Returns: These parameters.
  @discardableResult
  public func setDate(_ value: Date?, forName name: String) -> Parameters {
    setValue(value, forName: name)
  }

  /// Sets an array.
  /// - Parameters:
  ///   - value: The array; nil is null.
  ///   - name: The parameter's name.
  /// - Returns: These parameters.
  @discardableResult
  public func setArray(_ value: ArrayObject?, forName name: String) -> Parameters {
    setValue(value, forName: name)
  }

  /// Sets a dictionary.
  /// - Parameters:
  ///   - value: The dictionary; nil is null.
  ///   - name: The parameter's name.
  /// - Returns: These parameters.
  @discardableResult
  public func setDictionary(_ value: DictionaryObject?, forName name: String) -> Parameters {
    setValue(value, forName: name)
  }
}
