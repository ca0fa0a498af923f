// Changesets.swift: changesets and logs in few words.

import SyncCore

/// A changeset by its numbers.
func changeset(
  _ client: UInt64, _ sequence: UInt64 = 1, base: UInt64, stamp: UInt64,
  _ operations: [SyncOperation] = []
) -> SyncChangeset {
  SyncChangeset(
    client: SyncClient(client), sequence: sequence, base: SyncVersion(base),
    stamp: SyncStamp(bits: stamp), operations: operations)
}

/// A field of the dog.
func field(_ name: SyncText, _ steps: [SyncStep] = []) -> SyncField {
  SyncField(Alphabet.dog, steps, name)
}

/// A log whose first version is another client's changeset of operations.
func log(beginningWith operations: [SyncOperation]) throws -> SyncMerger {
  var merger = SyncMerger()
  try merger.accept(changeset(9, base: 0, stamp: 1, operations))
  return merger
}
