// EngineCheckTests.swift: each oracle passes right images and catches its planted defect.

import Engine
import Testing

@testable import Findings
@testable import Oracles
@testable import Recording
@testable import Workload

@Suite struct EngineCheckTests {
  @Test("the images of a correct run break no promise, at any mark")
  func correctRun() throws {
    let run = try RecordedRun.ordinary()
    #expect(run.violations.isEmpty)
    let check = try run.check()
    #expect(check.timeline.violations.isEmpty)
    #expect(check.timeline.markCount == run.marks.count)
    for (seen, image) in run.images.enumerated() {
      #expect(judge(check, image, marksSeen: seen) == [], "after \(seen) marks")
    }
  }

  @Test("a commit in flight may be there or not")
  func inFlight() throws {
    let run = try RecordedRun.ordinary()
    let check = try run.check()
    for number in 1...5 {
      let acked = try run.marksSeen(afterCommit: number)
      // Before the acknowledgement, and after `begin`, both images are allowed.
      #expect(judge(check, run.images[acked - 2], marksSeen: acked - 1) == [])
      #expect(judge(check, run.images[acked], marksSeen: acked - 1) == [])
    }
  }

  @Test("durability: an older image under a newer acknowledgement is found")
  func durability() throws {
    let run = try RecordedRun.ordinary()
    let check = try run.check()
    for number in 1...5 {
      let seen = try run.marksSeen(afterCommit: number)
      let found = judge(check, run.images[seen - 2], marksSeen: seen)
      #expect(found.map(\.oracle) == [.durability], "\(found)")
      #expect(found.first?.got == "the recovered version is \(number + 1)")
    }
  }

  @Test("prefix: a version that was never begun is found")
  func prefix() throws {
    let run = try RecordedRun.ordinary()
    let check = try run.check()
    let early = try run.marksSeen(afterCommit: 2)
    let late = try run.marksSeen(afterCommit: 4)
    #expect(judge(check, run.images[late], marksSeen: early).map(\.oracle) == [.prefix])
  }

  @Test("structure: a missing file, a made-up one, and a flipped byte are found")
  func structure() throws {
    let run = try RecordedRun.ordinary()
    let check = try run.check()
    let seen = run.marks.count
    let image = try #require(run.images.last)
    #expect(check.judge(nil, marksSeen: seen).map(\.oracle) == [.structure])
    #expect(check.judge(nil, marksSeen: 0).isEmpty)
    #expect(
      judge(check, [UInt8](repeating: 0, count: 4096), marksSeen: seen)
        .map(\.oracle).contains(.structure))
    #expect(
      judge(check, Array("not a database".utf8), marksSeen: seen).map(\.oracle) == [.structure])
    #expect(
      judge(check, Array(image.prefix(image.count / 2)), marksSeen: seen)
        .map(\.oracle).contains(.structure))
    // One byte in every sector: what is found is damage, or an older version, or nothing at all in
    // sectors that no version uses; and never a content that nobody wrote.
    var damaged = 0
    for sector in 0..<(image.count / 4096) {
      var bytes = image
      bytes[sector * 4096 + 9] ^= 0x10
      let found = judge(check, bytes, marksSeen: seen)
      damaged += found.isEmpty ? 0 : 1
      #expect(found.allSatisfy { [.structure, .durability].contains($0.oracle) }, "\(found)")
    }
    #expect(damaged >= 4)
  }

  @Test("atomicity: half of a transaction is found")
  func atomicity() throws {
    let run = try RecordedRun.ordinary()
    var halved = run.plan
    for index in halved.commands.indices {
      if case .transaction(var transaction) = halved.commands[index].action,
        transaction.number == 3
      {
        transaction.mutations.removeLast(2)
        halved.commands[index].action = .transaction(transaction)
      }
    }
    let broken = try RecordedRun(halved)
    let seen = try run.marksSeen(afterCommit: 3)
    let found = judge(try run.check(), broken.images[seen], marksSeen: seen)
    #expect(found.map(\.oracle) == [.atomicity], "\(found)")
    #expect(
      judge(try run.check(), broken.images[seen], marksSeen: seen - 1).map(\.oracle) == [.atomicity]
    )
  }

  @Test("reference model: the content of another version, or of a cancelled transaction, is found")
  func referenceModel() throws {
    let run = try RecordedRun.ordinary()
    // A commit that does nothing leaves the content of the version before it.
    var idle = run.plan
    for index in idle.commands.indices {
      if case .transaction(var transaction) = idle.commands[index].action {
        if transaction.number == 4 { transaction.mutations = [] }
        transaction.cancels = false
        idle.commands[index].action = .transaction(transaction)
      }
    }
    let broken = try RecordedRun(idle)
    let seen = try run.marksSeen(afterCommit: 4)
    let found = judge(try run.check(), broken.images[seen], marksSeen: seen)
    #expect(found.map(\.oracle) == [.referenceModel], "\(found)")
    #expect(found.first?.got == "it holds the content of version 5 (transaction 3)")
  }

  @Test("a cancelled transaction that was committed is found")
  func cancelled() throws {
    let run = try RecordedRun.ordinary()
    var kept = run.plan
    for index in kept.commands.indices {
      if case .transaction(var transaction) = kept.commands[index].action {
        transaction.cancels = false
        kept.commands[index].action = .transaction(transaction)
      }
    }
    let broken = try RecordedRun(kept)
    let cancelled = try broken.marksSeen(afterCommit: 6)
    let seen = try #require(run.marks.firstIndex { $0.text == "cancel 6\n" }) + 1
    let found = judge(try run.check(), broken.images[cancelled], marksSeen: seen)
    #expect(found.map(\.oracle) == [.prefix], "\(found)")
  }

  @Test(
    "usable: a recovered database that takes no commit, or forgets it, is found",
    arguments: [ImageBackend.Failure.writes, .syncs, .forgetsWrites])
  func usable(failure: ImageBackend.Failure) throws {
    let run = try RecordedRun.ordinary()
    let check = try run.check()
    let backend = ImageBackend()
    backend.load(try #require(run.images.last))
    backend.failure = failure
    let found = check.judge(backend, marksSeen: run.marks.count)
    #expect(found.map(\.oracle) == [.usableAfterRecovery], "\(found)")
    var options = EngineCheck.Options()
    options.usableEvery = 0
    #expect(try run.check(options).judge(backend, marksSeen: run.marks.count).isEmpty)
  }

  @Test("a backend is used again for image after image")
  func reuse() throws {
    let run = try RecordedRun.ordinary()
    let check = try run.check()
    let backend = ImageBackend()
    for _ in 0..<3 {
      for (seen, image) in run.images.enumerated() {
        backend.load(image)
        #expect(check.judge(backend, marksSeen: seen, ordinal: seen) == [])
      }
    }
  }

  @Test("what an open found is there as long as no power was cut; an older version is told")
  func foundBefore() throws {
    let run = try RecordedRun.ordinary()
    let check = try run.check()
    let marksSeen = run.marks.count
    let image = try #require(run.images.last)
    try withTemporaryDirectory { directory in
      func judge(_ foundBefore: UInt64?) throws -> [OracleName] {
        try write(image, to: directory + "/data.realm")
        return check.judge(
          directory: directory, marksSeen: marksSeen, foundBefore: foundBefore
        ).map(\.oracle)
      }
      let newest = try #require(AckLog(run.marks).lastAckedVersion)
      #expect(try judge(newest) == [] && judge(nil) == [])
      #expect(try judge(newest + 1) == [.durability])
    }
    #expect(AckLog([Mark("recovered version 3\nfailed 1 io\n")]).lastFound == 3)
    #expect(AckLog([Mark("begin 1\n")]).lastFound == nil)
  }

  @Test("a directory is judged as an image is")
  func directory() throws {
    let run = try RecordedRun.ordinary()
    let check = try run.check()
    try withTemporaryDirectory { directory in
      #expect(
        check.judge(directory: directory, marksSeen: run.marks.count).map(\.oracle) == [.structure])
      try write(try #require(run.images.last), to: directory + "/data.realm")
      #expect(check.judge(directory: directory, marksSeen: run.marks.count) == [])
      // The usable check has committed to it meanwhile.
      #expect(
        check.judge(directory: directory, marksSeen: run.marks.count).map(\.oracle).contains(
          .prefix))
    }
  }
}
