// DocumentPromise.swift: the names and sentences of what a crash may and may not leave of a data
// file. The numbers are those of docs/reference/document-lab.md.

/// An invariant of data files.
package enum DocumentPromise: Int, Sendable, Hashable, CaseIterable {
  case readable = 1
  case prefix
  case atomic
  case lastSequence
  case uniqueSequences
  case newSequences
  case oneHome
  case flags
  case staleWrites
  case bodies
  case sharedKeys
  case valueIndexes
  case fullText
  case arrays
  case predictions
  case indexList
  case expiration
  case purges
  case blobs
  case creation
  case upgrade
  case rowNumbers
  case compaction
  case collections
  case snapshots

  /// Whether damage of the database file at rest that a verification accepts leaves it true.
  ///
  /// SQLite has no checksums: where a changed byte is a value of its own, another value is read. A
  /// verification decodes bodies, and does not compare them with the digests of their revisions;
  /// so the name of a blob in a body can be another text, too.
  package var holdsOnDamagedMedia: Bool {
    switch self {
    case .prefix, .atomic, .newSequences, .bodies, .expiration, .purges, .blobs: false
    default: true
    }
  }

  /// Its name in findings and scenarios.
  package var name: String { "\(self)" }

  /// The promise of a name.
  package init?(named name: String) {
    guard let found = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = found
  }

  /// The sentence.
  package var sentence: String {
    switch self {
    case .readable: "the file opens, SQLite finds no damage, and its tables are those of its format"
    case .prefix: "the contents are those after one commit, and no acknowledged one is missing"
    case .atomic: "no transaction is there in part"
    case .lastSequence: "no sequence is above the collection's last one"
    case .uniqueSequences: "no sequence occurs twice, and each is at least 1"
    case .newSequences: "the next sequence is above every one that was given out"
    case .oneHome: "a document is in one table, a tombstone among the dead and no other there"
    case .flags: "flags are known ones, and no subsequence is below 0"
    case .staleWrites: "a change on a revision that is no longer current fails and changes nothing"
    case .bodies: "each body and each tree of revisions decodes, and they match their record"
    case .sharedKeys: "every number of a key is in the list, and no key in the list is a text"
    case .valueIndexes: "a value index answers as a walk over all documents does"
    case .fullText: "a full-text index finds the words that the documents have"
    case .arrays: "an array index has the items of the documents, in their order"
    case .predictions: "a predictive index has the model's results for the documents"
    case .indexList: "each listed index has its SQL objects, and there are no others"
    case .expiration: "a purge removes what is due, all of it, and nothing else"
    case .purges: "a purged document leaves no row, a deleted one leaves one tombstone"
    case .blobs: "each blob that a kept revision names is there and is what its name says"
    case .creation: "a file is created whole, or not at all"
    case .upgrade: "format number and tables agree, and an open completes the upgrade"
    case .rowNumbers: "row numbers, which join documents to indexes, stay as they are"
    case .compaction: "compaction changes no contents"
    case .collections: "both tables of a collection come and go together"
    case .snapshots: "a reader sees one commit for as long as it reads"
    }
  }
}
