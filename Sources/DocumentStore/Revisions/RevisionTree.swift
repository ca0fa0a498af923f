// RevisionTree.swift: the revisions of a document, and which of them remote databases have.
// Invariants: the current revision is the first; parents lead to roots, without cycles; a revision
// is a leaf if and only if none has it as its parent.

/// A document's revisions.
public struct RevisionTree: Hashable, Sendable {
  /// The revisions, the current one first.
  public internal(set) var revisions: [Revision] = []
  /// For each remote database the index of the revision that it has.
  public internal(set) var remotes: [UInt16: Int] = [:]
  /// Indexes of revisions that a server refused.
  public internal(set) var rejected: [Int] = []

  /// Most revisions that an index of two bytes can name.
  static let countMax = 0xffff

  /// A tree without revisions.
  public init() {}

  /// The current revision; nil without any.
  public var current: Revision? { revisions.first }

  /// Whether there is a live leaf besides the current revision.
  public var isConflicted: Bool { revisions.dropFirst().contains(where: \.isLiveLeaf) }

  /// The index of a revision.
  /// - Parameter id: Its ID.
  /// - Returns: The index; nil when the tree does not have it.
  /// - Complexity: O(revisions).
  public func index(of id: RevisionID) -> Int? { revisions.firstIndex { $0.id == id } }

  /// A revision.
  /// - Parameter id: Its ID.
  /// - Returns: The revision; nil when the tree does not have it.
  /// - Complexity: O(revisions).
  public func revision(_ id: RevisionID) -> Revision? { index(of: id).map { revisions[$0] } }

  /// The indexes from a revision to its root.
  /// - Parameter index: The revision's index.
  /// - Returns: The indexes, the revision's own first.
  /// - Complexity: O(revisions).
  public func branch(from index: Int) -> [Int] {
    var (line, next) = ([Int](), Int?(index))
    while let index = next {
      line.append(index)
      next = revisions[index].parent
    }
    return line
  }

  /// The record's flags for this tree.
  var recordFlags: RecordFlags {
    var flags: RecordFlags = []
    if current?.flags.contains(.deleted) == true { flags.insert(.deleted) }
    if isConflicted { flags.insert(.conflicted) }
    if revisions.contains(where: { $0.flags.contains(.hasAttachments) }) {
      flags.insert(.hasAttachments)
    }
    if !rejected.isEmpty { flags.insert(.rejected) }
    return flags
  }

  /// Sorts the revisions, and updates all indexes.
  mutating func sort() {
    let order = revisions.indices.sorted { revisions[$0].precedes(revisions[$1]) }
    keep(order)
  }

  /// Keeps some revisions, in the given order; a removed parent is replaced by the nearest ancestor
  /// that is kept.
  mutating func keep(_ order: [Int]) {
    var places = [Int?](repeating: nil, count: revisions.count)
    for (place, index) in order.enumerated() { places[index] = place }
    let old = revisions
    revisions = order.map { index in
      var (revision, parent) = (old[index], old[index].parent)
      while let ancestor = parent, places[ancestor] == nil { parent = old[ancestor].parent }
      revision.parent = parent.flatMap { places[$0] }
      return revision
    }
    remotes = remotes.compactMapValues { places[$0] }
    rejected = rejected.compactMap { places[$0] }
  }
}
