// Batch.swift [U]: the transaction that is open on a thread, so that calls within it take part in
// it. Safety: `@unchecked Sendable` because a batch is read only by the thread that set it, which
// the owner's number says; a thread reads its own number only while it runs inside the batch.

import DocumentStore
import Glibc
import Synchronization

/// An open transaction, what is done after its commit, and what is taken back with it.
final class Batch {
  /// How much was noted at some time.
  struct Mark {
    let changes: Int
    let blobs: Int
    let saves: Int
  }

  let transaction: WriteTransaction
  /// Changed documents, in order.
  private(set) var changes: [(collection: CollectionName, id: String)] = []
  private var blobs: [Blob] = []
  /// Documents that were saved, with the state that they had before.
  private var saves: [(document: Document, before: Document.State)] = []

  init(_ transaction: WriteTransaction) { self.transaction = transaction }

  var mark: Mark { Mark(changes: changes.count, blobs: blobs.count, saves: saves.count) }

  func note(_ id: String, in collection: Collection) { changes.append((collection.path, id)) }

  func note(_ newBlobs: [Blob]) { blobs += newBlobs }

  /// Gives a saved document its new revision.
  func save(_ document: Document, as base: DocumentBase, in collection: Collection) {
    saves.append((document, document.saved(as: base, in: collection)))
    note(document.id, in: collection)
  }

  /// Takes back what was noted after a mark.
  func rollBack(to mark: Mark) {
    for save in saves[mark.saves...].reversed() { save.document.restore(save.before) }
    saves.removeSubrange(mark.saves...)
    changes.removeSubrange(mark.changes...)
    blobs.removeSubrange(mark.blobs...)
  }

  /// After the commit.
  func finish(in file: DataFile) {
    for blob in blobs { blob.installed(in: file) }
  }
}

/// The place of a database's open batch.
@safe final class BatchSlot: @unchecked Sendable {
  private let owner = Atomic<UInt>(0)
  private var batch: Batch?

  /// The batch that is open on this thread.
  var current: Batch? {
    owner.load(ordering: .acquiring) == UInt(pthread_self()) ? batch : nil
  }

  func enter(_ batch: Batch) {
    self.batch = batch
    owner.store(UInt(pthread_self()), ordering: .releasing)
  }

  func leave() {
    owner.store(0, ordering: .releasing)
    batch = nil
  }
}
