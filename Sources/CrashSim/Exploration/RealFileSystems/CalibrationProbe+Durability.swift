// CalibrationProbe+Durability.swift: probes that combine every kind of change with every kind of
// sync after it: what the model then calls durable must be present after every crash of the file
// system. docs/reference/durability.md has the same combinations as a table, without a kernel.

import LabCore

extension CalibrationProbe {
  /// A change of files that were durable before.
  private struct Change {
    let name: String
    /// Shell command.
    let command: String
    /// The file whose sync is tried; nil if none is left.
    var file: String? = "d/a"
    /// The command through O_DSYNC or O_SYNC (`FLAG`); nil: one byte is overwritten afterwards.
    var synchronous: String?
    /// The same through pwritev2 with RWF_DSYNC and RWF_SYNC (`FLAG`), and with no sync but
    /// sync_file_range; only for writes.
    var call: String?
    /// A file that must be open before, because it loses its name; descriptor 3.
    var open: String?
    /// A name is added in another directory.
    var hasNewDirectory = false
  }

  private static let changes = [
    Change(
      name: "write", command: "over d/a n 100",
      synchronous: "fill n 100 | dd of=d/a conv=notrunc bs=100 oflag=FLAG status=none",
      call: "call write-FLAG d/a $(fill n 100)"),
    Change(
      name: "append", command: "add d/a n 100",
      synchronous: "fill n 100 | dd of=d/a conv=notrunc bs=100 oflag=append,FLAG status=none",
      call: "call append-FLAG d/a $(fill n 100)"),
    Change(name: "truncate", command: "truncate -s 50 d/a"),
    Change(name: "extend", command: "truncate -s 200 d/a"),
    Change(name: "allocate", command: "fallocate -l 300 d/a"),
    Change(name: "punch", command: "fallocate -p -o 10 -l 20 d/a"),
    Change(name: "mode", command: "chmod 600 d/a"),
    Change(name: "owner", command: "chown 7:7 d/a"),
    Change(name: "times", command: "touch -d @1 d/a"),
    Change(name: "create", command: "touch d/n", file: "d/n"),
    Change(name: "copy", command: "call copy d/a d/n", file: "d/n"),
    Change(name: "nameless", command: "call nameless d/n new", file: "d/n"),
    Change(name: "directory", command: "mkdir d/n", file: nil),
    Change(name: "link", command: "ln d/a e/n", hasNewDirectory: true),
    Change(name: "rename", command: "mv d/a e/n", file: "e/n", hasNewDirectory: true),
    Change(
      name: "replace", command: "mv d/a e/b", file: "e/b", open: "e/b", hasNewDirectory: true),
    Change(
      name: "whiteout", command: "call whiteout d/a e/n", file: "e/n", hasNewDirectory: true),
    Change(name: "remove", command: "rm d/a", file: nil, open: "d/a"),
    Change(name: "remove-name", command: "rm d/c", file: "e/c"),
  ]

  /// The syncs after the change, by their part of the probe's name.
  private static func syncs(_ change: Change) -> [(name: String, command: String)] {
    var syncs: [(String, String)] = []
    if let file = change.file {
      syncs += [("fdatasync", "sync -d \(file)"), ("fsync", "sync \(file)")]
      for (name, flag) in [("dsync", "dsync"), ("osync", "sync")] where change.synchronous == nil {
        let write = "printf s | dd of=\(file) conv=notrunc oflag=\(flag) status=none"
        syncs.append((name, write))
      }
    }
    if change.open != nil { syncs.append(("fsync-open", "sync /proc/self/fd/3")) }
    if change.name == "directory" { syncs.append(("fsync", "sync d/n")) }
    syncs += [("fsync-directory", "sync d"), ("fdatasync-directory", "sync -d d")]
    if change.hasNewDirectory {
      syncs += [("fsync-new-directory", "sync e"), ("fsync-directories", "sync d e")]
    }
    return syncs + [("fsync-later", "touch f/z; sync f/z"), ("syncfs", "sync -f .")]
  }

  /// Every change with every sync: `sync-` with the names of both.
  ///
  /// The first step is a change that is synced. Without it the change would be in the transaction
  /// of the mount's own first changes, which some syncs commit for that reason alone.
  package static let durability: [CalibrationProbe] = changes.flatMap { change in
    var cells = syncs(change).map { ($0.name, "\(change.command); \($0.command)") }
    if let command = change.synchronous {
      for (name, flag) in [("dsync", "dsync"), ("osync", "sync")] {
        cells.append((name, command.replacing("FLAG", with: flag)))
      }
    }
    if let call = change.call {
      for flag in ["dsync", "sync"] {
        cells.append(("rwf-\(flag)", call.replacing("FLAG", with: flag)))
      }
      cells.append(("sync-file-range", "\(change.command); call range d/a -"))
    }
    return cells.map { name, command in
      let open = change.open.map { "exec 3< \($0); " } ?? ""
      return CalibrationProbe(
        "sync-\(change.name)-\(name)",
        setup: "mkdir d e f; fill a 100 > d/a; fill b 100 > e/b; fill c 100 > e/c; ln e/c d/c",
        isOfSyncs: true, ["touch f/w; sync -f .", open + command])
    }
  }
}
