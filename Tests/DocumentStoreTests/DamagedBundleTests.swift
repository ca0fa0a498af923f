// DamagedBundleTests.swift: real bundles, damaged in seeded ways: bytes and pages, rows, names in
// the schema and in lists, the log, and blobs. What `verify` accepts must work; everything else
// must end with errors. A round is drawn from its number, so that one that fails can be run alone.

import Foundation
import Requirements
import TestFiles
import Testing

@testable import DocumentStore

@Suite("Damaged bundles")
struct DamagedBundleTests {
  /// `FAULTLINE_LARGE` damages each bundle `DAMAGED_BUNDLES` times, from `DAMAGED_BUNDLES_FROM` on.
  private static let rounds: Range<Int> = {
    guard FullSize.isOn else { return 0..<3 }
    let first = Int(clamping: FullSize.setting("DAMAGED_BUNDLES_FROM", 0))
    return first..<first + Int(clamping: FullSize.setting("DAMAGED_BUNDLES", 100))
  }()

  @Test("give errors, or findings, or what still works", arguments: Golden.names)
  func damaged(name: String) throws {
    let folder = try TemporaryFolder()
    let whole = try Golden.unpack(name, into: folder)
    var counts = [0, 0, 0]
    for round in Self.rounds {
      let bundle = folder.path + "/damaged.cblite2"
      try? FileManager.default.removeItem(atPath: bundle)
      try FileManager.default.copyItem(atPath: whole, toPath: bundle)
      var damage = BundleDamage(bundle, seed: UInt64(round))
      let what = try damage.apply()
      let start = Self.processorSeconds()
      let outcome = BundleUse(bundle, isReadOnly: round % 3 == 0).outcome()
      let seconds = Self.processorSeconds() - start
      // A whole bundle takes a tenth of a second.
      #expect(seconds < 10, "\(name), round \(round), \(what): \(seconds) s")
      switch outcome {
      case .refused: counts[0] += 1
      case .found: counts[1] += 1
      case .sound: counts[2] += 1
      case .fault(let text): Issue.record("\(name), round \(round), \(what): \(text)")
      }
    }
    #expect(Self.peakMemoryMiB() < 2048)
    if FullSize.isOn { print("damaged bundles: \(name): refused, found, sound: \(counts)") }
  }

  private static func processorSeconds() -> Double {
    let status = (try? String(contentsOfFile: "/proc/self/stat", encoding: .utf8)) ?? ""
    // Behind the name in parentheses: user and system time are the 12th and 13th, in hundredths.
    let fields = status.split(separator: ")").last?.split(separator: " ") ?? []
    return fields.dropFirst(11).prefix(2).reduce(0) { $0 + (Double($1) ?? 0) / 100 }
  }

  private static func peakMemoryMiB() -> Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM") }
    return (line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) / 1024
  }

  @Test("of which compaction removes no blob that a document names, flagged or not")
  func unflagged() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    let digests = try file.write { transaction -> [BlobDigest] in
      let digests = try [[1], [2]].map { try transaction.putBlob($0) }
      let json = "{\"a\":[{\"@type\":\"blob\",\"digest\":\"\(digests[0])\"}]}"
      try transaction.collection().save("a", body: try transaction.encode(json: json))
      return digests
    }
    // As releases of the real library left it that took deltas (core 1875, 1889).
    try PlainSQL(folder.bundle).execute("UPDATE kv_default SET flags = 0")
    #expect(try file.compact().removedBlobs == [digests[1]])
    #expect(try file.read { try $0.blob(digests[0]) } == [1])
    try file.close()
  }
}
