// DurabilityProduct.swift: every kind of operation with every kind of sync behind it, and the page
// of the documentation that says under which models the operation is durable then.

import Recording

/// One kind of operation, on files that are durable before.
struct ProductOperation: Sendable {
  let name: String
  /// What the page says of it.
  let words: String
  /// The operation.
  let run: @Sendable (inout Recording) -> Void
  /// The file whose sync is tried, by its name before (empty: it has none that can be opened).
  var file = ""
  /// The other file: the one that is replaced or exchanged.
  var other = ""
  /// The directory in which a name goes or is, and another in which one comes.
  var directory = ""
  var newDirectory = ""

  static let all: [ProductOperation] = [
    ProductOperation(
      name: "write", words: "overwrite bytes of `d/a` in place",
      run: { $0.write("d/a", "new") }, file: "d/a", directory: "d"),
    ProductOperation(
      name: "append", words: "append to `d/a`",
      run: { $0.write("d/a", "new", at: 8) }, file: "d/a", directory: "d"),
    ProductOperation(
      name: "truncate", words: "cut `d/a` short", run: { $0.truncate("d/a", to: 5) },
      file: "d/a", directory: "d"),
    ProductOperation(
      name: "extend", words: "truncate `d/a` to more bytes", run: { $0.truncate("d/a", to: 20) },
      file: "d/a", directory: "d"),
    ProductOperation(
      name: "allocate", words: "fallocate behind the end of `d/a`",
      run: { $0.allocate("d/a", 8, 12) }, file: "d/a", directory: "d"),
    ProductOperation(
      name: "punch", words: "a hole in `d/a`",
      run: { $0.allocate("d/a", 4, 2, zeroes: true, keepsSize: true) }, file: "d/a",
      directory: "d"),
    ProductOperation(
      name: "mode", words: "chmod of `d/a`", run: { $0.setMode("d/a", 0o600) }, file: "d/a",
      directory: "d"),
    ProductOperation(
      name: "owner", words: "chown of `d/a`",
      run: {
        let owner = Ownership(mode: 0o644, user: 7, group: 7)
        $0.add(.setOwnership(inode: $0["d/a"], ownership: owner))
      }, file: "d/a", directory: "d"),
    ProductOperation(
      name: "attribute", words: "setxattr of `d/a`",
      run: { $0.setAttribute("d/a", "user.x", "1") }, file: "d/a", directory: "d"),
    ProductOperation(
      name: "times", words: "utimensat of `d/a` with a time of its own",
      run: { $0.setTime("d/a", 5) }, file: "d/a", directory: "d"),
    ProductOperation(
      name: "create", words: "the new file `d/n`", run: { $0.create("d/n") }, file: "d/n",
      directory: "d"),
    ProductOperation(
      name: "nameless", words: "O_TMPFILE, write and fsync; then linkat gives it the name `d/n`",
      run: {
        let file = $0.createNameless()
        $0.write(file, Array("new".utf8), at: 0)
        $0.add(.sync(inode: file, dataOnly: false))
        $0.link(file, to: "d/n")
      }, file: "d/n", directory: "d"),
    ProductOperation(
      name: "directory", words: "mkdir of `d/n`; the file is the new directory",
      run: { $0.makeDirectory("d/n") }, file: "d/n", directory: "d"),
    ProductOperation(
      name: "path", words: "mkdir of `d/n` and the new file `d/n/x`",
      run: {
        $0.makeDirectory("d/n")
        $0.create("d/n/x")
      }, file: "d/n/x", directory: "d", newDirectory: "d/n"),
    ProductOperation(
      name: "link", words: "`d/a` gets the name `e/n`, too",
      run: { $0.link("d/a", to: "e/n") }, file: "d/a", directory: "d", newDirectory: "e"),
    ProductOperation(
      name: "rename", words: "`d/a` to `e/n`", run: { $0.rename("d/a", to: "e/n") },
      file: "d/a", directory: "d", newDirectory: "e"),
    ProductOperation(
      name: "whiteout", words: "`d/a` to `e/n` with RENAME_WHITEOUT",
      run: { $0.renameWithWhiteout("d/a", to: "e/n") }, file: "d/a", directory: "d",
      newDirectory: "e"),
    ProductOperation(
      name: "replace", words: "`d/a` over the other file, `e/b`",
      run: { $0.rename("d/a", to: "e/b") }, file: "d/a", other: "e/b", directory: "d",
      newDirectory: "e"),
    ProductOperation(
      name: "exchange", words: "`d/a` and the other file, `e/b`, change places",
      run: { $0.exchange("d/a", "e/b") }, file: "d/a", other: "e/b", directory: "d",
      newDirectory: "e"),
    ProductOperation(
      name: "remove", words: "unlink of `d/a`, which has no other name",
      run: { $0.remove("d/a") }, file: "d/a", directory: "d"),
    ProductOperation(
      name: "remove-name", words: "unlink of `d/c`, another name of `e/c`",
      run: { $0.remove("d/c") }, file: "e/c", directory: "d"),
  ]
}

/// What is synced behind the operation.
enum ProductSync: String, CaseIterable, Sendable {
  case none
  case fileData = "fdatasync"
  case file = "fsync"
  case dataWrite = "O_DSYNC"
  case fileWrite = "O_SYNC"
  case otherFile = "fsync other"
  case directory = "fsync `d`"
  case newDirectory = "fsync `e`"
  case bothDirectories = "fsync `d`, `e`"
  case laterFile = "fsync later"
  case everything = "sync"

  /// What the page says of it.
  var words: String {
    switch self {
    case .none: "nothing"
    case .fileData: "fdatasync of the file"
    case .file: "fsync of the file"
    case .dataWrite:
      "the operation is a write through O_DSYNC, or one byte is overwritten through it afterwards"
    case .fileWrite: "the same through O_SYNC"
    case .otherFile: "fsync of the other file, which was replaced or exchanged"
    case .directory: "fsync of the directory of the (old) name"
    case .newDirectory: "fsync of the directory of the new name, `d/n` for path"
    case .bothDirectories: "fsync of both"
    case .laterFile: "a new file `z` is made in another directory, and fsync of it"
    case .everything: "sync or syncfs"
    }
  }
}

/// One cell: an operation and the sync behind it.
struct ProductCell: Sendable {
  let operation: ProductOperation
  let sync: ProductSync
  let trace: Trace
  /// Indices of the operation's events.
  let events: Range<Int>

  /// - Returns: Nil where there is no such sync.
  init?(_ operation: ProductOperation, _ sync: ProductSync) {
    var recording = Recording(
      files: ["d/a": "aaaaaaaa", "e/b": "bbbbbbbb", "e/c": "cccccccc"],
      directories: ["d", "e", "f"], links: ["d/c": "e/c"])
    let first = recording.trace.events.count
    let before = recording.exists(operation.file) ? recording[operation.file] : nil
    let other = recording[operation.other]
    operation.run(&recording)
    events = first..<recording.trace.events.count
    let file = before ?? recording[operation.file]
    guard operation.add(sync, of: file, or: other, to: &recording) else { return nil }
    self.operation = operation
    self.sync = sync
    trace = recording.trace
  }

  static let all = ProductOperation.all.flatMap { operation in
    ProductSync.allCases.compactMap { ProductCell(operation, $0) }
  }

  /// What the cell is about: the later file is not.
  func withoutLaterFile(_ trees: Set<VisibleTree>) -> Set<VisibleTree> {
    Set(
      trees.map { tree in
        var tree = tree
        tree.files[Array("/f/z".utf8)] = nil
        return tree
      })
  }
}

extension ProductOperation {
  /// Adds what a sync does behind the operation.
  /// - Returns: False where there is no such sync.
  fileprivate func add(
    _ sync: ProductSync, of file: InodeNumber, or otherFile: InodeNumber,
    to recording: inout Recording
  ) -> Bool {
    let isFile = recording.type(file) == .regular
    switch sync {
    case .none: break
    case .file where !isFile: recording.add(.syncDirectory(inode: file))
    case .fileData, .file, .dataWrite, .fileWrite:
      guard isFile else { return false }
      let isWrite = sync == .dataWrite || sync == .fileWrite
      if isWrite, !["write", "append"].contains(name) {
        recording.write(file, [UInt8(ascii: "s")], at: 0)
      }
      recording.add(
        .sync(inode: file, dataOnly: sync == .fileData || sync == .dataWrite),
        flags: isWrite ? .openFlagSync : [])
    case .otherFile:
      guard !other.isEmpty else { return false }
      recording.add(.sync(inode: otherFile, dataOnly: false))
    case .directory: recording.syncDirectory(directory)
    case .newDirectory, .bothDirectories:
      guard !newDirectory.isEmpty else { return false }
      if sync == .bothDirectories { recording.syncDirectory(directory) }
      recording.syncDirectory(newDirectory)
    case .laterFile:
      recording.create("f/z")
      recording.sync("f/z")
    case .everything: recording.syncAll()
    }
    return true
  }
}

/// The table of the page.
struct ProductPage {
  /// Letters of the models, as docs/explanation/crash-model.md has them in its table of workloads.
  static let letters: [(model: String, letter: String)] = [
    ("strict", "S"), ("ext4-journal", "J"), ("ext3-ordered", "3"), ("ext4-ordered", "O"),
    ("xfs", "X"), ("ext4-writeback", "W"), ("btrfs", "B"), ("prefix-per-file", "F"),
    ("posix", "P"), ("posix-damage", "D"),
  ]

  /// The table: one line for each operation, one column for each sync, and in each cell the models
  /// under which the operation is durable.
  static func table(_ isDurable: (ProductCell, _ model: String) throws -> Bool) rethrows -> String {
    var lines = [
      "| operation | " + ProductSync.allCases.map(\.rawValue).joined(separator: " | ") + " |"
    ]
    lines.append("|---" + String(repeating: "|---", count: ProductSync.allCases.count) + "|")
    for operation in ProductOperation.all {
      var cells: [String] = []
      for sync in ProductSync.allCases {
        guard let cell = ProductCell(operation, sync) else {
          cells.append("")
          continue
        }
        let found = try letters.filter { try isDurable(cell, $0.model) }.map(\.letter)
        cells.append(found.count == letters.count ? "all" : found.isEmpty ? "–" : found.joined())
      }
      lines.append("| \(operation.name) | " + cells.joined(separator: " | ") + " |")
    }
    lines += ["", "The operations:", ""]
    lines += ProductOperation.all.map { "- \($0.name): \($0.words)." }
    lines += ["", "The syncs:", ""]
    lines += ProductSync.allCases.map { "- \($0.rawValue): \($0.words)." }
    return lines.joined(separator: "\n")
  }
}
