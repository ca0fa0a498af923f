// FunctionState.swift: the state for a connection's SQL functions.

import Fleece

/// A connection's state for its functions; it exists as long as the connection.
final class FunctionState {
  /// The connection's shared keys, as in its current transaction.
  var keys = FleeceSharedKeys()
  /// Models of predictive indexes.
  let models: PredictiveModels
  /// Patterns that were read.
  let patterns = PatternCache()
  /// Where blobs are, for `fl_blob`.
  let blobs: BlobStore

  init(models: PredictiveModels, blobs: BlobStore) {
    self.models = models
    self.blobs = blobs
  }
}

/// A function of SQL.
struct SQLFunction: Sendable {
  let name: String
  /// How many arguments it has; -1 for any number.
  let argumentCount: Int32
  /// Whether untrusted files may use it in triggers and indexes.
  var isInnocuous = true
  let body: @Sendable (FunctionCall) throws -> Void
}
