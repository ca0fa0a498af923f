// KnownFormat.swift: formats that can be opened to see whether they are whole, recognized by their
// first bytes, or by the name where the bytes say nothing.

import Recording

/// A format that Python or a tool of the system can read.
enum KnownFormat: String, Sendable, CaseIterable {
  case sqlite, lmdb, gdbm, leveldb, git
  case json, toml, yaml, xml, zip, gzip, bzip2, xz, tar, png, jpeg, pdf

  /// What people call it.
  var title: String {
    switch self {
    case .sqlite: "an SQLite database"
    case .lmdb: "an LMDB database"
    case .gdbm: "a GDBM database"
    case .leveldb: "a LevelDB database"
    case .git: "a git repository"
    case .bzip2: "a bzip2 file"
    case .xz: "an xz file"
    case .xml: "an XML file"
    default: "a \(rawValue.uppercased()) file"
    }
  }

  /// The packages of Debian with which it is read; any of them will do.
  var packages: [String] {
    switch self {
    case .lmdb: ["python3-lmdb", "lmdb-utils"]
    case .gdbm: ["python3-gdbm"]
    case .leveldb: ["python3-plyvel"]
    case .git: ["git"]
    case .yaml: ["python3-yaml"]
    case .png: ["python3-pil", "pngcheck"]
    case .jpeg: ["python3-pil", "libjpeg-turbo-progs", "jpeginfo"]
    case .pdf: ["python3-pypdf", "qpdf", "poppler-utils"]
    case .sqlite, .json, .toml, .xml, .zip, .gzip, .bzip2, .xz, .tar: ["python3"]
    }
  }

  /// Whether it is a directory and not a file.
  var isDirectory: Bool { self == .leveldb || self == .git }

  /// Whether its reader says what identifies its rows.
  var hasRows: Bool { [.sqlite, .lmdb, .gdbm, .leveldb].contains(self) }

  /// Recognizes a directory by the names in it; nil for none.
  init?(entries: [FileName: InodeNumber]) {
    func has(_ name: String) -> Bool { entries[FileName(name)] != nil }
    if has("HEAD") && has("objects") && has("refs") {
      self = .git
    } else if has("CURRENT") && !has("IDENTITY"),
      entries.keys.contains(where: { $0.description.hasPrefix("MANIFEST-") })
    {
      self = .leveldb
    } else {
      return nil
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
