// SchemaUpdate+Recorded.swift: the allowed schema changes of a file whose changes are recorded.
// Programs on other machines have their own classes of the same objects, so nothing is removed or
// changes its type; and values that a migration block or a new column writes to rows would not be
// recorded.

import Engine

extension SchemaUpdate {
  /// Checks that a schema changes by adding only.
  /// - Throws: `Realm.Error` with code `.schemaMismatch`, every other difference in words.
  static func checkRecorded(
    _ differences: [SchemaDifference], _ configuration: Realm.Configuration
  ) throws(Realm.Error) {
    guard configuration.recording != nil else {
      throw _RealmCore.notRecorded(configuration.identity)
    }
    guard configuration.migrationBlock == nil else {
      throw Realm.Error(
        .schemaMismatch,
        "\(configuration.identity) is synchronized, and no migrationBlock can change it; leave the "
          + "block out")
    }
    let others = differences.filter { difference in
      switch difference.change {
      case .addClass, .addColumn, .addIndex, .addFullTextIndex, .removeIndex: false
      case .setRecord, .removeColumn, .replaceColumn, .convertColumn: true
      }
    }
    guard others.isEmpty else {
      throw Realm.Error(
        .schemaMismatch,
        "\(configuration.identity) is synchronized, and classes and properties can be added to it "
          + "only; these differ otherwise:\n"
          + others.map { "- \($0.text)" }.joined(separator: "\n"))
    }
  }

  /// Checks that a new property changes no existing row.
  /// - Throws: `Realm.Error` with code `.schemaMismatch`.
  static func checkDefaults(
    _ differences: [SchemaDifference], _ defaults: StoredDefaults
  ) throws(Realm.Error) {
    for difference in differences {
      guard case .addColumn(let column) = difference.change,
        defaults.known(column, in: difference.className) != nil
      else { continue }
      throw Realm.Error(
        .schemaMismatch,
        "\(difference.text) Its type cannot read zero or empty, which the objects of a "
          + "synchronized file would hold; make it optional.")
    }
  }
}
