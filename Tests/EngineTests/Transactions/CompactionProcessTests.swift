// CompactionProcessTests.swift: compaction among processes: killed before each of its steps,
// refused while others are there, and others who come while it runs.

import Synchronization
import Testing

@testable import Engine

@Suite("Compaction and other processes", .serialized)
struct CompactionProcessTests {
  private func withFilled(_ body: (String, String, Content) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let path = folder + "/a.realm"
      let database = try Database.open(path: path)
      try Everything.fill(database, rows: 48)
      let content = try Content(database)
      try database.close()
      try body(path, folder, content)
    }
  }

  @Test("killed before any step: the old file or the new one, and nothing else after an open")
  func diesCompacting() throws {
    try withFilled { path, folder, content in
      // Each new file stands beside the one before; a number of one that is gone may come again.
      var identity = (try? FileIdentity.at(path))
      var number = 0
      var replaced = 0
      while number < 50 {
        let worker = try WorkerProcess(path, "compact", number)
        let line = worker.line()
        let status = worker.wait()
        let present = (try? FileIdentity.at(path))
        if present != identity { replaced += 1 }
        identity = present
        let found = try Content(path: path)
        #expect(found == content)
        #expect(fileNames(in: folder).filter { $0.hasSuffix("ing") } == [])
        if line != nil {
          #expect(line == "compacted true" && status == 0)
          break
        }
        #expect(status == 128 + 9)
        number += 1
      }
      #expect(number > 6 && replaced == 2, "only the last step comes after the rename")
    }
  }

  @Test("killed before any step of a copy: nothing, or the whole copy")
  func diesCopying() throws {
    try withFilled { path, folder, content in
      let copy = path + ".copy"
      var number = 0
      while number < 50 {
        let worker = try WorkerProcess(path, "copy", number)
        let line = worker.line()
        worker.wait()
        if fileSizeBytes(copy) >= 0 {
          let found = try Content(path: copy)
          #expect(found == content)
          _ = Syscalls.unlink(copy)
        } else {
          #expect(line == nil)
        }
        if line != nil { break }
        // A left-over is in nobody's way.
        number += 1
      }
      #expect(number > 5)
      #expect(fileNames(in: folder).filter { $0.hasSuffix("ing") } == [])
    }
  }

  @Test("while another process has the database open nothing happens")
  func isRefused() throws {
    try withFilled { path, _, content in
      let database = try Database.open(path: path)
      let other = try WorkerProcess(path, "hold")
      _ = other.line()
      #expect(try !database.compact())
      other.goOn()
      other.wait()
      #expect(try database.compact())
      let found = try Content(database)
      #expect(found == content)
      try database.close()
    }
  }

  @Test("who opens meanwhile waits, and gets the new file")
  func openerWaits() throws {
    try withFilled { path, _, content in
      let identity = (try? FileIdentity.at(path))
      let worker = try WorkerProcess(path, "compact-slowly")
      #expect(worker.line() == "waiting")
      let opened = OpenedContent()
      let thread = startThread {
        guard let database = try? Database.open(path: path) else { return }
        opened.set(try? Content(database))
        try? database.close()
      }
      Syscalls.sleep(milliseconds: 150)
      #expect(opened.content == nil, "the opener does not come in")
      #expect((try? FileIdentity.at(path)) == identity)
      worker.goOn()
      #expect(worker.line() == "compacted true")
      worker.wait()
      thread.join()
      #expect(opened.content == content)
      #expect((try? FileIdentity.at(path)) != identity)
    }
  }
}

/// What a thread found.
private final class OpenedContent: Sendable {
  private let state = Mutex<Content?>(nil)
  var content: Content? { state.withLock { $0 } }
  func set(_ content: Content?) { state.withLock { $0 = content } }
}
