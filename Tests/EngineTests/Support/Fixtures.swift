// Fixtures.swift: [U] the tables, rows, folders and random numbers that the engine's tests share.

import Glibc
import Requirements

@testable import Engine

enum Fixtures {
  static let dogs = TableSchema(
    name: "Dog",
    columns: [ColumnSchema(name: "age", type: .int), ColumnSchema(name: "name", type: .string)])

  static func dog(_ key: Int) -> [Value] {
    [.int(Int64(key % 100)), .string("dog number \(key)")]
  }
}

/// Runs `body` with a new folder, and removes it with its files afterwards.
func withTemporaryFolder(_ body: (String) throws -> Void) throws {
  let folder = try TestFolder.make()
  defer { removeFolder(folder) }
  try body(folder)
}

/// Makes a folder.
func makeFolder(_ folder: String) throws {
  guard unsafe mkdir(folder, 0o700) == 0 else {
    throw EngineError.syscall("mkdir", folder, errno: errno)
  }
}

/// Removes a folder with its files.
func removeFolder(_ folder: String) {
  for name in fileNames(in: folder) where unsafe unlink(folder + "/" + name) != 0 {
    removeFolder(folder + "/" + name)
  }
  _ = unsafe rmdir(folder)
}

/// Names of the files in a folder, sorted.
func fileNames(in folder: String) -> [String] {
  guard let directory = unsafe opendir(folder) else { return [] }
  defer { unsafe closedir(directory) }
  var names: [String] = []
  while let entry = unsafe readdir(directory) {
    let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
      unsafe String(cString: UnsafeRawPointer(pointer).assumingMemoryBound(to: CChar.self))
    }
    if name != "." && name != ".." { names.append(name) }
  }
  return names.sorted()
}

/// SplitMix64, so that a printed seed repeats a test.
struct TestRandom: RandomNumberGenerator {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }

  mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }
}
