// SyncCodecTarget.swift: bytes → a changeset or an entry → the same bytes; then the changeset is
// merged, whatever its content. Invariants checked: decoded bytes have one encoding; a changeset
// that fits the log is merged without breaking an invariant, and its entry reads back.

import Fuzz
import SyncCore

enum SyncCodecTarget {
  static let target = FuzzTarget(
    name: "sync-codec",
    judges: "bytes of changesets and entries: read, written, merged", smokeCount: 1000,
    seeds: { seeds }, run: { run($0) }
  )

  /// Entries and changesets of a random world.
  private static let seeds: [[UInt8]] = {
    var world = SyncWorld(MutantChoices(seed: 11))
    _ = world.run(steps: 90)
    let entries = world.server.entries.prefix(24)
    return entries.map { $0.encoded() } + entries.map { $0.changeset.encoded() }
  }()

  private static func run(_ input: [UInt8]) -> FuzzOutcome {
    if let entry = try? SyncEntry(decoding: input) {
      guard entry.encoded() == input else { return .finding("an entry has two spellings") }
      return taken(entry)
    }
    guard var changeset = try? SyncChangeset(decoding: input) else { return .refused }
    guard changeset.encoded() == input else { return .finding("a changeset has two spellings") }
    var merger = SyncMerger()
    changeset = SyncChangeset(
      client: SyncClient(1), sequence: 1, base: .zero, stamp: SyncStamp(bits: 1),
      operations: changeset.operations)
    do {
      let entry = try merger.accept(changeset)
      guard try SyncEntry(decoding: entry.encoded()) == entry else {
        return .finding("an entry reads back as another")
      }
    } catch { return .finding("a first changeset is refused: \(error)") }
    return merger.breach().map { .finding($0) } ?? .accepted
  }

  /// A client receives an entry with arbitrary content from a server.
  private static func taken(_ entry: SyncEntry) -> FuzzOutcome {
    var merger = SyncMerger()
    var entry = entry
    entry.version = SyncVersion(1)
    entry.changeset.sequence = 1
    entry.changeset.base = .zero
    do { try merger.take(entry) } catch { return .refused }
    return merger.breach().map { .finding($0) } ?? .accepted
  }
}
