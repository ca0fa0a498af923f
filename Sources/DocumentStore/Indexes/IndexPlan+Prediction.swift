// IndexPlan+Prediction.swift: predictive indexes: a table with the model's result for each
// document, shared by all indexes of the same model and input, and SQLite's index on its
// properties, if there are any.

import Fleece

extension IndexPlan {
  mutating func planPrediction(
    _ wanted: IndexSpecification, _ store: KeyStoreName
  ) throws(DocumentStoreError) {
    let parts = try Self.predictionParts(wanted)
    let digest = SHA1.digest(Array(parts.prefix(3).joined().utf8))
    let name = IndexNames.predictive(digest, in: store)
    let call = "[[\(parts.prefix(3).joined(separator: ","))]]"
    let new = try Self.translate(wanted, json: call, body: "new.body")
    guard let value = new.expressions.first else {
      throw Self.invalid(wanted, "a predictive index needs a prediction")
    }
    tables = [Self.predictionTable(name, value: value, store)]
    listedTable = name
    guard parts.count > 3 else { return }
    let properties = parts.dropFirst(3).map { $0.hasPrefix("[") ? $0 : "[\($0)]" }
    let found = try Self.translate(
      wanted, json: "[\(properties.joined(separator: ","))]", rows: .items)
    index =
      "CREATE INDEX \(IndexNames.sql(wanted.name)) ON \(IndexNames.sql(name)) "
      + "(\(found.expressions.joined(separator: ", ")))"
  }

  /// Operator, model, input and properties, each as canonical JSON.
  private static func predictionParts(
    _ wanted: IndexSpecification
  ) throws(DocumentStoreError) -> [String] {
    var options = FleeceJSONOptions()
    options.isCanonical = true
    let parts: [String]
    do throws(FleeceError) {
      let bytes = try FleeceEncoder.bytes(ofJSON: wanted.expressions)
      parts = try FleeceDocument(bytes).withRoot { (root) throws(FleeceError) in
        var parts: [String] = []
        guard let all = root.array, all.count == 1, let call = try all.value(at: 0)?.array else {
          return parts
        }
        for index in 0..<call.count {
          if let part = try call.value(at: index) { parts.append(try part.json(options: options)) }
        }
        return parts
      }
    } catch {
      throw invalid(wanted, error.description)
    }
    guard parts.count >= 3, parts[0].uppercased() == "\"PREDICTION()\"" else {
      throw invalid(wanted, "a predictive index is of one [\"PREDICTION()\", model, input, …]")
    }
    return parts
  }

  private static func predictionTable(
    _ name: String, value: String, _ store: KeyStoreName
  ) -> Table {
    let (table, parent) = (identifier(name), identifier(store.table))
    let insert = "INSERT INTO \(table) (docid, body) VALUES (new.rowid, \(value))"
    let delete = "DELETE FROM \(table) WHERE docid = old.rowid"
    let wasOld = "(old.flags & 1) = 0"
    return Table(
      name: name,
      sql: "CREATE TABLE \(table) (docid INTEGER PRIMARY KEY REFERENCES \(parent)(rowid),  "
        + "body BLOB NOT NULL ON CONFLICT IGNORE) WITHOUT ROWID",
      columns: "docid, body",
      rows: "SELECT new.rowid AS docid, \(value) AS value FROM \(parent) AS new "
        + "WHERE (new.flags & 1) = 0",
      triggers: [
        trigger(
          name, "ins", at: "AFTER INSERT", on: parent, when: "(new.flags & 1) = 0", do: insert),
        trigger(name, "del", at: "BEFORE DELETE", on: parent, when: wasOld, do: delete),
        trigger(
          name, "preupdate", at: "BEFORE UPDATE OF body, flags", on: parent, when: wasOld,
          do: delete),
        trigger(
          name, "postupdate", at: "AFTER UPDATE OF body, flags", on: parent,
          when: "(new.flags) & 1 = 0", do: insert),
      ])
  }
}
