// PredictiveModels.swift: models of predictive indexes and queries, by name, and the SQL function
// that calls them.

import Fleece
import Synchronization

/// A model: computes a dict from a dict.
///
/// It gets its input, whose keys are texts, and returns the bytes of a Fleece dict, with keys as
/// texts, or nil for no result. The same input must always give the same result, since indexes
/// store it.
public typealias PredictiveModel = @Sendable (FleeceValue) throws -> [UInt8]?

/// The models of a data file; any thread may use it.
final class PredictiveModels: Sendable {
  private let models = Mutex<[String: PredictiveModel]>([:])

  func set(_ name: String, _ model: PredictiveModel?) { models.withLock { $0[name] = model } }

  func model(_ name: String) -> PredictiveModel? { models.withLock { $0[name] } }
}

extension DataFile {
  /// Registers a model, in place of the one with its name, for as long as the file is open.
  ///
  /// Changes of documents with a predictive index fail while its model is not registered.
  /// - Parameters:
  ///   - model: The model; nil removes it.
  ///   - name: Its name.
  public func setModel(_ model: PredictiveModel?, named name: String) { models.set(name, model) }
}

/// The SQL function `prediction`.
enum PredictionFunction {
  /// Not allowed in untrusted files: the effects of a model are unknown here.
  static let all = [
    SQLFunction(name: "prediction", argumentCount: 2, isInnocuous: false, body: predict)
  ]

  private static func predict(_ call: FunctionCall) throws {
    let name = call.bytes(0).text
    guard let model = call.state.models.model(name) else {
      return call.result(error: "no model \(quoted(name)); register it with setModel")
    }
    guard call.kind(1) != .null else { return call.resultMissing() }
    let input = call.bytes(1)
    guard call.kind(1) == .blob, input.count > 0,
      case let root = try FleeceValue.root(of: input), root.dict != nil
    else { return call.result(error: "the input of model \(quoted(name)) is not a dict") }
    guard let output = try model(root) else { return call.resultMissing() }
    FleeceBytes.over(output) { (view: FleeceBytes) in call.result(blob: view) }
  }
}
