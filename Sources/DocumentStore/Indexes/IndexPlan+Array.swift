// IndexPlan+Array.swift: array indexes: a table with a row for each item, and SQLite's index on it.
// An array in the items of another has that one's table as its parent, and is also shared by all
// indexes of its path.

import Fleece

extension IndexPlan {
  mutating func planArray(
    _ wanted: IndexSpecification, path: String, _ store: KeyStoreName
  ) throws(DocumentStoreError) {
    var (parent, isNested, walked) = (store.table, false, "")
    for step in try Self.steps(of: path, wanted) {
      walked += (isNested ? "[]." : "") + step.text
      let listed = IndexNames.array(walked, in: store)
      let name = IndexNames.hashed(listed)
      tables.append(Self.arrayTable(name, each: step.path, of: parent, isNested: isNested))
      (parent, isNested, listedTable) = (name, true, listed)
    }
    let found = try Self.translate(wanted, rows: .items)
    guard found.condition == nil else {
      throw Self.invalid(wanted, "an array index has no WHERE")
    }
    let values =
      found.expressions.isEmpty
      ? "fl_unnested_value(body)" : found.expressions.joined(separator: ", ")
    index =
      "CREATE INDEX \(IndexNames.sql(wanted.name)) ON \(IndexNames.sql(parent)) (\(values))"
  }

  /// The arrays that a path leads through, outermost first.
  private static func steps(
    of path: String, _ wanted: IndexSpecification
  ) throws(DocumentStoreError) -> [(text: String, path: FleecePath)] {
    var (texts, rest) = ([String](), Substring(path))
    while let place = rest.indices.first(where: { rest[$0...].hasPrefix("[].") }) {
      texts.append(String(rest[..<place]))
      rest = rest[place...].dropFirst(3)
    }
    texts.append(String(rest))
    var steps: [(text: String, path: FleecePath)] = []
    for text in texts {
      guard let parsed = try? FleecePath(parsing: text), !parsed.components.isEmpty else {
        throw invalid(wanted, "\(quoted(path)) is not a path of arrays, such as a.b or a[].b")
      }
      steps.append((parsed.description, parsed))
    }
    return steps
  }

  private static func arrayTable(
    _ name: String, each path: FleecePath, of parentName: String, isNested: Bool
  ) -> Table {
    let (table, parent) = (IndexNames.sql(name), IndexNames.sql(parentName))
    let each = "fl_each(new.body, \(literal(path.description))) AS _each"
    let insert =
      "INSERT INTO \(table) (docid, i, body) "
      + "SELECT new.rowid, _each.rowid, _each.value FROM \(each) "
    let delete = "DELETE FROM \(table) WHERE docid = old.rowid"
    let isNew = isNested ? "" : "(new.flags & 1) = 0"
    let wasOld = isNested ? "" : "(old.flags & 1) = 0"
    var plan = Table(
      name: name,
      sql: "CREATE TABLE \(table) (docid INTEGER NOT NULL REFERENCES \(parent)(rowid),  "
        + "i INTEGER NOT NULL, body BLOB NOT NULL,  CONSTRAINT pk PRIMARY KEY (docid, i))",
      columns: "docid, i, body",
      rows: "SELECT new.rowid AS docid, _each.rowid, _each.value FROM \(parent) AS new, \(each)"
        + (isNested ? "" : " WHERE \(isNew)"))
    plan.triggers = [
      trigger(name, "ins", at: "AFTER INSERT", on: parent, when: isNew, do: insert),
      trigger(name, "del", at: "BEFORE DELETE", on: parent, when: wasOld, do: delete),
    ]
    guard !isNested else { return plan }
    plan.triggers += [
      trigger(
        name, "preupdate", at: "BEFORE UPDATE OF body, flags", on: parent, when: wasOld,
        do: delete),
      trigger(
        name, "postupdate", at: "AFTER UPDATE OF body, flags", on: parent,
        when: "(new.flags & 1 = 0)", do: insert),
    ]
    return plan
  }
}
