// Main.swift: `document-saver`, a program under test of the lab: it saves documents with blobs, and
// checks what a crash left of them. What it does follows from its arguments alone. As one of
// several writers it adds to a counter.

import DocumentStore
import Foundation

@main
struct DocumentSaver {
  private static let path = "notes.cblite2"

  private static var options: DataFile.Options {
    var options = DataFile.Options()
    options.sync = .full
    options.entropy = { [UInt8](repeating: 7, count: $0) }
    options.nanoseconds = { 1_700_000_000_000_000_000 }
    return options
  }

  private static func contents(_ number: Int) -> [UInt8] {
    [UInt8](repeating: UInt8(number), count: 100 + number)
  }

  /// Saves documents 1 to `count`, and prints the number of each when it is durable.
  private static func save(_ count: Int) throws {
    let file = try DataFile(path: path, options: options)
    for number in 1...count {
      try file.write { transaction in
        let digest = try transaction.putBlob(contents(number))
        let body = """
          {"number": \(number), "picture": {"@type": "blob", "digest": "\(digest)"}}
          """
        try transaction.collection().save("note-\(number)", body: transaction.encode(json: body))
      }
      print(number)
      fflush(nil)
    }
    try file.close()
  }

  /// What is wrong with the data file; nil when nothing is.
  private static func fault() throws -> String? {
    let output = ProcessInfo.processInfo.environment["FAULTLINE_OUTPUT"] ?? "/dev/null"
    let acknowledged = try String(contentsOfFile: output, encoding: .utf8).split(separator: "\n")
    let file = try DataFile(path: path, options: options)
    let found = try file.verify()
    guard found.problems.isEmpty else { return "verify: \(found.problems[0])" }
    var isMissing = false
    for number in 1...9 {
      let digest = BlobDigest(of: contents(number))
      let (isThere, blob) = try file.read { snapshot in
        (try snapshot.collection().document("note-\(number)") != nil, try snapshot.blob(digest))
      }
      if isThere, blob != contents(number) { return "the blob of a note is lost" }
      if isThere, isMissing { return "a note is missing before another" }
      if !isThere, number <= acknowledged.count { return "an acknowledged note is lost" }
      isMissing = isMissing || !isThere
    }
    try file.close()
    return nil
  }

  static func main() {
    let words = Array(CommandLine.arguments.dropFirst())
    do {
      switch (words.first, words.count) {
      case ("save", 2): try save(max(1, min(Int(words[1]) ?? 1, 9)))
      case ("check", 1):
        if let fault = try fault() {
          print(fault)
          exit(1)
        }
      case ("add", 3): try Counting(options).add(max(1, Int(words[1]) ?? 1), as: words[2])
      case ("check-additions", _):
        let counts = words.dropFirst().map { $0.split(separator: ":") }
        let pairs = counts.map { (String($0[0]), Int($0.last ?? "") ?? 0) }
        if let fault = try Counting(options).fault(Dictionary(uniqueKeysWithValues: pairs)) {
          print(fault)
          exit(1)
        }
      default:
        print("usage: document-saver save COUNT | check")
        print("       document-saver add COUNT NAME | check-additions NAME:COUNT…")
        exit(2)
      }
    } catch {
      print("the data file cannot be used\n\(error)")
      exit(1)
    }
  }
}
