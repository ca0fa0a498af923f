// SyncRecorder+Rows.swift: the rows of a batch, which the realm encodes where it adds them.

import Engine
import ObjectDatabase
import SyncCore

extension SyncRecorder {
  private static let types = RecordedRowForm.Types(
    int: SyncValue.int(0).encoded()[0], double: SyncValue.double(bits: 0).encoded()[0],
    text: SyncValue.text("").encoded()[0], isFalse: SyncValue.bool(false).encoded()[0],
    isTrue: SyncValue.bool(true).encoded()[0])
  private static let intKey = SyncKey.int(0).encoded()[0]
  private static let textKey = SyncKey.text("").encoded()[0]

  func rowForm(of table: String) throws(EngineError) -> RecordedRowForm {
    let described = try described(table)
    let lead = operations.rowLead
    guard !lead.isEmpty else { throw RowReader<WriteTransaction>.noPrimaryKey(described) }
    return RecordedRowForm(
      key: .init(lead), intKey: .init(lead + [Self.intKey]), textKey: .init(lead + [Self.textKey]),
      columns: described.names.indices.map { position in
        .init(
          set: .init(operations.lead(of: position, isDefault: false)),
          setDefault: .init(operations.lead(of: position, isDefault: true)))
      },
      types: Self.types)
  }

  func encoded(key: Value?, of table: String) throws(EngineError) -> [UInt8] {
    guard let key, let id = SyncKey(key) else {
      throw RowReader<WriteTransaction>.noPrimaryKey(try described(table))
    }
    return id.encoded()
  }

  func encoded(_ value: Value) -> [UInt8] { (SyncValue(value) ?? .null).encoded() }

  func didInsert(
    rows: [UInt8], into table: String, _ rowCount: Int, valueCount: Int, lastKey: Value
  ) {
    operations.append(
      rows: rows, rowCount + valueCount, lastKey: SyncKey(lastKey) ?? .null)
  }
}
