// InspectTests.swift: `faultline inspect` through the built program: sound files, damaged ones,
// other things; and hundreds of hostile ones through the report itself.

import Engine
import Foundation
import TestSupport
import Testing

@testable import LabCore
@testable import Reports

@Suite("Inspect")
struct InspectTests {
  private static let program =
    URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    .appendingPathComponent("faultline").path

  private static func inspect(_ arguments: String...) throws -> ProgramResult {
    try RunningProgram([program, "inspect"] + arguments, in: "/").wait()
  }

  /// A database of two versions with rows beyond one leaf, long strings and free space.
  private static func makeDatabase(at path: String, tableName: String = "Dog") throws {
    let database = try Database.open(path: path)
    let first = try database.beginWrite()
    try first.createTable(
      TableSchema(
        name: tableName,
        columns: [
          ColumnSchema(name: "name", type: .string), ColumnSchema(name: "age", type: .int),
        ]))
    for key in 0..<3000 {
      let name = key % 500 == 0 ? String(repeating: "y", count: 5000) : "dog \(key)"
      try first.insert(into: tableName, key: Int64(key), [.string(name), .int(Int64(key * 7919))])
    }
    try first.commit()
    let second = try database.beginWrite()
    for key in 0..<200 { try second.delete(from: tableName, key: Int64(key)) }
    try second.commit()
    try database.close()
  }

  @Test("a sound file: format, slots, tables, space and map, with exit status 0")
  func sound() throws {
    let folder = try TemporaryDirectory()
    let path = folder.file("data.realm")
    try Self.makeDatabase(at: path)
    let before = try Data(contentsOf: URL(fileURLWithPath: path))
    let result = try Self.inspect(path, "--verify")
    #expect(result.status == 0, "\(result.output)")
    let lines = result.output.split(separator: "\n").map(String.init)
    #expect(lines.first?.hasSuffix("bytes, format version 4") == true)
    #expect(lines.last == "sound")
    #expect(lines.count { $0.hasPrefix("slot ") && $0.contains(": valid, version ") } == 2)
    #expect(lines.count { $0.hasSuffix("<- current") } == 1)
    #expect(lines.contains("version 3 is what an open finds"))
    #expect(lines.contains { $0.hasPrefix("table Dog: 2800 rows, depth 2, ") })
    #expect(lines.contains("  columns: key int, name string, age int"))
    for use in ["header", "group", "leaf", "inner", "string", "freeList", "pending"] {
      #expect(lines.contains { $0.hasPrefix("  \(use) ") }, "\(use)")
    }
    #expect(lines.contains { $0.hasPrefix("verify: ") && $0.contains("2800 rows") })
    #expect(lines.contains { $0.hasPrefix("             0  HHH") })
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
  }

  @Test("the JSON has the same, and its map covers the file without gaps")
  func json() throws {
    let folder = try TemporaryDirectory()
    let path = folder.file("data.realm")
    try Self.makeDatabase(at: path)
    let result = try Self.inspect(path, "--json", "--verify")
    #expect(result.status == 0)
    let report = try JSONDecoder().decode(
      InspectionReport.self, from: Data(result.output.utf8))
    #expect(report.isSound && report.formatVersion == 4 && report.version == 3)
    #expect(report.tables.map(\.rows) == [2800])
    #expect(report.verification?.rows == 2800)
    var next: UInt64 = 0
    for run in report.map {
      #expect(run.offsetBytes == next)
      next += run.sizeBytes
    }
    #expect(next == report.fileSizeBytes)
    #expect(report.space.reduce(0) { $0 + $1.sizeBytes } == report.fileSizeBytes)
  }

  @Test("a damaged node is told with both numbers, and the rest of the file is still shown")
  func damaged() throws {
    let folder = try TemporaryDirectory()
    let path = folder.file("data.realm")
    try Self.makeDatabase(at: path)
    let sound = try InspectionReport(path: path)
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    let leaf = try #require(sound.map.first { $0.use == "leaf" })
    bytes[Int(leaf.offsetBytes) + 100] ^= 1
    try bytes.write(to: URL(fileURLWithPath: path))
    for arguments in [[path], [path, "--verify"]] {
      let result = try RunningProgram([Self.program, "inspect"] + arguments, in: "/").wait()
      #expect(result.status == 1, "\(result.output)")
      let last = result.output.split(separator: "\n").last ?? ""
      #expect(last.hasPrefix("DAMAGED: corrupted: ") && last.contains(" != "), "\(last)")
      #expect(last.contains("ref \(leaf.offsetBytes)"))
      #expect(result.output.contains("  unaccounted "))
      #expect(result.output.contains("table Dog: 2800 rows"))
    }
    let json = try Self.inspect(path, "--json")
    #expect(json.status == 1 && json.output.contains("\"code\" : \"corrupted\""))
  }

  @Test("both readers find every golden file sound; an encrypted one with its key")
  func golden() throws {
    let folder =
      URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("EngineTests/Golden").path
    let keys = try TemporaryDirectory()
    let bytes = (0..<64).map { UInt8($0) }
    try Data(bytes).write(to: URL(fileURLWithPath: keys.file("bytes")))
    let digits = bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    try Data((digits + "\n").utf8).write(to: URL(fileURLWithPath: keys.file("digits")))
    try Data(bytes.reversed()).write(to: URL(fileURLWithPath: keys.file("other")))
    let names = try FileManager.default.contentsOfDirectory(atPath: folder)
    #expect(names.count > 5)
    for name in names {
      let path = folder + "/" + name
      let isEncrypted = name.contains("encrypted")
      let plain = try Self.inspect(path, "--verify")
      #expect(plain.status == 0, "\(plain.output)")
      #expect(plain.output.contains("X-ray: sound") == !isEncrypted)
      for key in ["bytes", "digits"] {
        let opened = try Self.inspect(path, "--verify", "--key", keys.file(key))
        #expect(opened.status == (isEncrypted ? 0 : 2), "\(opened.output)")
        #expect(opened.output.contains("verify: ") == isEncrypted, "\(opened.output)")
      }
      #expect(try Self.inspect(path, "--key", keys.file("other")).status == 2)
      #expect(try Self.inspect(path, "--key", path).output.contains("hexadecimal digits"))
    }
  }

  @Test("what is not a database is a usage error that names it")
  func others() throws {
    let folder = try TemporaryDirectory()
    let text = folder.file("text")
    try Data(repeating: 0x61, count: 100_000).write(to: URL(fileURLWithPath: text))
    let empty = folder.file("empty")
    try Data().write(to: URL(fileURLWithPath: empty))
    let pipe = folder.file("pipe")
    #expect(try runShell("mkfifo \(pipe)", in: "/").status == 0)
    for path in [text, empty, pipe, folder.file("missing"), folder.file("."), "/dev/zero"] {
      let result = try Self.inspect(path)
      #expect(result.status == 2, "\(path): \(result.output)")
      #expect(result.output.hasPrefix("faultline: "))
    }
    #expect(try RunningProgram([Self.program, "inspect"], in: "/").wait().status == 2)
  }

  @Test("nothing in a file steers the terminal")
  func escapes() throws {
    let folder = try TemporaryDirectory()
    let path = folder.file("data.realm")
    try Self.makeDatabase(at: path, tableName: "a\u{1B}[31m\nb\u{202E}")
    let report = try InspectionReport(path: path)
    let text = report.lines().joined()
    #expect(text.contains("table a\\u{1b}[31m\\u{a}b\\u{202e}: "))
    #expect(!text.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x202E })
  }

  @Test("hostile files never trap: bytes flipped anywhere, files cut anywhere")
  func hostile() throws {
    let folder = try TemporaryDirectory()
    let path = folder.file("data.realm")
    try Self.makeDatabase(at: path)
    let whole = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    let victim = folder.file("hostile.realm")
    var generator = PRNG(Seed(rawValue: 8412))
    var damagedCount = 0
    for round in 0..<600 {
      var bytes = whole
      for _ in 0...generator.below(8) {
        // Mostly where the structure is: slots and the heads of nodes.
        let sector = generator.below(bytes.count / 4096) * 4096
        let place = round % 3 == 0 ? generator.below(bytes.count) : sector + generator.below(64)
        bytes[place] = UInt8(truncatingIfNeeded: generator.next())
      }
      if round % 5 == 0 { bytes = Array(bytes.prefix(generator.below(bytes.count))) }
      try Data(bytes).write(to: URL(fileURLWithPath: victim))
      guard let report = try? InspectionReport(path: victim, verifies: true) else { continue }
      #expect(!report.lines().isEmpty)
      _ = try report.json()
      if !report.isSound { damagedCount += 1 }
    }
    #expect(damagedCount > 200)
  }
}
