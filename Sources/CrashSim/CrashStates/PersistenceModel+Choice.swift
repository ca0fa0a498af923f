// PersistenceModel+Choice.swift: models as named on the command line or in a scenario.

import LabCore

extension PersistenceModel {
  /// The names of the stock models, the strongest first.
  public static var stockNames: String { stock.map(\.name).joined(separator: ", ") }

  /// The models of a choice: a name or a specification, several separated by commas, or `all`.
  /// - Throws: `LabError` with code `.usage` that lists the names.
  public static func chosen(_ text: String) throws(LabError) -> [PersistenceModel] {
    if text == "all" { return stock }
    var models: [PersistenceModel] = []
    for name in text.split(separator: ",", omittingEmptySubsequences: false) {
      if name.contains(":") {
        models.append(try parse(specification: String(name)))
        continue
      }
      guard let model = named(String(name)) else {
        throw .usage("no model is named '\(name)'; choose from \(stockNames), or all")
      }
      models.append(model)
    }
    return models
  }
}
