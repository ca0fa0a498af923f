// Counting.swift: several processes that write to one data file at the same moment, and what must
// hold when some of them were killed: each addition that was acknowledged is there, whole and once.

import DocumentStore
import Foundation

/// One of several writers of a data file, and the judge of what they left.
struct Counting {
  let file: DataFile

  init(_ options: DataFile.Options) throws {
    file = try DataFile(path: "counts.cblite2", options: options)
  }

  /// Adds to the counter so many times, and prints the number of each addition after its commit.
  ///
  /// Each addition is one transaction: the counter, which all writers change, and a document of its
  /// own with a property that no other document has, so that each commit adds to the shared keys.
  func add(_ count: Int, as name: String) throws {
    for number in 1...count {
      var triesLeft = 10
      while true {
        do {
          try file.write { try Self.add(number, as: name, in: $0) }
          break
        } catch let error as DocumentStoreError where error.code == .busy && triesLeft > 0 {
          triesLeft -= 1
        }
      }
      print(name, number)
      fflush(nil)
    }
  }

  private static func add(_ number: Int, as name: String, in transaction: WriteTransaction) throws {
    let store = try transaction.collection()
    let counter = try store.document("counter")
    let count = try count(counter, transaction.snapshot) + 1
    let body = #"{"by":"\#(name)","count":\#(count)}"#
    try store.save(
      "counter", body: transaction.encode(json: body), parent: counter?.current?.id)
    try store.save(
      "\(name)-\(number)", body: transaction.encode(json: #"{"\#(name)\#(number)":\#(number)}"#))
  }

  private static func count(_ counter: TreeDocument?, _ snapshot: Snapshot) throws -> Int {
    guard let body = counter?.record.body else { return 0 }
    struct Counter: Decodable { let count: Int }
    return try JSONDecoder().decode(Counter.self, from: Data(snapshot.json(of: body).utf8)).count
  }

  /// Judges what writers left.
  /// - Parameter acknowledged: For each writer the number of additions that it printed.
  /// - Returns: What is wrong; nil when nothing is.
  /// - Throws: What the file throws.
  func fault(_ acknowledged: [String: Int]) throws -> String? {
    if let problem = try file.verify().problems.first { return "verify: \(problem)" }
    return try file.read { snapshot in
      let store = try snapshot.collection()
      func json(_ id: String) throws -> String? {
        try store.document(id)?.record.body.map { try snapshot.json(of: $0) }
      }
      var total = 0
      for (name, count) in acknowledged.sorted(by: { $0.key < $1.key }) {
        var number = 1
        while let found = try json("\(name)-\(number)") {
          let expected = #"{"\#(name)\#(number)":\#(number)}"#
          guard found == expected else { return "\(name)-\(number) is \(found)" }
          number += 1
        }
        total += number - 1
        guard (count...count + 1).contains(number - 1) else {
          return "\(name) acknowledged \(count) additions, and \(number - 1) are there"
        }
      }
      let counted = try Self.count(store.document("counter"), snapshot)
      return counted == total ? nil : "the counter says \(counted) after \(total) additions"
    }
  }
}
