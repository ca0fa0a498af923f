// LibraryStep.swift: the steps that LongLivedCollectionTests draw, and what is read after each.

/// How an asynchronous transaction ends.
enum LibraryEnd: Sendable, CaseIterable {
  case writeAsync
  case handOver
  case commit
  case cancel
  case nothing
}

/// Who writes beside the realm.
enum LibraryWriter: Sendable, CaseIterable {
  case queue
  case thread
  case actor
}

/// What is done.
enum LibraryStep: Sendable {
  case hold(Int, LibraryKind)
  case drop(Int)
  case begin
  case edit(LibraryEdit, throughHeld: Bool)
  case cancel
  case commit
  case commitSkipping(Int)
  case write([LibraryEdit], fails: Bool)
  case request([LibraryEdit], LibraryEnd)
  case cancelRequests
  case handOver(grouping: Bool, isForgotten: Bool)
  case settle
  case pump
  case refresh
  case autorefresh(Bool)
  case invalidate
  case freeze(Int, into: Int)
  case thaw(Int, into: Int)
  case readElsewhere(Int)
  case foreign([LibraryEdit], LibraryWriter)
  case observe(Int, isTold: Bool)
  case unobserve(Int)
  case compact
}

/// A step, and what is read after it.
struct LibraryMove: Sendable {
  var step: LibraryStep
  var look: LibraryLook
  /// Which of what is held is read: a bit for each, by its number modulo 64.
  var slots: UInt64
}
