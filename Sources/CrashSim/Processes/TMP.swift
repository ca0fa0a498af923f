// TMP.swift: not to be committed.
import Engine
extension Database {
  var path: String { "" }
  func compact() throws(EngineError) -> Bool { false }
  func writeCopy(to path: String, encryptionKey: [UInt8]?) throws(EngineError) {}
}
