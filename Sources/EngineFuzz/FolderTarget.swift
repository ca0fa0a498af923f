// FolderTarget.swift: bytes → files next to a database under the names that it uses: the note file,
// the management folder and its content, leftovers of creation and compaction. Invariants checked:
// opening fails with an error or succeeds; the data file keeps its rows in both cases; a foreign
// folder keeps its content.

import Engine
import Fuzz

enum FolderTarget {
  static let target = FuzzTarget(
    name: "folder", judges: "note file and management folder as anything: the data file keeps all",
    smokeCount: 60, seeds: { FuzzTarget.choiceSeeds("folder") }, run: { run($0) })

  private static func run(_ input: [UInt8]) -> FuzzOutcome {
    guard let fixture = FileFixture() else { return .finding("no folder in /tmp") }
    let folder = fixture.folder
    defer { folder.remove() }
    var choices = MutantChoices(bytes: input)
    do throws(EngineError) { try fixture.make() } catch { return .finding("\(error)") }
    folder.makeFolder("other")
    folder.write([1, 2, 3], to: "other/precious")
    for suffix in [".note", ".management", ".creating", ".compacting", ".copying", ".lock"]
    where choices.below(2) == 0 {
      folder.remove(FileFixture.name + suffix)
      place(FileFixture.name + suffix, folder, &choices)
    }
    if choices.below(2) == 0 {
      folder.makeFolder(FileFixture.name + ".management")
      for _ in 0..<choices.below(6) {
        let letters = (0..<1 + choices.below(12)).map { _ in UInt8(choices.below(95) + 32) }
        let name = String(decoding: letters.filter { $0 != UInt8(ascii: "/") }, as: UTF8.self)
        if !["", ".", ".."].contains(name) {
          place(FileFixture.name + ".management/" + name, folder, &choices)
        }
      }
    }
    var (acked, maybe): ([Int64], [Int64]) = ([0, 1, 2], [])
    var outcome = FuzzOutcome.refused
    if let database = try? Database.open(path: fixture.path, options: FileFixture.options) {
      outcome = .accepted
      if FileFixture.add(10, to: database) { acked.append(10) } else { maybe.append(10) }
      if choices.below(2) == 0 { _ = try? database.compact() }
      if FileFixture.add(11, to: database) { acked.append(11) } else { maybe.append(11) }
      do throws(EngineError) { try database.close() } catch {
        return .finding("a handle does not close: \(error)")
      }
    }
    guard folder.isThere("other/precious") else {
      return .finding("a file of a folder that a link led to is gone")
    }
    for suffix in [".note", ".management", ".creating", ".compacting", ".copying", ".lock"] {
      folder.remove(FileFixture.name + suffix)
    }
    return fixture.wrongAfterwards(acked: acked, maybe: maybe).map { .finding($0) } ?? outcome
  }

  /// A file, a folder, a link to a folder or to nothing.
  private static func place(
    _ name: String, _ folder: FuzzFolder, _ choices: inout MutantChoices
  ) {
    switch choices.below(6) {
    case 0:
      folder.makeFolder(name)
      folder.write([7], to: name + "/inside")
    case 1: folder.makeLink(name, to: folder.path + "/other")
    case 2: folder.makeLink(name, to: "nowhere")
    case 3: folder.makeLink(name, to: name)
    default:
      let count = choices.below(200)
      folder.write((0..<count).map { _ in UInt8(choices.below(256)) }, to: name)
    }
  }
}
