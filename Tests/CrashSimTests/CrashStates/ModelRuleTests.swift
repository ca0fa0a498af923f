// ModelRuleTests.swift: each rule of docs/explanation/crash-model.md, where it holds and where it
// does not.

import LabCore
import Testing

@testable import CrashStates
@testable import Recording

@Suite("Rules of the persistence models")
struct ModelRuleTests {
  private func final(
    _ model: PersistenceModel, files: [String: String] = [:], _ build: (inout Recording) -> Void
  ) throws -> Set<String> {
    var recording = Recording(files: files)
    build(&recording)
    return try Possible(recording, model).final
  }

  @Test("strict: states are prefixes, and any sync covers all before it")
  func strictPrefixes() throws {
    let states = try final(.strict, files: ["a": "1", "b": "1", "c": "1"]) {
      $0.write("a", "2")
      $0.sync("b")
      $0.write("b", "2")
      $0.write("c", "2")
    }
    #expect(states.isSuperset(of: ["a=2 b=1 c=1", "a=2 b=2 c=1", "a=2 b=2 c=2"]))
    #expect(!states.contains("a=2 b=1 c=2"))
    var recording = Recording(files: ["a": "1", "b": "1"])
    recording.write("a", "2")
    recording.sync("b")
    recording.mark("done")
    #expect(try Possible(recording, .strict).final == ["a=2 b=1"])
    #expect(try Possible(recording, .ext4Ordered).final == ["a=2 b=1", "a=1 b=1"])
  }

  @Test("overwrites in place are unordered but under strict")
  func overwrites() throws {
    for model in [PersistenceModel.ext4Ordered, .posix] {
      let states = try final(model, files: ["a": "1", "b": "1"]) {
        $0.write("a", "2")
        $0.write("b", "2")
      }
      #expect(states == ["a=1 b=1", "a=2 b=1", "a=1 b=2", "a=2 b=2"])
    }
  }

  @Test(
    "data is split at pages by ext4-ordered and at sectors by posix; the same block keeps its order"
  )
  func dataUnits() throws {
    let old = String(repeating: "o", count: 8192)
    var recording = Recording(files: ["a": old])
    recording.write("a", String(repeating: "n", count: 8192))
    recording.write("a", "N")
    let ext4 = try UnitTable(trace: recording.trace, model: .ext4Ordered)
    #expect(ext4.units.count == 3)
    #expect(ext4.units[2].dependencies == [0])
    let posix = try UnitTable(trace: recording.trace, model: .posix)
    #expect(posix.units.count == 17)
    #expect(posix.units[16].dependencies == [0])
    #expect(posix.units[15].dependencies.isEmpty)
    let strict = try UnitTable(trace: recording.trace, model: .strict)
    #expect(strict.units.count == 2)
  }

  @Test("a grown size waits for new data under ext3-ordered, not under ext4-ordered and posix")
  func dataBeforeSize() throws {
    let build: (inout Recording) -> Void = { $0.write("a", "new") }
    #expect(try final(.ext3Ordered, files: ["a": ""], build) == ["a=", "a=new"])
    #expect(try final(.ext4Ordered, files: ["a": ""], build) == ["a=", "a=...", "a=new"])
    #expect(try final(.posix, files: ["a": ""], build) == ["a=", "a=...", "a=new"])
  }

  @Test("growth inside an allocated page does not wait for its data")
  func growthInPage() throws {
    let states = try final(.ext4Ordered, files: ["a": "x"]) { $0.write("a", "y", at: 1) }
    #expect(states == ["a=x", "a=x.", "a=xy"])
  }

  @Test("a write beyond the end leaves zeros between, in every model")
  func hole() throws {
    for model in PersistenceModel.stock {
      let states = try final(model, files: ["a": "x"]) { $0.write("a", "y", at: 3) }
      #expect(states.contains("a=x..y"))
      #expect(!states.contains("a=y"))
    }
  }

  @Test("metadata keeps its order in the journal, and only per object under posix")
  func journalOrder() throws {
    let build: (inout Recording) -> Void = {
      $0.create("a")
      $0.create("b")
      $0.setMode("b", 0o600)
    }
    #expect(try final(.ext4Ordered, build) == ["", "a=", "a= b=", "a= b=(0600)"])
    #expect(try final(.posix, build).contains("b=(0600)"))
    #expect(try final(.posix, build).count == 6)
  }

  @Test("rename is atomic but under posix")
  func renameAtomicity() throws {
    let build: (inout Recording) -> Void = { $0.rename("a", to: "b") }
    #expect(try final(.ext4Ordered, files: ["a": "1"], build) == ["a=1", "b=1"])
    #expect(try final(.posix, files: ["a": "1"], build) == ["a=1", "b=1", "a=1 b=1", ""])
  }

  @Test("a rename with a whiteout is atomic but under posix, and for directories in every model")
  func whiteoutAtomicity() throws {
    let build: (inout Recording) -> Void = { $0.renameWithWhiteout("a", to: "b") }
    let files = ["a": "1", "b": "2"]
    for model in PersistenceModel.stock where model.renameIsAtomic {
      #expect(try final(model, files: files, build) == ["a=1 b=2", "a/(00) b=1"], "\(model.name)")
    }
    // The device takes the old name, so in no state nothing has it.
    #expect(
      try final(.posix, files: files, build)
        == ["a=1 b=2", "a/(00) b=1", "a=1 b=1", "a/(00) b=2"])
    let directory = try final(.posix) {
      $0.makeDirectory("d")
      $0.syncDirectory()
      $0.renameWithWhiteout("d", to: "e")
      $0.mark("done")
    }
    #expect(directory == ["d/", "d/(00) e/"])
    var synced = Recording(files: files)
    synced.renameWithWhiteout("a", to: "b")
    synced.syncDirectory()
    synced.mark("done")
    for model in PersistenceModel.stock {
      #expect(try Possible(synced, model).final == ["a/(00) b=1"], "\(model.name)")
    }
  }

  @Test("what came with an operation is not without it, and not lost without it, in any model")
  func joinedOperations() throws {
    for model in PersistenceModel.stock {
      // As setfacl does it: a list and the mode that goes with it.
      var list = Recording(files: ["a": "1"])
      list.setAttribute("a", "user.l", "7")
      list.add(.setOwnership(inode: list["a"], ownership: Ownership(mode: 0o670)), flags: .joined)
      list.setAttribute("a", "user.l", "5")
      list.add(.setOwnership(inode: list["a"], ownership: Ownership(mode: 0o650)), flags: .joined)
      #expect(
        try Possible(list, model).final == ["a=1", "a=1(0670)[user.l=7]", "a=1(0650)[user.l=5]"],
        "\(model.name)")
      // As a default list does it.
      var inherited = Recording()
      let inode = inherited.create("b")
      inherited.add(
        .setExtendedAttribute(inode: inode, name: FileName("user.l"), value: [UInt8(ascii: "7")]),
        flags: .joined)
      #expect(try Possible(inherited, model).final == ["", "b=[user.l=7]"], "\(model.name)")
    }
    var broken = Recording(files: ["a": "1"])
    broken.write("a", "2")
    broken.add(.setOwnership(inode: broken["a"], ownership: Ownership(mode: 0)), flags: .joined)
    #expect(throws: LabError.self) { try Possible(broken, .ext4Ordered) }
  }

  @Test("a file without a name is gone after a crash, until a name of it is durable")
  func namelessFiles() throws {
    for model in PersistenceModel.stock {
      var recording = Recording()
      let inode = recording.createNameless()
      recording.write(inode, Array("data".utf8), at: 0)
      recording.add(.sync(inode: inode, dataOnly: false))
      recording.mark("synced")
      #expect(try Possible(recording, model).final == [""], "\(model.name)")
      recording.link(inode, to: "a")
      recording.mark("linked")
      #expect(try Possible(recording, model).final == ["", "a=data"], "\(model.name)")
      recording.syncDirectory()
      recording.mark("durable")
      #expect(try Possible(recording, model).final == ["a=data"], "\(model.name)")
    }
    // What no sync has covered may be missing though the name is there.
    var early = Recording()
    let inode = early.createNameless()
    early.write(inode, Array("data".utf8), at: 0)
    early.link(inode, to: "a")
    early.syncDirectory()
    early.mark("durable")
    #expect(try Possible(early, .ext4Ordered).final == ["a=", "a=....", "a=data"])
    #expect(try Possible(early, .strict).final == ["a=data"])
    early.sync("a")
    early.mark("synced")
    #expect(try Possible(early, .posix).final == ["a=data"])
  }

  @Test("exchange is atomic but under posix, and for directories in every model")
  func exchangeAtomicity() throws {
    let build: (inout Recording) -> Void = { $0.exchange("a", "b") }
    let files = ["a": "1", "b": "2"]
    #expect(try final(.ext4Ordered, files: files, build) == ["a=1 b=2", "a=2 b=1"])
    #expect(
      try final(.posix, files: files, build) == ["a=1 b=2", "a=2 b=1", "a=2 b=2", "a=1 b=1"])
    let mixed = try final(.posix, files: ["a": "1"]) {
      $0.makeDirectory("d")
      $0.syncDirectory()
      $0.exchange("a", "d")
      $0.mark("done")
    }
    #expect(mixed == ["a=1 d/", "a/ d=1"])
  }

  @Test("a directory never has two names, though posix may lose it")
  func directoryRename() throws {
    let build: (inout Recording) -> Void = {
      $0.makeDirectory("d")
      $0.create("d/f")
      $0.syncDirectory()
      $0.syncDirectory("d")
      $0.rename("d", to: "e")
      $0.mark("done")
    }
    #expect(try final(.ext4Ordered, build) == ["d/ d/f=", "e/ e/f="])
    #expect(try final(.posix, build) == ["d/ d/f=", "e/ e/f=", ""])
  }

  @Test("a rename over a file waits for the renamed file's data under ext4-ordered only")
  func safeReplace() throws {
    let build: (inout Recording) -> Void = {
      $0.create("t")
      $0.write("t", "new")
      $0.rename("t", to: "a")
    }
    let ext4 = try final(.ext4Ordered, files: ["a": "old"], build)
    #expect(ext4.contains("a=new") && ext4.contains("a=old"))
    #expect(!ext4.contains("a=") && !ext4.contains("a=..."))
    #expect(try final(.posix, files: ["a": "old"], build).isSuperset(of: ["a=", "a=..."]))
    let fresh = try final(.ext4Ordered, build)
    #expect(fresh.contains("a="))
  }

  @Test("an emptied, rewritten and closed file precedes later metadata under ext4-ordered")
  func safeFlush() throws {
    let rewrite: (inout Recording) -> Void = {
      $0.truncate("a", to: 0)
      $0.write("a", "new")
      $0.close("a")
      $0.create("m")
    }
    let states = try final(.ext4Ordered, files: ["a": "old"], rewrite)
    #expect(states == ["a=old", "a=", "a=...", "a=new", "a=new m="])
    let unclosed = try final(.ext4Ordered, files: ["a": "old"]) {
      $0.truncate("a", to: 0)
      $0.write("a", "new")
      $0.create("m")
    }
    #expect(unclosed.contains("a= m="))
    #expect(try final(.posix, files: ["a": "old"], rewrite).contains("a= m="))
  }

  @Test("fsync of a new file commits its name under ext4-ordered, not under posix")
  func syncOfNewFile() throws {
    let build: (inout Recording) -> Void = {
      $0.makeDirectory("d")
      $0.create("d/f")
      $0.write("d/f", "x")
      $0.sync("d/f")
      $0.mark("done")
    }
    #expect(try final(.ext4Ordered, build) == ["d/ d/f=x"])
    #expect(try final(.posix, build) == ["", "d/", "d/ d/f=x"])
  }

  @Test("fdatasync leaves a mode behind; link and rename too under ext4-ordered")
  func dataOnlySync() throws {
    let build: (inout Recording) -> Void = {
      $0.setMode("a", 0o600)
      $0.sync("a", dataOnly: true)
      $0.mark("done")
    }
    for model in [PersistenceModel.ext4Ordered, .posix] {
      #expect(try final(model, files: ["a": "1"], build) == ["a=1", "a=1(0600)"])
    }
    let linked: (Bool) throws -> Set<String> = { dataOnly in
      try self.final(.ext4Ordered, files: ["a": "1"]) {
        $0.link("a", to: "b")
        $0.sync("a", dataOnly: dataOnly)
        $0.mark("done")
      }
    }
    #expect(try linked(false) == ["a=1 b=1"])
    #expect(try linked(true) == ["a=1", "a=1 b=1"])
  }

  @Test("fsync covers the journal up to the file's last change, and when it grew up to the growth")
  func journalCoverage() throws {
    let untouched = try final(.ext4Ordered, files: ["a": "1"]) {
      $0.create("m")
      $0.write("a", "2")
      $0.sync("a")
      $0.mark("done")
    }
    #expect(untouched == ["a=2", "a=2 m="])
    let grown = try final(.ext4Ordered, files: ["a": "1"]) {
      $0.create("m")
      $0.write("a", "22")
      $0.create("n")
      $0.sync("a")
      $0.mark("done")
    }
    #expect(grown == ["a=22 m=", "a=22 m= n="])
  }

  @Test(
    "fsync of a directory covers its entries; under ext4-ordered also what the journal holds before"
  )
  func directorySync() throws {
    let build: (inout Recording) -> Void = {
      $0.create("m")
      $0.create("d/f")
      $0.syncDirectory("d")
      $0.mark("done")
    }
    let prepare: (inout Recording) -> Void = {
      $0.makeDirectory("d")
      $0.syncDirectory()
    }
    let ext4 = try final(.ext4Ordered) {
      prepare(&$0)
      build(&$0)
    }
    #expect(ext4 == ["d/ d/f= m="])
    let posix = try final(.posix) {
      prepare(&$0)
      build(&$0)
    }
    #expect(posix == ["d/ d/f=", "d/ d/f= m="])
  }

  @Test(
    "a sync of everything leaves nothing to lose, under every model",
    arguments: PersistenceModel.stock)
  func syncOfEverything(model: PersistenceModel) throws {
    let changes: (inout Recording) -> Void = {
      $0.write("a", String(repeating: "n", count: 5000))
      $0.makeDirectory("d")
      $0.create("d/f")
      $0.write("d/f", "1")
      $0.rename("b", to: "d/g")
      $0.truncate("c", to: 1)
      $0.setMode("c", 0o600)
      $0.link("c", to: "l")
    }
    // Whether anything is left to lose shows without all sets of what was lost before.
    func outcomes(_ recording: Recording) throws -> Set<String> {
      try Possible(recording, model, exhaustiveUpTo: 6).final
    }
    var recording = Recording(files: ["a": "1", "b": "1", "c": "123"])
    changes(&recording)
    recording.syncAll()
    recording.mark("done")
    let table = try UnitTable(trace: recording.trace, model: model)
    #expect(table.pendingUnits(at: recording.trace.events.count).isEmpty)
    #expect(try outcomes(recording).count == 1)
    // Nothing that comes later is taken for durable, and the next one covers it.
    recording.write("a", "2")
    recording.create("late")
    recording.mark("later")
    #expect(try outcomes(recording).count > 1)
    recording.syncAll()
    recording.mark("again")
    #expect(try outcomes(recording).count == 1)
    var ignored = Recording(files: ["a": "1", "b": "1", "c": "123"])
    changes(&ignored)
    ignored.syncAll(flags: .ignored)
    #expect(try outcomes(ignored).count > 1)
  }

  @Test("a sync of everything does not cover what came while it waited, but for write-back")
  func lateChanges() throws {
    let prepare: (inout Recording) -> Void = {
      $0.write("a", "2")
      $0.write("b", "2")
      $0.add(
        .write(inode: $0["c"], offsetBytes: 0, payload: Payload([UInt8(ascii: "2")])),
        flags: .writeBack)
      $0.create("n")
    }
    for (late, states) in [
      (0, ["a=2 b=2 c=2 n="]),
      (3, ["a=2 b=1 c=2", "a=2 b=1 c=2 n=", "a=2 b=2 c=2", "a=2 b=2 c=2 n="]),
    ] {
      var recording = Recording(files: ["a": "1", "b": "1", "c": "1"])
      prepare(&recording)
      recording.syncAll(late: late)
      recording.mark("done")
      #expect(try Possible(recording, .posix).final == Set(states))
      // The next one covers the rest.
      recording.syncAll()
      recording.mark("again")
      #expect(try Possible(recording, .posix).final == ["a=2 b=2 c=2 n="])
    }
  }

  @Test("what a sync of everything does not cover stays the same where events come and go")
  func lateEventsMoved() throws {
    var recording = Recording(files: ["a": "1", "b": "1"])
    recording.write("a", "2")
    recording.create("lock")
    recording.write("b", "2")
    recording.write("lock", "1")
    recording.syncAll(late: 3)
    let without = recording.trace.without { $0 == FileName("lock") }
    #expect(without.events.last?.body == .operation(.syncAll(late: 1)))
    let sync = Operation.sync(inode: recording["a"], dataOnly: false)
    for (index, late) in [(0, 3), (1, 3), (2, 4), (4, 4)] {
      let trace = recording.trace.inserting(sync, at: index)
      #expect(trace.events.last?.body == .operation(.syncAll(late: late)), "\(index)")
    }
    #expect(recording.trace.inserting(sync, at: 5).events[4] == recording.trace.events[4])
  }

  @Test("a sync of everything does not write what an earlier one that failed had dropped")
  func syncAfterFailure() throws {
    let states = try final(.ext4Ordered, files: ["a": "1", "b": "1"]) {
      $0.write("a", "2")
      $0.sync("a", flags: .failed)
      $0.write("b", "2")
      $0.syncAll()
      $0.mark("done")
    }
    #expect(states == ["a=1 b=2", "a=2 b=2"])
  }

  @Test("an ignored sync does nothing")
  func ignoredSync() throws {
    for model in PersistenceModel.stock {
      let states = try final(model, files: ["a": "1"]) {
        $0.write("a", "2")
        $0.sync("a", flags: .ignored)
        $0.mark("done")
      }
      #expect(states == ["a=1", "a=2"])
    }
  }

  @Test(
    "after a failed sync the next one makes nothing of the old data durable, unless overwritten")
  func failedSync() throws {
    let retried: (inout Recording) -> Void = {
      $0.write("a", "2")
      $0.sync("a", flags: .failed)
      $0.sync("a")
      $0.mark("done")
    }
    #expect(try final(.strict, files: ["a": "1"], retried) == ["a=2"])
    for model in [PersistenceModel.ext4Ordered, .posix] {
      #expect(try final(model, files: ["a": "1"], retried) == ["a=1", "a=2"])
      let rewritten = try final(model, files: ["a": "11"]) {
        $0.write("a", "2")
        $0.sync("a", flags: .failed)
        $0.write("a", "3", at: 1)
        $0.sync("a")
        $0.mark("done")
      }
      #expect(rewritten == ["a=23"])
    }
  }

  @Test("what the medium shows again after a failed sync is what it has; what was lost is gone")
  func shownByMedium() throws {
    for model in PersistenceModel.stock {
      for flags in [OperationFlags.onMedium, []] {
        let states = try final(model, files: ["a": "1", "b": "1", "c": "1"]) {
          $0.write("c", "2")
          $0.rename("b", to: "d")
          $0.write("a", "2")
          $0.sync("a", flags: .failed)
          $0.add(
            .write(inode: $0["a"], offsetBytes: 0, payload: Payload(Array("1".utf8))), flags: flags)
          $0.mark("done")
        }
        // A write like any other may be lost, and then what it hides may be there.
        #expect(states.contains { $0.hasPrefix("a=2") } == (flags == []), "\(model.name)")
        #expect(states.contains { $0.hasPrefix("a=1") }, "\(model.name)")
        // Nothing else becomes durable by it, unless all is in one order.
        let isOrdered = [.strict, .ext4Journal].contains(model)
        let isFirst = states.contains("a=1 b=1 c=1")
        #expect(isFirst != (isOrdered && flags == .onMedium), "\(model.name) \(states)")
        #expect(states.contains("a=1 c=2 d=1"), "\(states)")
      }
    }
  }

  @Test("after a failed sync a size may become durable without its data")
  func failedSyncOfGrowth() throws {
    let states = try final(.ext4Ordered, files: ["a": ""]) {
      $0.write("a", "2")
      $0.sync("a", flags: .failed)
      $0.sync("a")
      $0.mark("done")
    }
    #expect(states == ["a=.", "a=2"])
  }

  @Test("a hole that a durable truncate hides does not end what the sync covers")
  func hiddenHole() throws {
    // Found against the reference of durability: the removal could be lost behind the fsync.
    for model in PersistenceModel.stock where model.syncCoverage == .journalOfInode {
      let states = try final(model, files: ["a": "1", "b": "1"]) {
        $0.remove("b")
        $0.allocate("a", 512, 3000, zeroes: true, keepsSize: true)
        $0.truncate("a", to: 4)
        $0.sync("a")
        $0.mark("done")
      }
      #expect(states == ["a=1..."], "\(model.name)")
    }
  }

  @Test("writes of one page keep their order where a durable truncate stands between them")
  func orderAroundTruncate() throws {
    for isBefore in [true, false] {
      let states = try final(.ext4Ordered, files: ["a": "oooooooo", "b": ""]) {
        $0.write("a", "nn")
        $0.truncate("a", to: 5)
        $0.setMode("b", 0o600)
        // The last write may come before the sync that makes the truncate durable, or behind it.
        if isBefore { $0.write("a", "m", at: 3) }
        $0.sync("b")
        if !isBefore { $0.write("a", "m", at: 3) }
        $0.mark("done")
      }
      #expect(states == ["a=ooooo b=(0600)", "a=nnooo b=(0600)", "a=nnomo b=(0600)"])
    }
  }
}
