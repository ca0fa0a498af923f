// FunctionState.swift: what a connection's SQL functions work with.

import Fleece

/// What a connection lends its functions; it lives as long as the connection.
final class FunctionState {
  /// The connection's shared keys, as its transaction has them now.
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
  /// Whether files may name it in triggers and indexes although they are not trusted.
  var isInnocuous = true
  let body: @Sendable (FunctionCall) throws -> Void
}
