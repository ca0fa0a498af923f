// Costs.swift [U]: what it costs that a file is synchronized: the same work on one that is and on
// one that is not, in turn, in one process. Processor time and clock, medians of some rounds.

import Foundation
import ObjectDatabase
import SyncClient
import SyncServer

/// What the costs are measured with.
final class Sample: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name: String
  @Persisted var age: Int
  @Persisted var score: Double
}

enum Costs {
  private static let (objectCount, commitCount, bulkCount, roundCount) = (10_000, 400, 100_000, 15)
  private static let realm = "samples"

  private static func configuration(_ name: String) -> Realm.Configuration {
    Realm.Configuration(fileURL: URL(filePath: name), objectTypes: [Sample.self])
  }

  private static func recorded(_ name: String) -> Realm.Configuration {
    SyncedFile.configuration(configuration(name), now: Writing.now)
  }

  /// Prints a table, with files in the working directory, which must have none of these names.
  static func measure() throws {
    print("work", "unsynced", "synchronized", "ratio", "of CPU", separator: "  ")
    try printBulk()
    try SyncServerStore.create(configuration("server.realm"), realm: realm, epoch: 1)
    try makeFiles()
    try printSizes()
    try printCommits()
    try printQueues()
  }

  /// Makes the two files, with nothing pending.
  private static func makeFiles() throws {
    let plain = try Realm(configuration: configuration("plain.realm"))
    let synced = try Realm(configuration: recorded("synced.realm"))
    try SyncedFile.mark(recorded("synced.realm"), realm: realm)
    for realm in [plain, synced] { try fill(realm, objectCount) }
    try Exchange(recorded("synced.realm"), server: configuration("server.realm")).rest()
  }

  // MARK: rows

  private static func printBulk() throws {
    var rounds: [(Spent, Spent)] = []
    for round in 0..<roundCount {
      let plain = try Realm(configuration: configuration("plain-\(round).realm"))
      let synced = try Realm(configuration: recorded("synced-\(round).realm"))
      try SyncedFile.mark(recorded("synced-\(round).realm"), realm: realm)
      rounds.append(
        (try Spent { try fill(plain, bulkCount) }, try Spent { try fill(synced, bulkCount) }))
    }
    line("bulk create", "objects/s", bulkCount, rounds)
  }

  /// Commits that nobody sends meanwhile: in objects that have not changed before, and in the same
  /// objects again and again.
  private static func printCommits() throws {
    let plain = try Realm(configuration: configuration("plain.realm"))
    let synced = try Realm(configuration: recorded("synced.realm"))
    for isSame in [true, false] {
      let rounds = try (0..<roundCount).map { round in
        let draws = (0..<commitCount).map { $0 &* 7_919 % objectCount + (isSame ? 0 : round + 1) }
        let (ours, others) = (try samples(draws, synced), try samples(draws, plain))
        if isSame, round == 0 { try commit(ours, synced, round) }
        return (
          try Spent { try commit(others, plain, round) },
          try Spent { try commit(ours, synced, round) }
        )
      }
      line(
        isSame ? "write one again" : "write one first", "commits/s", commitCount, rounds)
    }
  }

  /// The time until many small transactions, made offline, are at the server and confirmed.
  private static func printQueues() throws {
    for count in [500, 2_000] {
      let name = "queue-\(count)"
      try SyncServerStore.create(configuration("\(name)-server.realm"), realm: Self.realm, epoch: 1)
      let queued = try Realm(configuration: recorded("\(name).realm"))
      try SyncedFile.mark(recorded("\(name).realm"), realm: Self.realm)
      try fill(queued, 100)
      for number in 0..<count {
        try commit(try samples([number % 100], queued), queued, number)
      }
      let spent = try Spent {
        try Exchange(
          recorded("\(name).realm"), server: configuration("\(name)-server.realm")
        ).rest()
      }
      print("queue, transactions/s", count, Int(Double(count) / spent.processor), separator: "  ")
    }
  }

  private static func samples(_ ids: [Int], _ realm: Realm) throws -> [Sample] {
    try ids.map { id in
      guard let sample = realm.object(ofType: Sample.self, forPrimaryKey: id % objectCount) else {
        throw CocoaError(.fileReadNoSuchFile)
      }
      return sample
    }
  }

  /// The files with nothing pending, compacted.
  private static func printSizes() throws {
    var sizes: [Double] = []
    for (name, configuration) in [
      ("plain.realm", configuration("plain.realm")), ("synced.realm", recorded("synced.realm")),
    ] {
      guard try RealmFile(configuration).database.compact() else {
        throw CocoaError(.fileWriteUnknown)
      }
      sizes.append(
        Double(try URL(filePath: name).resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0))
    }
    print("size, bytes", Int(sizes[0]), Int(sizes[1]), number(sizes[1] / sizes[0]), separator: "  ")
  }

  // MARK: work

  private static func fill(_ realm: Realm, _ count: Int) throws {
    try realm.write {
      for id in 0..<count {
        let sample = Sample()
        sample.id = id
        sample.name = "sample \(id)"
        sample.age = id % 90
        sample.score = Double(id)
        realm.add(sample)
      }
    }
  }

  /// One property of each object, in a transaction for each.
  private static func commit(_ samples: [Sample], _ realm: Realm, _ round: Int) throws {
    for (number, sample) in samples.enumerated() {
      try realm.write { sample.score = Double(number + round) + 0.5 }
    }
  }

  // MARK: time

  /// Seconds by the clock, and of this process's processor time.
  private struct Spent {
    let clock: Double
    let processor: Double

    init(_ work: () throws -> Void) rethrows {
      let (began, used) = (Self.seconds(CLOCK_MONOTONIC), Self.seconds(CLOCK_PROCESS_CPUTIME_ID))
      try work()
      clock = Self.seconds(CLOCK_MONOTONIC) - began
      processor = Self.seconds(CLOCK_PROCESS_CPUTIME_ID) - used
    }

    private static func seconds(_ clock: clockid_t) -> Double {
      var time = timespec()
      _ = unsafe clock_gettime(clock, &time)
      return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
  }

  private static func line(
    _ work: String, _ unit: String, _ count: Int, _ rounds: [(plain: Spent, synced: Spent)]
  ) {
    let clocks = (median(rounds.map(\.plain.clock)), median(rounds.map(\.synced.clock)))
    let processor = (
      median(rounds.map(\.plain.processor)), median(rounds.map(\.synced.processor))
    )
    print(
      "\(work), \(unit)", Int(Double(count) / clocks.0), Int(Double(count) / clocks.1),
      number(clocks.0 / clocks.1), number(processor.0 / processor.1), separator: "  ")
  }

  private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

  private static func number(_ value: Double) -> String { String(format: "%.3f", value) }
}
