// DataFileTarget.swift: bytes are the database of a data file with indexes, damaged anywhere.
// Invariants checked: the file is never trusted: it opens or is rejected, is read in full, checked,
// changed and checked again without a trap, a hang or unbounded memory. A file that passes `verify`
// accepts a document, contains it afterwards, and passes again.

import DocumentStore
import Fleece
import Fuzz

enum DataFileTarget {
  static let target = FuzzTarget(
    name: "data-file", judges: "damaged data files: opened, read, verified, changed",
    smokeCount: 40, seeds: { [DataFileSample.bytes] }, run: { run($0) }
  ).with {
    $0.mutate = { input, _, choices in mutated(input, &choices) }
    $0.sizeMax = 1 << 19
  }

  /// Numbers of cells and pages, which have no checksums, and texts of the schema and of rows.
  private static func mutated(_ input: [UInt8], _ choices: inout MutantChoices) -> [UInt8]? {
    let kind = choices.below(5)
    guard input.count >= 4096, kind > 0 else { return kind == 0 ? nil : DataFileSample.bytes }
    var bytes = input
    for _ in 0...choices.below(4) {
      let page = choices.below(bytes.count / 4096) * 4096
      let inPage = choices.below(4) == 0 ? choices.below(64) : 4095 - choices.below(2500)
      let number = kind == 1 ? UInt64(choices.below(256)) : choices.interesting()
      for index in 0..<[1, 1, 2, 4, 8][choices.below(5)] where page + inPage + index < bytes.count {
        bytes[page + inPage + index] = UInt8(truncatingIfNeeded: number >> UInt64(8 * index))
      }
    }
    return bytes
  }

  private static func run(_ input: [UInt8]) -> FuzzOutcome {
    guard let bundle = DataFileSample.place(input) else { return .refused }
    defer { DataFileSample.remove(bundle) }
    guard let file = try? DataFile(path: bundle, options: DataFileSample.options) else {
      return .refused
    }
    defer { try? file.close() }
    let found = try? file.verify()
    guard use(file) else { return .refused }
    guard let found, found.problems.isEmpty, found.unlistedCount == 0 else { return .accepted }
    guard save(file) else { return .accepted }
    guard let after = try? file.verify() else { return .finding("it cannot be verified any more") }
    guard let problem = after.problems.first else { return .accepted }
    return .finding("sound, and after one document \(problem.rule.rawValue)")
  }

  /// Reads everything.
  private static func use(_ file: DataFile) -> Bool {
    let outcome: Void? = try? file.read { snapshot in
      for name in try snapshot.collections() {
        let store = try snapshot.collection(name)
        _ = (try? store.indexes(), try? store.nextExpiration())
        try store.enumerate(.changes(since: 0)) { record in
          _ = try? TreeDocument(record)
          _ = record.body.map { try? snapshot.json(of: $0) }
          return true
        }
      }
    }
    return outcome != nil
  }

  /// Saves a document, and reads it back.
  private static func save(_ file: DataFile) -> Bool {
    let id = "fuzz-new"
    let saved = try? file.write { transaction in
      let body = try transaction.encode(json: #"{"name":"new","text":"running","list":[1,"x"]}"#)
      return try transaction.collection().save(id, body: body).record.body
    }
    guard let saved else { return false }
    return (try? file.read { try $0.collection().record(id)?.body }) == saved
  }
}
