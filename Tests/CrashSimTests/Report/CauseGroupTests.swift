// CauseGroupTests.swift: twenty groups of failing states, each with one missing sync or with two:
// the first have one cause, the others have not.

import Testing

@testable import CrashStates

@Suite("Groups of states with one cause")
struct CauseGroupTests {
  /// Two states of a recording, by the events that they lose, and whether one sync mends both.
  struct Group: CustomTestStringConvertible, Sendable {
    let name: String
    let isOne: Bool
    let record: @Sendable (inout Recording) -> (first: [Int], second: [Int])
    var testDescription: String { name }
  }

  /// Adds a saving of a file by renaming, and an acknowledgement; says which event the rename is.
  static func save(_ recording: inout Recording, _ temporary: String, _ path: String) -> Int {
    recording.create(temporary)
    recording.write(temporary, "content")
    recording.sync(temporary)
    recording.rename(temporary, to: path)
    let event = recording.trace.events.count - 1
    recording.mark("saved")
    return event
  }

  static func append(_ recording: inout Recording, _ path: String, then text: String) -> Int {
    let inode = recording[path]
    recording.write(inode, Array(text.utf8), at: recording.size(inode))
    let event = recording.trace.events.count - 1
    recording.mark("saved")
    return event
  }

  private static func saves(
    _ name: String, _ isOne: Bool, _ first: (String, String), _ second: (String, String)
  ) -> Group {
    Group(name: name, isOne: isOne) { recording in
      let one = save(&recording, first.0, first.1)
      return ([one], [save(&recording, second.0, second.1)])
    }
  }

  private static func appends(_ name: String, _ isOne: Bool, _ a: String, _ b: String) -> Group {
    Group(name: name, isOne: isOne) { recording in
      let one = append(&recording, a, then: "1")
      return ([one], [append(&recording, b, then: "2")])
    }
  }

  static let groups: [Group] = [
    saves("made, then replaced", true, ("c.tmp", "c.json"), ("c.tmp", "c.json")),
    saves("temporary names with counters", true, ("c.1", "c.json"), ("c.2", "c.json")),
    saves("temporary names of mkstemp", true, ("c.aB3dEf", "c.json"), ("c.Zy9Xwv", "c.json")),
    saves("temporary names of Python", true, ("tmpab_c9x0q", "c"), ("tmpzzk3_41p", "c")),
    saves("files with counters", true, ("t", "page-1"), ("t", "page-22")),
    saves("files named by a hash", true, ("t", "0fa3b2c1d4"), ("t", "9be4d2a0c7")),
    saves("two files", false, ("t", "names"), ("t", "groups")),
    saves("two folders", false, ("d/t", "d/c"), ("e/t", "e/c")),
    saves("names that look alike", false, ("t", "config"), ("t", "configure")),
    saves("old and new format", false, ("t", "c.json"), ("t", "c.toml")),
    appends("a log, twice", true, "log", "log"),
    appends("logs with counters", true, "log.1", "log.2"),
    appends("two logs", false, "log", "audit"),
    Group(name: "a name and a content", isOne: false) { recording in
      let name = save(&recording, "t", "c")
      return ([name], [append(&recording, "log", then: "1")])
    },
    Group(name: "made and removed", isOne: false) { recording in
      let name = save(&recording, "t", "c")
      recording.remove("log")
      recording.mark("removed")
      return ([name], [recording.trace.events.count - 2])
    },
    Group(name: "before another write, and before an acknowledgement", isOne: false) { recording in
      recording.write("log", "1", at: 0)
      recording.write("audit", "2", at: 0)
      recording.mark("saved")
      return ([0], [1])
    },
    Group(name: "one write before two others", isOne: true) { recording in
      recording.write("log.1", "1", at: 0)
      recording.write("audit", "2", at: 0)
      recording.write("log.2", "1", at: 0)
      recording.write("audit", "3", at: 1024)
      return ([0], [2])
    },
    Group(name: "a removal, twice", isOne: true) { recording in
      recording.remove("log.1")
      recording.mark("removed")
      recording.remove("log.2")
      recording.mark("removed")
      return ([0], [2])
    },
    Group(name: "a link and a rename to one name", isOne: true) { recording in
      recording.link("log", to: "log.old")
      recording.mark("saved")
      recording.remove("log.old")
      recording.syncDirectory()
      let rename = save(&recording, "t", "log.old")
      return ([0], [rename])
    },
    Group(name: "mode and content", isOne: false) { recording in
      recording.setMode("log", 0o600)
      recording.mark("saved")
      return ([0], [append(&recording, "log", then: "1")])
    },
  ]

  @Test("one missing sync is one cause, two are two", arguments: groups)
  func causes(_ group: Group) throws {
    var recording = Recording(
      files: [
        "log": "0", "log.1": "0", "log.2": "0", "audit": String(repeating: "-", count: 2000),
      ], directories: ["d", "e"])
    let states = group.record(&recording)
    let first = try #require(try cause(recording, losing: states.first))
    let second = try #require(try cause(recording, losing: states.second))
    #expect((first == second) == group.isOne, "\(first) | \(second)")
  }

  /// The cause of the state right after the mark or the operation behind the lost events.
  private func cause(_ recording: Recording, losing events: [Int]) throws -> String? {
    let table = try UnitTable(trace: recording.trace, model: .posix)
    let last = events.max() ?? 0
    let point = min(last + 2, table.crashPointCount - 1)
    let kept = table.pendingUnits(at: point).filter { !events.contains(table.units[$0].event) }
    let explainer = Explainer(table: table)
    return explainer.rootCause(explainer.explain(try table.state(at: point, keeping: kept)))
  }
}
