// SlotTarget.swift: bytes → choices → root slots and the file header of an image damaged, most of
// them with corrected checksums. Invariant checked: an opened version is one that a valid slot
// names.

import Engine
import Fuzz

enum SlotTarget {
  static let target = FuzzTarget(
    name: "slots", judges: "root slots changed and sealed: only a version of a whole slot opens",
    smokeCount: 300, seeds: { FuzzTarget.choiceSeeds("slots") }, run: { run($0) })

  private static func run(_ input: [UInt8]) -> FuzzOutcome {
    var choices = MutantChoices(bytes: input)
    let base = MutantBase.chooseForSlots(&choices)
    let image = Mutator.mutantSlots(of: base, &choices)
    let backend = FuzzBackend(image)
    var options = Database.Options()
    options.encryptionKey = base.key
    guard let database = try? Database.open(backend: backend, options: options) else {
      return .refused
    }
    let version = database.version
    _ = try? database.close()
    let named = wholeVersions(image)
    // An image with only zeros, or with the beginning of a creation, becomes a new database.
    guard named.contains(version.rawValue) || (named.isEmpty && version == .first) else {
      return .finding("version \(version) opened, whole slots name \(named)")
    }
    return JudgedImage.judge(image, key: base.key)
  }

  /// The versions that records with a right checksum name, without the engine's reading of slots.
  private static func wholeVersions(_ image: [UInt8]) -> [UInt64] {
    guard image.count >= Layout.headerSizeBytes else { return [] }
    let copies = Layout.slotOffsetsBytes.flatMap { [$0, $0 + Layout.slotCopyDistanceBytes] }
    return copies.filter { copy in
      image.number(copy) == image.checksum(copy + 8..<copy + Layout.slotRecordBytes)
    }.map { image.number($0 + SlotField.version) }
  }
}
