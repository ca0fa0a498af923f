// ProcessTests.swift [U]: several processes on one database, some of which are killed.
// Safety: clock_gettime writes to a local.

import Glibc
import Testing

@testable import Engine

@Suite("Processes", .serialized)
struct ProcessTests {
  @Test("a writer that is killed before any call of its commit is taken over from the file")
  func writerKilledInCommit() throws {
    // allocate is not needed; a commit is: nodes, sync, slot, sync, publication.
    for number in 0...8 {
      try withAccounts { path in
        let reader = try WorkerProcess(path, "hold")
        #expect(reader.line() == "held 2")
        let database = try Database.open(path: path)
        let snapshot = try database.snapshot()
        let writer = try WorkerProcess(path, "die-at-write", number)
        let isAlive = writer.line() == "alive"
        #expect(writer.wait() == (isAlive ? 0 : 128 + SIGKILL))
        // Nobody was restarted; what is published is whole.
        #expect(try Accounts.sum(in: database) == Accounts.sumWanted)
        let before = try Accounts.marks(in: database)
        let third = try WorkerProcess(path, "append", 3)
        #expect(third.line()?.hasPrefix("appended") == true)
        #expect(third.wait() == 0)
        try Accounts.mark(1000, in: database)
        let after = try Accounts.marks(in: database)
        #expect(after >= before + 1 && after <= 2)
        if isAlive { #expect(after == 2) }
        #expect(try snapshot.count(of: "Mark") == 0)
        #expect(try Accounts.sum(in: database) == Accounts.sumWanted)
        #expect(database.publication.takeoverCount == (isAlive ? 0 : 1))
        try database.verify()
        snapshot.release()
        reader.goOn()
        #expect(reader.line() == "closed")
        try database.close()
      }
    }
  }

  @Test("a writer killed behind any store of its publication loses nothing that was durable")
  func writerKilledInPublication() throws {
    let count = Publication.stores(
      RootSlot(version: .first, top: .none, logicalSizeBytes: 4096)
    ).count
    for number in 0..<count {
      try withAccounts { path in
        let database = try Database.open(path: path)
        let writer = try WorkerProcess(path, "die-at-store", number)
        #expect(writer.line() == nil)
        #expect(writer.wait() == 128 + SIGKILL)
        // Not published, so not seen; but the next writer must build on it, not over it.
        #expect(try Accounts.marks(in: database) == 0)
        #expect(try Accounts.sum(in: database) == Accounts.sumWanted)
        try Accounts.mark(1000, in: database)
        #expect(try Accounts.marks(in: database) == 2)
        #expect(database.version.rawValue == 4)
        #expect(database.publication.takeoverCount == 1)
        try database.verify()
        try database.close()
      }
    }
  }

  @Test("a killed reader's pin is given back by the next writer, and its space is used again")
  func readerKilled() throws {
    try withAccounts { path in
      let database = try Database.open(path: path)
      let reader = try WorkerProcess(path, "hold")
      #expect(reader.line() == "held 2")
      for round in 0..<300 { try Accounts.mark(Int64(round), in: database) }
      #expect(try database.activePins().map(\.processID) == [reader.process])
      #expect(database.statistics().pendingBytes > 0)
      #expect(database.statistics().pinnedVersions == [Version(rawValue: 2)])
      // Not waited for: a zombie keeps nothing alive.
      reader.killOnly()
      var tries = 0
      while ProcessTable.system.life(reader.process) != .dead, tries < 5000 {
        tries += 1
        Syscalls.sleep(milliseconds: 1)
      }
      for round in 0..<2 { try Accounts.mark(Int64(round), in: database) }
      #expect(try database.activePins().isEmpty)
      #expect(database.statistics().pendingBytes <= 10 * 4096)
      try database.verify()
      try database.close()
    }
  }

  @Test("five thousand pins of a killed process are given back")
  func manyPinsKilled() throws {
    try withAccounts { path in
      let database = try Database.open(path: path)
      let reader = try WorkerProcess(path, "hold-many", 5000)
      #expect(reader.line() == "held 5000")
      #expect(try database.activePins().count == 5000)
      reader.kill()
      for round in 0..<2 { try Accounts.mark(Int64(round), in: database) }
      #expect(try database.activePins().isEmpty)
      try database.close()
    }
  }

  @Test("a killed process gives its writer lock back, and nothing has to be taken over")
  func lockHolderKilled() throws {
    try withAccounts { path in
      let database = try Database.open(path: path)
      let writer = try WorkerProcess(path, "open-write")
      #expect(writer.line() == "writing")
      #expect(errorCode { try database.tryBeginWrite() } == .busy)
      let thread = startThread {
        #expect(throws: Never.self) { try Accounts.mark(1, in: database) }
      }
      Syscalls.sleep(milliseconds: 20)
      writer.kill()
      thread.join()
      #expect(database.publication.takeoverCount == 0)
      try database.close()
    }
  }

  @Test("a child of fork is refused, and can open the database itself")
  func fork() throws {
    try withAccounts { path in
      let worker = try WorkerProcess(path, "fork")
      #expect(worker.line() == "forked forked forked forked forked forked")
      #expect(worker.line() == "busy busy sum 6400")
      #expect(worker.line() == "pins 1")
      #expect(worker.line() == "parent 6400 child 0")
      #expect(worker.wait() == 0)
    }
  }

  @Test("a child that outlives its parent does not keep the parent's locks")
  func forkedChildOutlives() throws {
    try withAccounts { path in
      let worker = try WorkerProcess(path, "fork-in-write")
      let line = worker.line() ?? ""
      #expect(line.hasPrefix("forked "))
      #expect(worker.wait() == 128 + SIGKILL)
      let child = try #require(Int32(line.dropFirst(7)))
      #expect(kill(child, 0) == 0, "the child must live for the test to mean anything")
      // Alone again: the lock file is written anew, and the data file can be had exclusively.
      var alone = Database.Options()
      alone.isShared = false
      try Database.open(path: path, options: alone).close()
      let database = try Database.open(path: path)
      try database.tryBeginWrite().cancel()
      try database.close()
      worker.goOn()
      if child > 0 { kill(child, SIGKILL) }
    }
  }

  @Test("threads of three processes move amounts about, and every reader sees the same sum")
  func mixed() throws {
    try withAccounts { path in
      let database = try Database.open(path: path)
      let workers = try (0..<3).map { try WorkerProcess(path, "mix", 8, 1500, $0) }
      for worker in workers {
        let line = worker.line() ?? "nothing"
        #expect(line.contains("wrong=0 failures=[]"), "\(line)")
        #expect(worker.wait() == 0)
      }
      #expect(database.version.rawValue > 5)
      #expect(try Accounts.sum(in: database) == Accounts.sumWanted)
      #expect(try database.activePins().isEmpty)
      try database.verify()
      try database.close()
    }
  }

  @Test("workers that are killed at any time leave a database that goes on")
  func mixedWithKills() throws {
    try withAccounts { path in
      let database = try Database.open(path: path)
      for round in 0..<12 {
        let workers = try (0..<2).map { try WorkerProcess(path, "mix", 4, 10_000, round * 2 + $0) }
        Syscalls.sleep(milliseconds: 20 + round * 7)
        for worker in workers { worker.kill() }
        try Accounts.mark(Int64(round), in: database)
        #expect(try Accounts.sum(in: database) == Accounts.sumWanted)
      }
      #expect(try Accounts.marks(in: database) == 12)
      try Accounts.mark(0, in: database)
      #expect(try database.activePins().isEmpty)
      try database.verify()
      try database.close()
    }
  }

  @Test("waiters of other processes wake within milliseconds", arguments: [1, 0])
  func changes(allowsFIFO: Int) throws {
    try withAccounts { path in
      let database = try Database.open(path: path)
      let rounds = 40
      let waiters = try (0..<2).map { _ in try WorkerProcess(path, "wait", rounds, allowsFIFO) }
      for waiter in waiters { #expect(waiter.line() == "waiting 2") }
      var latencies: [UInt64] = []
      for round in 0..<rounds {
        Syscalls.sleep(milliseconds: round % 3)
        try Accounts.mark(Int64(round), in: database)
        let published = TestClock.nanoseconds()
        for waiter in waiters {
          let words = (waiter.line() ?? "").split(separator: " ")
          #expect(words.count == 3 && words[1] == "\(round + 3)")
          let seen = words.last.flatMap { UInt64($0) } ?? .max
          latencies.append(seen > published ? seen - published : 0)
        }
      }
      latencies.sort()
      // Far below a round of polling: somebody was woken. The machine may be busy, so the bound is
      // for the middle one.
      #expect(latencies[latencies.count / 2] < 20_000_000)
      print("wake-up (fifo=\(allowsFIFO)): median \(latencies[latencies.count / 2] / 1000) us")
      try database.close()
    }
  }
}

enum TestClock {
  static func nanoseconds() -> UInt64 {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
