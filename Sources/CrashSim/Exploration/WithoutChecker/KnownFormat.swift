// KnownFormat.swift: formats that can be opened to see whether they are whole, recognized by their
// first bytes, or by the name where the bytes say nothing.

/// A format that Python or a tool of the system can read.
enum KnownFormat: String, Sendable, CaseIterable {
  case sqlite, lmdb, gdbm, json, toml, yaml, xml, zip, gzip, bzip2, xz, tar, png, jpeg, pdf

  /// What people call it.
  var title: String {
    switch self {
    case .sqlite: "an SQLite database"
    case .lmdb: "an LMDB database"
    case .gdbm: "a GDBM database"
    case .bzip2: "a bzip2 file"
    case .xz: "an xz file"
    case .xml: "an XML file"
    default: "a \(rawValue.uppercased()) file"
    }
  }

  /// Files beside one that its reader needs, by what their names add.
  var companions: [String] { self == .sqlite ? ["-wal", "-journal"] : [] }

  /// Whether an opened file of the format is whole from its beginning on, so that it never fails
  /// to open while it is made.
  var isWholeWhileMade: Bool { self == .sqlite }

  /// Recognizes a file; nil for none.
  init?(path: String, bytes: [UInt8]) {
    func begins(_ magic: String) -> Bool { bytes.starts(with: magic.utf8) }
    let name = path.lowercased()
    if begins("SQLite format 3\0") {
      self = .sqlite
    } else if bytes.count > 20, bytes[16..<20].elementsEqual([0xde, 0xc0, 0xef, 0xbe]) {
      self = .lmdb
    } else if bytes.starts(with: [0xcf, 0x9a, 0x57, 0x13])
      || bytes.starts(with: [0xcd, 0x9a, 0x57, 0x13])
    {
      self = .gdbm
    } else if begins("PK\u{3}\u{4}") || begins("PK\u{5}\u{6}") {
      self = .zip
    } else if bytes.starts(with: [0x1f, 0x8b]) {
      self = .gzip
    } else if begins("BZh") {
      self = .bzip2
    } else if bytes.starts(with: [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0]) {
      self = .xz
    } else if bytes.starts(with: [0x89, 0x50, 0x4e, 0x47]) {
      self = .png
    } else if bytes.starts(with: [0xff, 0xd8, 0xff]) {
      self = .jpeg
    } else if begins("%PDF-") {
      self = .pdf
    } else if bytes.count > 262, bytes[257..<262].elementsEqual("ustar".utf8) {
      self = .tar
    } else if begins("<?xml") || name.hasSuffix(".xml") {
      self = .xml
    } else if name.hasSuffix(".toml") {
      self = .toml
    } else if name.hasSuffix(".yaml") || name.hasSuffix(".yml") {
      self = .yaml
    } else if name.hasSuffix(".json") || begins("{\"") || begins("{\n") {
      self = .json
    } else {
      return nil
    }
  }
}
