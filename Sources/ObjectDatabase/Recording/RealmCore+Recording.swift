// RealmCore+Recording.swift: when a realm has a recorder (ChangeRecorder.swift), and how it is
// notified at the begin and end of a transaction. Invariant: `recorder` is set exactly while a
// transaction is open on a file that needs one.

import Engine
import FoundationEssentials

extension _RealmCore {
  /// Sets the recorder of a transaction that was just begun, if the file needs one.
  /// - Throws: `Realm.Error` with code `.schemaMismatch` when the configuration has none.
  func startRecording(_ begun: WriteTransaction) throws(Realm.Error) {
    guard begun.hasTable(ChangeRecording.markTable) else { return }
    guard let recording = configuration.recording else { throw Self.notRecorded(store.identity) }
    let recorder = knownRecorder ?? recording.makeRecorder()
    knownRecorder = recorder
    self.recorder = recorder
    try translating { () throws(EngineError) in try recorder.begin(begun, of: store.database) }
  }

  /// The transaction is over.
  /// - Parameter version: The version that it made; nil when it is not known.
  func stopRecording(_ version: Version?) {
    recorder?.end(version)
    recorder = nil
  }

  static func notRecorded(_ identity: String) -> Realm.Error {
    Realm.Error(
      .schemaMismatch,
      "\(identity) is synchronized, and is written by synchronized realms only: what others write "
        + "would never reach the server; open it with a synchronized configuration")
  }

  /// Writes a copy that is not a second file of the same client.
  /// - Throws: `EngineError`, with code `.readOnly` where the realm cannot be written.
  func writeCopyOfRecorded(to path: String, _ encryptionKey: Data?) throws(EngineError) {
    let write = try store.database.beginWrite()
    defer { write.cancel() }
    guard let recording = configuration.recording else {
      throw EngineError(
        code: .schemaMismatch, message: Self.notRecorded(store.identity).message)
    }
    try recording.prepareCopy(write)
    try write.writeCopy(to: path, encryptionKey: encryptionKey.map { [UInt8]($0) })
  }

  /// Notifies the recorder of an event that is not a change of the storage layer.
  @inline(__always)
  func record(_ body: (any ChangeRecorder) throws(EngineError) -> Void) {
    // The pending rows of a batch are recorded first.
    guard let recorder, write != nil else { return }
    do throws(EngineError) { try body(recorder) } catch { fail(Realm.Error(error)) }
  }
}

extension _Row {
  /// The property, in the form passed to recorders.
  var place: CollectionPath {
    CollectionPath(
      table: access.name, key: key, column: access.info.properties[property].columnName)
  }
}
