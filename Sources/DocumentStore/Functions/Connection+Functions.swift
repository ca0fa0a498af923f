// Connection+Functions.swift [U]: SQL functions are registered with a connection.
// All are deterministic, as the real library's are: index expressions must be. They are registered
// before the connection's first statement: triggers and indexes of the file name them.
// Safety: SQLite owns a retained box for each function and releases it when the connection closes
// or the function is replaced.

import CTokenizer
import Fleece
import GRDBSQLite

/// A function and the state of its connection.
private final class FunctionBox {
  let state: FunctionState
  let body: @Sendable (FunctionCall) throws -> Void

  init(_ state: FunctionState, _ body: @escaping @Sendable (FunctionCall) throws -> Void) {
    self.state = state
    self.body = body
  }
}

extension Connection {
  /// Registers the functions that triggers and indexes use.
  func registerFunctions() throws(DocumentStoreError) {
    try register(BodyFunctions.all + RankFunction.all + PredictionFunction.all)
    try registerEach()
    try registerQueryFunctions()
    let code = unsafe ctokenizer_register(handle)
    guard code == SQLITE_OK else { throw unsafe SQLFailure.error(handle, code, context) }
  }

  /// Whether the tokenizer has a stemmer for a language.
  static func hasStemmer(_ language: String) -> Bool {
    unsafe ctokenizer_has_stemmer(language) != 0
  }

  /// Registers functions.
  func register(_ functions: [SQLFunction]) throws(DocumentStoreError) {
    for function in functions {
      let flags =
        SQLITE_UTF8 | SQLITE_DETERMINISTIC | (function.isInnocuous ? SQLITE_INNOCUOUS : 0)
      let box = unsafe Unmanaged.passRetained(FunctionBox(functionState, function.body))
      let code = unsafe sqlite3_create_function_v2(
        handle, function.name, function.argumentCount, flags, unsafe box.toOpaque(),
        { context, count, arguments in
          guard let context = unsafe context, let data = unsafe sqlite3_user_data(context) else {
            return
          }
          let box = unsafe Unmanaged<FunctionBox>.fromOpaque(data).takeUnretainedValue()
          let call = unsafe FunctionCall(
            context: context, arguments: arguments, count: Int(count), state: box.state)
          do { try box.body(call) } catch {
            call.result(error: "\(error)")
          }
        }, nil, nil,
        { data in
          if let data = unsafe data { unsafe Unmanaged<FunctionBox>.fromOpaque(data).release() }
        })
      guard code == SQLITE_OK else { throw unsafe SQLFailure.error(handle, code, context) }
    }
  }
}
