// FormatReader.swift: whether a file can be opened, asked of a Python process that stays.
// The lab itself opens nothing: a reader that crashes on damaged bytes takes only its own process.
// Invariant: the same bytes get the same answer; one that cannot be had is no complaint.

import FaultFS
import Foundation
import Glibc
import LabCore
import Synchronization

/// What a reader says of a file.
enum ReadVerdict: Sendable, Hashable {
  /// It is whole; of a database, with what identifies its rows.
  case readable(rows: String?)
  case unreadable(String)
  /// Nothing here reads the format.
  case unknown

  var isReadable: Bool { if case .readable = self { true } else { false } }
}

/// Opens files of known formats, on copies.
final class FormatReader: Sendable {
  private struct State {
    var process: LineProcess?
    var isAbsent = false
    var known: [Int: ReadVerdict] = [:]
  }

  /// More answers than these are not remembered.
  private static let knownMax = 50_000
  private static let timeoutSeconds = 20

  private let directory: String
  private let state = Mutex(State())

  /// - Parameter directory: An existing directory of its own, for the copies.
  init(directory: String) { self.directory = directory }

  /// Says whether a file can be opened.
  /// - Parameters:
  ///   - format: What it is.
  ///   - bytes: Its content.
  ///   - companions: What lies beside it, by what the names add.
  /// - Returns: What its reader says.
  /// - Throws: `LabError` when a copy cannot be written, or the lab is asked to stop.
  func verdict(
    _ format: KnownFormat, _ bytes: [UInt8], companions: [String: [UInt8]]
  ) throws(LabError) -> ReadVerdict {
    var hasher = Hasher()
    hasher.combine(format)
    hasher.combine(bytes)
    for (name, content) in companions.sorted(by: { $0.key < $1.key }) {
      hasher.combine(name)
      hasher.combine(content)
    }
    let key = hasher.finalize()
    return try state.withLock { (state) throws(LabError) in
      if let verdict = state.known[key] { return verdict }
      let verdict = try ask(format, bytes, companions, &state)
      if state.known.count < Self.knownMax { state.known[key] = verdict }
      return verdict
    }
  }

  private func ask(
    _ format: KnownFormat, _ bytes: [UInt8], _ companions: [String: [UInt8]], _ state: inout State
  ) throws(LabError) -> ReadVerdict {
    guard !state.isAbsent else { return .unknown }
    guard let python = Self.python else {
      state.isAbsent = true
      return .unknown
    }
    // A child ends with the thread that started it, and checkers' threads end with each model: one
    // that has gone is started again before it counts against the file.
    for _ in 0..<2 {
      let path = try write(bytes, companions, format)
      if state.process == nil {
        state.process = try LineProcess(command: [python, "-c", Self.program])
      }
      guard let process = state.process else { return .unknown }
      let answer = try process.ask(
        Array("\(format.rawValue) \(path)\n".utf8), timeoutSeconds: Self.timeoutSeconds)
      if case .line(let line) = answer {
        return Self.verdict(String(decoding: line, as: UTF8.self))
      }
      state.process = nil
    }
    return .unreadable("its reader crashed or hung")
  }

  private static func verdict(_ text: String) -> ReadVerdict {
    if text.hasPrefix("ok") {
      return .readable(rows: text.count > 3 ? String(text.dropFirst(3)) : nil)
    }
    return text.hasPrefix("bad ") ? .unreadable(String(text.dropFirst(4))) : .unknown
  }

  /// Writes the copies; what a reader left of the last ones goes.
  private func write(
    _ bytes: [UInt8], _ companions: [String: [UInt8]], _ format: KnownFormat
  ) throws(LabError) -> String {
    let path = "\(directory)/file"
    for name in format.companions + ["-shm"] {
      try? FileManager.default.removeItem(atPath: path + name)
    }
    for (name, content) in companions.merging(["": bytes], uniquingKeysWith: { a, _ in a }) {
      guard FileManager.default.createFile(atPath: path + name, contents: Data(content)) else {
        throw .lab("cannot write \(path + name)")
      }
    }
    return path
  }

  private static let python: String? = ["/usr/bin/python3", "/usr/local/bin/python3"]
    .first { PathCalls.canAccess($0, X_OK) }

  /// Answers each line `FORMAT PATH` with `ok`, `ok ROWS`, `bad REASON`, or `unknown` where a
  /// module is missing.
  private static let program = #"""
    import importlib, sys

    def read(path):
        with open(path, "rb") as file:
            return file.read()

    def sqlite(path):
        import sqlite3
        connection = sqlite3.connect(path)
        try:
            rows = connection.execute("PRAGMA integrity_check").fetchall()
            if rows != [("ok",)]:
                raise ValueError(rows[0][0])
            return rows_of(connection)
        finally:
            connection.close()

    def rows_of(connection):
        import hashlib, sqlite3
        digest = hashlib.sha256()
        try:
            schema = connection.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
            digest.update(repr(schema).encode())
            for kind, name, _ in schema:
                if kind == "table":
                    quoted = name.replace('"', '""')
                    for row in connection.execute('SELECT * FROM "' + quoted + '" LIMIT 100000'):
                        digest.update(repr(row).encode())
        except sqlite3.Error:
            return None
        return digest.hexdigest()[:16]

    def lmdb(path):
        import lmdb as library
        with library.open(path, subdir=False, lock=False, readonly=True, max_dbs=64) as base:
            with base.begin() as transaction:
                for _ in transaction.cursor():
                    pass

    def gdbm(path):
        import dbm.gnu
        with dbm.gnu.open(path, "r") as base:
            key = base.firstkey()
            while key is not None:
                base[key]
                key = base.nextkey(key)

    def json(path):
        import json as library
        library.loads(read(path))

    def toml(path):
        import tomllib
        tomllib.loads(read(path).decode())

    def yaml(path):
        import yaml as library
        list(library.safe_load_all(read(path).decode()))

    def xml(path):
        import xml.etree.ElementTree
        xml.etree.ElementTree.parse(path)

    def zip(path):
        import zipfile
        with zipfile.ZipFile(path) as archive:
            name = archive.testzip()
        if name is not None:
            raise ValueError("wrong checksum of " + name)

    def gzip(path):
        import gzip as library
        library.decompress(read(path))

    def bzip2(path):
        import bz2
        bz2.decompress(read(path))

    def xz(path):
        import lzma
        lzma.decompress(read(path))

    def tar(path):
        import tarfile
        with tarfile.open(path, "r:") as archive:
            for member in archive:
                if member.isfile():
                    archive.extractfile(member).read()

    def image(path):
        from PIL import Image
        with Image.open(path) as picture:
            picture.load()

    def pdf(path):
        import pypdf
        len(pypdf.PdfReader(path, strict=True).pages)

    readers = dict(sqlite=sqlite, lmdb=lmdb, gdbm=gdbm, json=json, toml=toml, yaml=yaml, xml=xml,
                   zip=zip, gzip=gzip, bzip2=bzip2, xz=xz, tar=tar, png=image, jpeg=image, pdf=pdf)
    for line in sys.stdin:
        name, path = line.rstrip("\n").split(" ", 1)
        try:
            rows = readers[name](path)
            answer = "ok " + rows if rows else "ok"
        except ImportError:
            answer = "unknown"
        except Exception as error:
            answer = "bad " + " ".join(str(error).split())[:200].replace(path, "it")
        print(answer, flush=True)
    """#
}
