// FormatReaderTests.swift: formats that tools of Debian read: whole ones are readable, damaged ones
// are not.

import Recording
import TestSupport
import Testing

@testable import Exploration

@Suite("Readers of formats")
struct FormatReaderTests {
  private let place: TemporaryDirectory
  private let reader: FormatReader

  init() throws {
    place = try TemporaryDirectory()
    let made = try runShell("mkdir slot made", in: place.path)
    try #require(made.status == 0)
    reader = FormatReader(directory: place.file("slot"))
  }

  /// What a script makes.
  private func made(_ script: String) throws -> TreeImage {
    let result = try runShell(script, in: place.file("made"))
    try #require(result.status == 0, "\(result.output)")
    return try DirectoryReader.read(place.file("made"))
  }

  private func verdict(_ format: KnownFormat, _ bytes: [UInt8]) throws -> ReadVerdict {
    try reader.verdict(format, bytes, companions: [:])
  }

  private func rows(_ verdict: ReadVerdict) -> String? {
    if case .readable(let rows) = verdict { rows } else { nil }
  }

  /// A whole file is readable, and one that is cut or damaged in the middle is not.
  private func expectRead(_ format: KnownFormat, _ script: String, isCutOnly: Bool = false) throws {
    let bytes = try #require(try made(script).bytes(at: "file"))
    #expect(KnownFormat(path: "file", bytes: bytes) == format)
    #expect(try verdict(format, bytes).isReadable, "\(format)")
    let cut = Array(bytes.prefix(bytes.count / 2))
    #expect(try !verdict(format, cut).isReadable, "\(format), cut")
    if isCutOnly { return }
    var damaged = bytes
    for index in bytes.count / 3..<bytes.count / 3 + 64 { damaged[index] = 0 }
    #expect(try !verdict(format, damaged).isReadable, "\(format), damaged")
  }

  @Test("a git repository is read by git fsck, and its objects count", .requires(.git, .python3))
  func git() throws {
    let tree = try made(
      """
      export HOME="$PWD" GIT_CONFIG_NOSYSTEM=1
      git init -q r && cd r && echo a > f && git add f
      git -c user.name=a -c user.email=a@b commit -qm m
      """)
    let repository = try #require(tree.subtree(at: "r/.git"))
    #expect(KnownFormat(entries: repository.inodes[.root]?.entries ?? [:]) == .git)
    #expect(try reader.verdict(.git, repository).isReadable)
    for (path, image) in repository.regularFiles() where path.hasPrefix("objects/") {
      var damaged = repository
      let inode = try #require(damaged.inode(at: path))
      #expect(image.sizeBytes > 0)
      damaged.inodes[inode]?.truncate(to: 0)
      let verdict = try reader.verdict(.git, damaged)
      #expect(verdict != .unknown && !verdict.isReadable, "\(path)")
    }
    // What the reader left in its copy is put right.
    #expect(try reader.verdict(.git, repository).isReadable)
  }

  @Test("LMDB: by its module or mdb_dump, with its rows", .requires(.lmdb))
  func lmdb() throws {
    let tree = try made(
      """
      /usr/bin/python3 - <<'END'
      import shutil
      import lmdb
      base = lmdb.open("base", subdir=False, lock=False)
      for n in range(2):
          with base.begin(write=True) as transaction:
              for k in range(50):
                  transaction.put(b"%d-%d" % (n, k), b"v" * 100)
          shutil.copy("base", "file%d" % n)
      END
      """)
    let files = try ["file0", "file1"].map { try #require(tree.bytes(at: $0)) }
    #expect(KnownFormat(path: "x", bytes: files[0]) == .lmdb)
    let found = try files.map { rows(try verdict(.lmdb, $0)) }
    #expect(found[0] != nil && found[1] != nil && found[0] != found[1], "\(found)")
    var damaged = files[1]
    for index in 8192..<damaged.count { damaged[index] = 0xff }
    #expect(try !verdict(.lmdb, damaged).isReadable)
  }

  @Test("LevelDB: by plyvel, with its rows, and a log that ends in the middle", .requires(.leveldb))
  func levelDB() throws {
    let tree = try made(
      """
      /usr/bin/python3 - <<'END'
      import plyvel
      base = plyvel.DB("base", create_if_missing=True)
      for n in range(100):
          base.put(b"key %d" % n, b"v" * 100)
      base.close()
      base = plyvel.DB("base")
      base.put(b"last", b"x" * 100)
      base.close()
      END
      """)
    let base = try #require(tree.subtree(at: "base"))
    #expect(KnownFormat(entries: base.inodes[.root]?.entries ?? [:]) == .leveldb)
    #expect(rows(try reader.verdict(.leveldb, base)) != nil)
    let files = base.regularFiles().map { $0.path }
    let current = try #require(base.inode(at: "CURRENT"))
    var broken = base
    broken.inodes[current]?.truncate(to: 0)
    #expect(try !reader.verdict(.leveldb, broken).isReadable, "\(files)")
  }

  private static let png = """
    /usr/bin/python3 - <<'END'
    import struct, zlib
    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))
    rows = b"".join(b"\\0" + bytes((x * y) % 251 for x in range(64)) for y in range(64))
    with open("file", "wb") as file:
        head = struct.pack(">IIBBBBB", 64, 64, 8, 0, 0, 0, 0)
        file.write(b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", head)
                   + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
    END
    """

  @Test("PNG: by pngcheck where Python has no module", .requires(.pngcheck))
  func pngFile() throws { try expectRead(.png, Self.png) }

  @Test("JPEG: by djpeg where Python has no module", .requires(.djpeg))
  func jpegFile() throws {
    try expectRead(
      .jpeg, "{ printf 'P5 64 64 255\\n'; head -c 4096 /dev/urandom; } | cjpeg > file",
      isCutOnly: true)
  }

  @Test("PDF: by qpdf where Python has no module", .requires(.qpdf))
  func pdfFile() throws { try expectRead(.pdf, "qpdf --empty file", isCutOnly: true) }

  @Test("what reads nothing here is named, with packages that are")
  func lacking() throws {
    let lacking = try FormatReader.lacking()
    #expect(Set(lacking).isSubset(of: KnownFormat.allCases))
    for format in lacking { #expect(try verdict(format, [1, 2, 3]) == .unknown, "\(format)") }
    #expect(KnownFormat.allCases.allSatisfy { !$0.packages.isEmpty })
  }
}
