// MixedContentTests.swift: contents of crates in scenarios: what can be said, what is refused and
// where, and what edits make of a content.

import Foundation
import TestSupport
import Testing

@testable import Findings
@testable import LabCore
@testable import Scenarios
@testable import Workload

private let start = """
  title: a test
  schema: objects
  processes: {app: [ui]}

  """

/// The first statement of a step with one.
private func statement(_ text: String) throws -> WriteStatement? {
  let scenario = try parsed(start + "steps:\n- ui: open\n- ui: {write: [\(text)]}\n")
  guard case .write(let write) = scenario.steps[1].action else { return nil }
  return write.statements.first
}

private func entry(_ key: String, _ value: PlannedValue) -> PlannedEntry {
  PlannedEntry(key: key, value: value)
}

@Suite struct MixedContentTests {
  @Test("a content is read as it is written")
  func contents() throws {
    let texts: [(String, PlannedValue)] = [
      ("null", .null), ("7", .int(7)), ("\"7\"", .string("7")), ("true", .bool(true)),
      ("2.5", .double((2.5).bitPattern)), ("two words", .string("two words")), ("[]", .list([])),
      ("{}", .dictionary([])), ("[[1], a]", .list([.list([.int(1)]), .string("a")])),
      (
        "{b: [~, 'random'], a: {c: -1}}",
        .dictionary([
          entry("a", .dictionary([entry("c", .int(-1))])),
          entry("b", .list([.null, .string("random")])),
        ])
      ),
      ("{$dog: 3}", .link(3)),
      (
        "[{$dog: -1}, {a: {$dog: 2}}]",
        .list([
          .link(-1), .dictionary([entry("a", .link(2))]),
        ])
      ),
    ]
    for (text, value) in texts {
      let read = try statement("{insert: Crate, _id: 1, content: \(text)}")
      let rule = text == "null" ? ValueRule.null : .content(value)
      #expect(read?.values == ["content": rule], "\(text)")
      let bytes = try JSONEncoder().encode([value])
      #expect(try JSONDecoder().decode([PlannedValue].self, from: bytes) == [value], "\(text)")
    }
    #expect(
      try statement("{insert: Crate, _id: 1, content: random}")?.values == ["content": .any])
  }

  @Test("an edit is read")
  func edits() throws {
    let texts: [(String, EditRule)] = [
      ("random", .any),
      ("{clear: true}", .planned(ContentEdit(path: [], change: .clear))),
      ("{at: [], set: 1}", .planned(ContentEdit(path: [], change: .set(.int(1))))),
      (
        "{at: [a, 0, \"0\"], remove: true}",
        .planned(ContentEdit(path: [.string("a"), .int(0), .string("0")], change: .remove))
      ),
      (
        "{at: [3], insert: [x]}",
        .planned(ContentEdit(path: [.int(3)], change: .insert(.list([.string("x")]))))
      ),
      (
        "{at: [0, 3], move: 1}",
        .planned(ContentEdit(path: [.int(0), .int(3)], change: .move(to: 1)))
      ),
      ("{at: [3], swap: 0}", .planned(ContentEdit(path: [.int(3)], change: .swap(with: 0)))),
    ]
    for (text, rule) in texts {
      #expect(try statement("{update: Crate, _id: 1, edit: \(text)}")?.edit == rule, "\(text)")
    }
  }

  private static let deep =
    String(repeating: "[", count: 17) + String(repeating: "]", count: 17)

  @Test(
    "what a crate cannot hold or an edit cannot do is refused at its place, with a remedy",
    arguments: [
      (
        "{insert: Crate, _id: 1, content: \(deep)}", 65,
        "an empty list inside 16 others, and a content has at most 16 nested collections; "
          + "write it flatter"
      ),
      (
        "{update: Crate, _id: 1, edit: {at: [a, 0], set: \(deep)}}", 78,
        "a list inside 16 others, and a content has at most 16 nested collections; "
      ),
      (
        "{update: Crate, _id: 1, edit: {at: [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1], set: 1}}", 51,
        "17 steps, and a content has at most 16 nested collections; write a shorter path"
      ),
      (
        "{insert: Crate, _id: 1, content: [random]}", 50,
        "'random' is no value of a content, which is written whole; write a value, put a text in"
      ),
      ("{insert: Crate, _id: 1, content: {a: 1..9}}", 53, "'1..9' is no value of a content"),
      (
        "{update: Crate, _id: 1, edit: {at: [1]}}", 46,
        "an edit makes one change, found 0; write one of: set, insert, remove, clear, move, swap"
      ),
      ("{update: Crate, _id: 1, edit: {set: 1, clear: true}}", 55, "one change, found 2"),
      ("{update: Crate, _id: 1, edit: {insert: 1}}", 47, "'insert' needs the place of an element"),
      ("{update: Crate, _id: 1, edit: {at: [], remove: true}}", 55, "'remove' needs the place"),
      ("{update: Crate, _id: 1, edit: {swap: 0}}", 47, "'swap' needs the place of an element"),
      ("{update: Crate, _id: 1, edit: {at: [0], move: -1}}", 62, "the index of another element"),
      (
        "{insert: Crate, _id: 1, content: [{$dog: 1, a: 2}]}", 51,
        "'$dog' is no key of a dictionary, which begins with no dollar sign; for a link write as "
          + "in {$dog: 3}"
      ),
      ("{insert: Crate, _id: 1, content: {a: {$cat: 1}}}", 54, "'$cat' is no key"),
      ("{insert: Crate, _id: 1, content: {$dog: rex}}", 50, "'$dog' is no key"),
      ("{update: Crate, _id: 1, edit: {at: [0, $a], set: 1}}", 55, "'$a' is no key"),
      ("{update: Crate, _id: 1, edit: {at: a, set: 1}}", 51, "expected a list of indexes and keys"),
      ("{update: Crate, _id: 1, edit: {at: [[1]], set: 1}}", 52, "expected an index or a key"),
      ("{update: Crate, _id: 1, edit: {at: [1], remove: no}}", 64, "'no' is not a value of remove"),
      ("{update: Crate, _id: 1, edit: 7}", 46, "expected an edit mapping, found '7'"),
      ("{update: Crate, _id: 1, edit: random, content: 1}", 46, "'edit' and 'content' in one"),
      (
        "{upsert: Crate, _id: 1, edit: random}", 46,
        "'edit' changes the content of a Crate in an update; write as in {update: Crate"
      ),
      ("{update: Dog, _id: 1, edit: random}", 44, "'edit' changes the content of a Crate"),
    ])
  func refusals(_ text: String, column: Int, _ message: String) {
    let found = diagnostics(start + "steps:\n- ui: open\n- ui: {write: [\(text)]}\n")
    #expect(
      found.contains { $0.hasPrefix("t.yaml:6:\(column):") && $0.contains(message) }, "\(found)")
  }

  @Test("a query of crates without a requirement is refused, as nothing else knows its answer")
  func queries() {
    let step = "steps:\n- ui: open\n- ui: {query: \"content == 1\", of: Crate}\n"
    #expect(diagnostics(start + step).contains { $0.contains("a query of Crate needs 'finds'") })
  }

  @Test(
    "an edit that does not fit the content is an error with its place before anything is run",
    arguments: [
      ("{at: [7], remove: true}", "index 7 in a list of 2"),
      ("{at: [3], insert: 1}", "index 3 in a list of 2"),
      ("{at: [-1], set: 1}", "index -1 in a list of 2"),
      ("{at: [a], set: 1}", "\"a\" does not lead into a list"),
      ("{at: [1, b, c], set: 1}", "no key 'b' among [\"a\"]"),
      ("{at: [1, b], insert: 1}", "a dictionary has no places to insert at"),
      ("{at: [0], clear: true}", "the plain value 1 cannot be cleared"),
      ("{at: [0, 0], set: 1}", "0 does not lead into the plain value 1"),
      ("{at: [0], move: 2}", "index 2 in a list of 2"),
      ("{at: [2], swap: 0}", "index 2 in a list of 2"),
      ("{at: [1, a], swap: 0}", "a dictionary has no places to insert at, to move or to swap"),
    ])
  func misfits(_ edit: String, _ message: String) throws {
    let text =
      start + """
        steps:
        - ui: open
        - ui: {write: [{insert: Crate, _id: 1, content: [1, {a: 2}]}]}
        - ui: {write: [{update: Crate, _id: 1, edit: \(edit)}]}
        """
    let scenario = try parsed(text)
    let error = #expect(throws: LabError.self) {
      try WorkloadPlan(scenario, seed: Seed(rawValue: 1))
    }
    let words = error?.message ?? ""
    #expect(words.contains("t.yaml:7:"), "\(words)")
    #expect(words.contains(message) && words.contains("[1, {a: 2}]"), "\(words)")
  }

  @Test("edits that nest too deeply one after the other are refused")
  func growing() throws {
    let write = "- ui: {write: [{update: Crate, _id: 1, edit: {at: [PATH0], set: [1]}}]}\n"
    var text =
      start + """
        steps:
        - ui: open
        - ui: {write: [{insert: Crate, _id: 1, content: [1]}]}

        """
    for depth in 0..<15 {
      text += write.replacing("PATH", with: String(repeating: "0, ", count: depth))
    }
    _ = try WorkloadPlan(try parsed(text), seed: Seed(rawValue: 1))
    text += write.replacing("PATH", with: String(repeating: "0, ", count: 15))
    #expect(!diagnostics(text).isEmpty)
  }

  @Test("drawn edits fit the content they are drawn for, and reach every kind of change")
  func drawn() throws {
    var generator = PRNG(Seed(rawValue: 5))
    var kinds: Set<String> = []
    var deepest = 0
    for _ in 0..<40 {
      var content = PlannedValue.drawContent(dogs: [1, 2], &generator)
      for _ in 0..<60 {
        let edit = content.drawEdit(dogs: [1, 2], &generator)
        content = try content.applying(edit)
        deepest = max(deepest, content.depth)
        kinds.insert("\(edit.change)".components(separatedBy: "(")[0])
        #expect(content.valueCount < 200)
      }
    }
    #expect(kinds == ["set", "insert", "remove", "clear", "move", "swap"])
    #expect(deepest >= 5 && deepest <= ScenarioBounds.contentDepth)
  }

  @Test("the model's rows have the tree of each content, and no row besides")
  func rows() throws {
    let text =
      start + """
        steps:
        - ui: open
        - ui: {write: [{insert: Crate, _id: 1..5, content: random, times: 5}]}
        - ui: {repeat: 60, write: [{update: Crate, _id: random 1..5, edit: random, times: 2}]}
        - ui: {write: [{delete: Crate, _id: 1..5}]}
        """
    for seed in 1...5 as ClosedRange<UInt64> {
      let plan = try WorkloadPlan(try parsed(text), seed: Seed(rawValue: seed))
      var model = ReferenceModel(before: plan)
      for transaction in plan.transactions {
        #expect(model.apply(transaction) == nil)
        let crates = model.sortedRows(of: "Crate").compactMap(\.values.first)
        let count = crates.reduce(0) { $0 + $1.collectionCount }
        #expect(model.objects?.classes["__mixed"]?.rows.count ?? 0 == count)
      }
      #expect(model.count(of: "Crate") == 4)
    }
  }
}

extension PlannedValue {
  fileprivate var collectionCount: Int {
    elements.reduce(isCollection ? 1 : 0) { $0 + $1.collectionCount }
      + entries.reduce(0) { $0 + $1.value.collectionCount }
  }
}
