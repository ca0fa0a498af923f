// TaskListProgramTests.swift: examples/tasks as processes that share one file.

import Foundation
import Testing

@Suite("the task list of examples/")
struct TaskListProgramTests {
  private static let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent().appendingPathComponent("tasks")

  /// A running program and what it prints.
  private struct Run {
    let process = Process()
    private let output = Pipe()
    private let errors = Pipe()

    init(_ folder: Folder, _ words: [String]) throws {
      process.executableURL = TaskListProgramTests.program
      process.arguments = [folder.path + "/tasks.realm"] + words
      process.standardOutput = output
      process.standardError = errors
      try process.run()
    }

    /// What is printed until a line that is `last`, or the end.
    func lines(until last: String) -> [String] {
      var text: [UInt8] = []
      while !text.elementsEqual((last + "\n").utf8), !text.ends(with: "\n" + last + "\n") {
        let byte = output.fileHandleForReading.readData(ofLength: 1)
        if byte.isEmpty { break }
        text += byte
      }
      return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    func end() -> (status: Int32, output: [String], errors: String) {
      let text = output.fileHandleForReading.readDataToEndOfFile()
      let complaint = errors.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      return (
        process.terminationStatus,
        String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init),
        String(decoding: complaint, as: UTF8.self)
      )
    }
  }

  private func run(_ folder: Folder, _ words: String...) throws -> [String] {
    let (status, output, errors) = try Run(folder, words).end()
    #expect(status == 0, "\(words): \(errors)")
    return output
  }

  @Test("is kept from process to process, and found by words")
  func kept() throws {
    let folder = try Folder()
    #expect(try run(folder, "add", "Buy", "milk", "#home") == ["added 1"])
    #expect(try run(folder, "add", "Write", "tests") == ["added 2"])
    #expect(try run(folder, "note", "1", "two", "litres") == [])
    #expect(try run(folder, "done", "1") == [])
    #expect(
      try run(folder, "list") == ["[ ] 2 Write tests", "[x] 1 Buy milk #home (two litres)"])
    #expect(try run(folder, "find", "tags == 'home'") == ["[x] 1 Buy milk #home (two litres)"])
    #expect(try run(folder, "clean") == ["took out 1"])
    #expect(try run(folder, "list") == ["[ ] 2 Write tests"])
    for (words, status, part) in [
      (["done", "7"], 1, "there is no task 7"), (["find", "titel == 'a'"], 1, "titel"),
      (["add", "#tag"], 1, "needs a title"), (["dance"], 2, "usage"),
    ] as [([String], Int32, String)] {
      let end = try Run(folder, words).end()
      #expect(end.status == status && end.errors.contains(part), "\(words): \(end)")
    }
    #expect(try run(folder, "list") == ["[ ] 2 Write tests"], "what was refused left nothing")
  }

  @Test("is shared: a watching process says what another one changes")
  func watched() throws {
    let folder = try Folder()
    #expect(try run(folder, "add", "One") == ["added 1"])
    let watcher = try Run(folder, ["watch", "3"])
    #expect(watcher.lines(until: "watching 1 tasks") == ["watching 1 tasks"])
    #expect(try run(folder, "add", "Two") == ["added 2"])
    #expect(watcher.lines(until: ".") == ["+ [ ] 2 Two", "."])
    #expect(try run(folder, "done", "1") == [])
    #expect(watcher.lines(until: ".") == ["* [x] 1 One", "."])
    #expect(try run(folder, "clean") == ["took out 1"])
    #expect(watcher.lines(until: ".") == ["- 1", "."])
    #expect(watcher.end().status == 0)
  }

  @Test("gives each task a number of its own when many processes add at once")
  func concurrent() throws {
    let folder = try Folder()
    let runs = try (0..<8).map { try Run(folder, ["add", "task", "\($0)"]) }
    let answers = runs.map { $0.end() }
    #expect(answers.allSatisfy { $0.status == 0 }, "\(answers)")
    #expect(
      answers.flatMap(\.output).sorted() == (1...8).map { "added \($0)" },
      "each number once")
    #expect(try run(folder, "list").count == 8)
  }
}

extension [UInt8] {
  /// Whether the bytes end with a text.
  fileprivate func ends(with text: String) -> Bool {
    suffix(text.utf8.count).elementsEqual(text.utf8)
  }
}
