// EngineTargets.swift: the fuzz targets of the engine: its file format, the files next to a
// database, and rows, versions and numbers.

import Engine
import Fuzz

extension FuzzTarget {
  /// The targets of the engine.
  package static let ofEngine = [
    HeaderTarget.target, SlotTarget.target, ImageTarget.target, NodeTarget.target,
    FreeListTarget.target, FileTarget.target, EncryptedTarget.target, LockFileTarget.target,
    FolderTarget.target, PackedTarget.target, ObjectTarget.target, DecimalTarget.target,
  ]

  /// Targets with a planted bug, which every campaign must find; one of them reads its bytes in the
  /// same way as the engine.
  package static let planted = [
    MagicTarget.target, CanaryTrapTarget.target, CanaryTarget.target,
  ]
}

extension FuzzMeasure {
  /// Opening and full verification of the two smallest files.
  package static func open() {
    let files = MutantBase.all.prefix(2).map(\.bytes)
    measure("open and verify", files.count) { number in
      guard let database = try? Database.open(backend: FuzzBackend(files[number])) else { return }
      _ = try? database.verify()
      _ = try? database.close()
    }
  }
}
