// NewFileTests.swift: compaction and copies when any of their steps fails, or their process is
// killed before it. What must hold: the path leads to the old file or to the new one, both with the
// content; nothing temporary is left; before the rename the handle goes on, after a failed sync of
// the folder it writes no more.

import Synchronization
import Testing

@testable import Engine

@Suite("New files, step by step")
struct NewFileTests {
  /// Counts steps, and fails at one of them.
  private final class Steps: Sendable {
    private let state = Mutex((taken: [NewFileStep](), failing: -1, code: EngineError.Code.io))

    var taken: [NewFileStep] { state.withLock { $0.taken } }

    func fail(at number: Int, _ code: EngineError.Code) {
      state.withLock { $0 = ([], number, code) }
    }

    func take(_ step: NewFileStep) throws(EngineError) {
      let failure = state.withLock { state -> EngineError.Code? in
        state.taken.append(step)
        return state.taken.count - 1 == state.failing ? state.code : nil
      }
      if let failure { throw EngineError(code: failure, message: "planted", isInjected: true) }
    }
  }

  private func withFilled(
    _ body: (Database, String, Steps, Content) throws -> Void
  ) throws {
    try withTemporaryFolder { folder in
      let steps = Steps()
      var options = Database.Options()
      options.newFileFailpoint = { step throws(EngineError) in try steps.take(step) }
      let database = try Database.open(path: folder + "/a.realm", options: options)
      try Everything.fill(database, rows: 48)
      try body(database, folder, steps, try Content(database))
      try database.close()
    }
  }

  /// Names in the folder that should not be there.
  private func leftOvers(_ folder: String) -> [String] {
    fileNames(in: folder).filter { !$0.hasPrefix("a.realm") || $0.hasSuffix("ing") }
  }

  @Test("content, sync, name, sync of the folder, in that order")
  func hasOrder() throws {
    try withFilled { database, folder, steps, _ in
      steps.fail(at: -1, .io)
      #expect(try database.compact())
      let compaction = steps.taken
      let writes = compaction.filter { $0 == .write }
      #expect(writes.count > 1, "nodes, then the header")
      #expect(compaction == [.create] + writes + [.sync, .read, .name, .syncFolder])
      steps.fail(at: -1, .io)
      try database.writeCopy(to: folder + "/b", encryptionKey: nil)
      #expect(steps.taken == compaction.filter { $0 != .read })
    }
  }

  @Test("a compaction that fails before the rename leaves the old file and a usable handle")
  func failsBeforeRename() throws {
    try withFilled { database, folder, steps, content in
      let identity = (try? FileIdentity.at(database.path))
      var number = 0
      while number < 50 {
        steps.fail(at: number, number % 2 == 0 ? .noSpace : .io)
        let code = errorCode { try database.compact() }
        guard steps.taken.last != .syncFolder else { break }
        #expect(code == (number % 2 == 0 ? .noSpace : .io))
        #expect(steps.taken.count == number + 1, "nothing is done after a failure")
        #expect(leftOvers(folder) == [])
        #expect((try? FileIdentity.at(database.path)) == identity)
        let now = try Content(database)
        #expect(now == content)
        number += 1
      }
      #expect(number == steps.taken.count - 1, "every step before the last one was tried")
    }
    // The handle goes on: it commits, and others may come in.
    try withFilled { database, _, steps, content in
      steps.fail(at: 4, .io)
      #expect(errorCode { try database.compact() } == .io)
      let write = try database.beginWrite()
      try write.delete(from: "Dog", key: 0)
      try write.commit()
      let other = try Database.open(path: database.path)
      #expect(try Content(other).rows == content.rows - 1)
      try other.close()
      #expect(try database.compact())
      #expect(try Content(database).rows == content.rows - 1)
    }
  }

  @Test("after a failed sync of the folder nothing is written any more, and both files are whole")
  func failsAfterRename() throws {
    try withFilled { database, folder, steps, content in
      let old = try fileBytes(database.path)
      steps.fail(at: -1, .io)
      try database.writeCopy(to: folder + "/b", encryptionKey: nil)
      let last = steps.taken.count
      steps.fail(at: last, .io)
      #expect(errorCode { try database.compact() } == .io)
      #expect(steps.taken.last == .syncFolder)
      #expect(errorCode { try database.beginWrite() } == .poisoned)
      #expect(errorCode { try database.compact() } == .poisoned)
      #expect(try Content(database) == content)
      // Others see the new file, and must not write either.
      let other = try Database.open(path: database.path)
      #expect(try Content(other) == content)
      #expect(errorCode { try other.beginWrite() } == .poisoned)
      try other.close()
      try database.close()
      #expect(try Content(path: database.path) == content)
      #expect(try fileBytes(database.path) == fileBytes(folder + "/b"))
      try overwrite(folder + "/old", old)
      #expect(try Content(path: folder + "/old") == content)
    }
  }

  @Test("a copy that fails leaves nothing")
  func copyFails() throws {
    try withFilled { database, folder, steps, content in
      var number = 0
      while number < 50 {
        steps.fail(at: number, number % 2 == 0 ? .noSpace : .io)
        let code = errorCode { try database.writeCopy(to: folder + "/b", encryptionKey: nil) }
        guard let code else { break }
        #expect(code == (number % 2 == 0 ? .noSpace : .io))
        #expect(leftOvers(folder) == [])
        number += 1
      }
      #expect(steps.taken.count == number && steps.taken.last == .syncFolder)
      let copy = try Content(path: folder + "/b")
      #expect(copy == content)
    }
  }

  @Test("without space for two files a database opens all the same")
  func opensWithoutSpace() throws {
    try withFilled { database, _, _, content in
      try database.close()
      for (code, opens) in [(EngineError.Code.noSpace, true), (.io, false)] {
        let steps = Steps()
        steps.fail(at: 1, code)
        var options = Database.Options()
        options.newFileFailpoint = { step throws(EngineError) in try steps.take(step) }
        options.shouldCompactOnLaunch = { _, _ in true }
        if opens {
          #expect(try Content(path: database.path, options) == content)
        } else {
          #expect(errorCode { try Database.open(path: database.path, options: options) } == code)
        }
        #expect(steps.taken.count == 2)
      }
      #expect(try Content(path: database.path) == content)
    }
  }
}
