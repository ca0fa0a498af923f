// EncryptedTarget.swift: bytes → choices → an encrypted image with bytes changed, sectors moved and
// older ones put back, by an attacker without the key. Invariant checked: all content read is that
// of one of the two committed versions.

import Engine
import Fuzz

enum EncryptedTarget {
  static let target = FuzzTarget(
    name: "encrypted",
    judges: "encrypted bytes changed without the key: no row that was never written",
    smokeCount: 100, seeds: { FuzzTarget.choiceSeeds("encrypted") }, run: { run($0) })

  private typealias Content = [String: [Int64: [Value]]]

  /// The image, and the content of its two versions.
  private static let honest: (base: MutantBase, contents: [Content])? = {
    guard let base = MutantBase.all.first(where: { $0.key != nil }) else { return nil }
    var contents: [Content] = []
    for slot in [nil] + Layout.slotOffsetsBytes {
      var image = base.bytes
      // Without the newest slot the version before is found.
      if let slot { image.replaceSubrange(slot..<slot + 4096, with: repeatElement(0, count: 4096)) }
      if let content = read(image, base.key) { contents.append(content.rows) }
    }
    return (base, contents)
  }()

  /// The readable content, and whether it was complete; nil when the image does not open.
  private static func read(_ image: [UInt8], _ key: [UInt8]?) -> (rows: Content, isWhole: Bool)? {
    var options = Database.Options()
    options.encryptionKey = key
    guard let database = try? Database.open(backend: FuzzBackend(image), options: options),
      let snapshot = try? database.snapshot()
    else { return nil }
    var (rows, isWhole): (Content, Bool) = ([:], true)
    for table in snapshot.tables {
      var found: [Int64: [Value]] = [:]
      do throws(EngineError) {
        try snapshot.forEach(in: table.name) { key, values throws(EngineError) in
          found[key] = values
        }
      } catch { isWhole = false }
      rows[table.name] = found
    }
    snapshot.release()
    _ = try? database.close()
    return (rows, isWhole)
  }

  private static func run(_ input: [UInt8]) -> FuzzOutcome {
    guard let (base, contents) = honest, contents.count >= 2 else {
      return .finding("the honest image does not open")
    }
    var choices = MutantChoices(bytes: input)
    let image = Mutator.mutant(of: base, &choices)
    guard let (rows, isWhole) = read(image, base.key) else { return .refused }
    let isKnown = contents.contains { content in
      guard isWhole else {
        return rows.allSatisfy { table, found in
          found.allSatisfy { content[table]?[$0.key] == $0.value }
        }
      }
      return rows == content
    }
    // A file of zeros is not a database yet, and becomes a new one.
    guard isKnown || rows.isEmpty else {
      return .finding("rows that were never committed were read")
    }
    return isWhole ? .accepted : .refused
  }
}
