// CrashStatesOnly.swift: explores the crash states of a recording made by hand: a file is written
// and renamed over another, without a sync and then with one.

import CrashStates
import LabCore
import Recording

@main
struct CrashStatesOnly {
  /// The events of a replaced file, whose new content is synced or not.
  static func trace(isSynced: Bool) -> Trace {
    let (old, new) = (InodeNumber(rawValue: 2), InodeNumber(rawValue: 3))
    var initial = TreeImage()
    var image = InodeImage(type: .regular, ownership: Ownership(mode: 0o644))
    image.sizeBytes = 3
    image.extents = [Extent(offsetBytes: 0, bytes: Array("old".utf8))]
    initial.inodes[old] = image
    initial.inodes[.root]?.entries[FileName("config")] = old
    var events: [Recording.Operation] = [
      .create(
        inode: new, parent: .root, name: FileName("config.new"), type: .regular,
        ownership: Ownership(mode: 0o644), target: [], device: 0),
      .write(inode: new, offsetBytes: 0, payload: Payload(Array("new".utf8))),
    ]
    if isSynced { events.append(.sync(inode: new, dataOnly: false)) }
    events.append(
      .rename(
        inode: new, from: .root, name: FileName("config.new"), to: .root,
        newName: FileName("config"),
        replaced: old))
    return Trace(initial: initial, events: events.map { TraceEvent(.operation($0)) })
  }

  /// How many states have neither the old nor the new content.
  static func brokenCount(isSynced: Bool) throws(LabError) -> (broken: Int, all: Int) {
    let enumerator = try CrashStateEnumerator(
      trace: trace(isSynced: isSynced), model: .posix, seed: Seed(rawValue: 1))
    var (broken, all) = (0, 0)
    try enumerator.visit(try enumerator.plan()) { (_, image) throws(LabError) in
      all += 1
      let content = image.content(at: "config").map { String(decoding: $0, as: UTF8.self) }
      if content != "old" && content != "new" { broken += 1 }
      return .goOn
    }
    return (broken, all)
  }

  static func main() throws {
    let without = try brokenCount(isSynced: false)
    let with = try brokenCount(isSynced: true)
    print("without a sync: \(without.broken) of \(without.all) crash states are broken")
    print("with a sync: \(with.broken) of \(with.all) crash states are broken")
    precondition(without.broken > 0 && with.broken == 0 && with.all > 0)
  }
}
