// DataFileSample.swift: [U] a small data file as bytes, and files for inputs. Safety: paths and
// buffers are valid during the calls.

import DocumentStore
import Fleece
import Glibc

enum DataFileSample {
  static let options: DataFile.Options = {
    var options = DataFile.Options()
    options.entropy = { count in (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37) } }
    options.nanoseconds = { 1_000_000_000 }
    options.busyTimeoutMilliseconds = 0
    return options
  }()

  /// Documents, tombstones and indexes of three kinds.
  static let bytes: [UInt8] = {
    guard let bundle = place(nil) else { preconditionFailure("no folder for temporary files") }
    defer { remove(bundle) }
    do {
      let file = try DataFile(path: bundle, options: options)
      try file.write { transaction in
        let store = try transaction.collection()
        for number in 0..<12 {
          let json =
            #"{"name":"N\#(number)","text":"some words \#(number)","list":[\#(number),null]}"#
          let saved = try store.save("d\(number)", body: try transaction.encode(json: json))
          if number % 4 == 0 {
            try store.save("d\(number)", body: nil, parent: saved.current?.id)
          } else if number % 4 == 1 {
            try store.setExpiration(5_000, of: "d\(number)")
          }
        }
        let words = IndexSpecification.Kind.fullText(FullTextOptions())
        for index in [
          IndexSpecification("value", .value, json: #"[[".name"]]"#),
          IndexSpecification("words", words, json: #"[[".text"]]"#),
          IndexSpecification("items", .array(path: "list"), json: "[]"),
        ] { try store.createIndex(index) }
      }
      try file.close()
    } catch { preconditionFailure("a new data file cannot be made: \(error)") }
    return contents(of: bundle + "/db.sqlite3")
  }()

  /// A bundle of this process, with a database or without.
  static func place(_ bytes: [UInt8]?) -> String? {
    let parent = unsafe access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
    let bundle = "\(parent)/faultline-fuzz-\(getpid()).cblite2"
    remove(bundle)
    guard let bytes else { return bundle }
    guard unsafe mkdir(bundle, 0o700) == 0,
      let file = unsafe fopen(bundle + "/db.sqlite3", "wb")
    else { return nil }
    _ = unsafe fwrite(bytes, 1, bytes.count, file)
    _ = unsafe fclose(file)
    return bundle
  }

  static func remove(_ bundle: String) {
    for ending in ["", "-wal", "-shm", "-journal"] {
      _ = unsafe unlink(bundle + "/db.sqlite3" + ending)
    }
    _ = unsafe rmdir(bundle)
  }

  private static func contents(of path: String) -> [UInt8] {
    guard let file = unsafe fopen(path, "rb") else { return [] }
    defer { _ = unsafe fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let count = unsafe fread(&bytes, 1, bytes.count, file)
    return Array(bytes[..<count])
  }
}
