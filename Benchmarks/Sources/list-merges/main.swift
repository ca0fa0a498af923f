// main.swift: SyncCore's side of Benchmarks/lists.py: merges two long branches of one list.
//   list-merges FILE OPERATIONS-IN-A-TRANSACTION
// FILE has "base N", then for each of two branches "branch" and its operations, one on a line:
// "i PLACE NUMBER", "d PLACE" or "m FROM TO". Elements are texts of one character, by their numbers
// in Unicode. Prints the processor's seconds in which each side merges the second branch into the
// first, and the elements afterwards. Invariant: the server and its client have the same list.

import Foundation
import SyncCore

private let object = SyncObject("Document", .int(1))
private let list = SyncField(object, [], "characters")

private func text(_ number: Int) -> SyncValue {
  .text(SyncText(String(Unicode.Scalar(UInt32(number)).map(Character.init) ?? "?")))
}

private func operation(_ line: Substring) -> SyncOperation? {
  let parts = line.split(separator: " ")
  let numbers = parts.dropFirst().compactMap { Int($0) }
  switch (parts.first, numbers.count) {
  case ("i", 2): return .change(list, .listInsert(at: numbers[0], [text(numbers[1])]))
  case ("d", 1): return .change(list, .listErase(at: numbers[0], count: 1))
  case ("m", 2): return .change(list, .listMove(from: numbers[0], to: numbers[1]))
  default: return nil
  }
}

private func processorSeconds(_ body: () throws -> Void) rethrows -> Double {
  func now() -> Double { Double(clock()) / Double(CLOCKS_PER_SEC) }
  let start = now()
  try body()
  return now() - start
}

/// The changesets of a branch, all made on version 1.
private func changesets(
  _ client: UInt64, _ operations: [SyncOperation], of size: Int
) -> [SyncChangeset] {
  stride(from: 0, to: operations.count, by: size).enumerated().map { number, first in
    SyncChangeset(
      client: SyncClient(client), sequence: UInt64(number + 1), base: SyncVersion(1),
      stamp: SyncStamp(milliseconds: 10 + 2 * UInt64(number) + client),
      operations: Array(operations[first..<min(operations.count, first + size)]))
  }
}

private func fail(_ message: String) -> Never {
  print("list-merges: \(message)")
  exit(2)
}

private func merge(_ base: Int, _ branches: [[SyncOperation]], of size: Int) throws {
  var server = SyncMerger()
  let values = (0..<base).map { text(97 + $0 % 26) }
  try server.accept(
    SyncChangeset(
      client: SyncClient(9), sequence: 1, base: .zero, stamp: SyncStamp(milliseconds: 1),
      operations: [.create(object), .change(list, .listInsert(at: 0, values))]))
  let (first, second) = (
    changesets(1, branches[0], of: size), changesets(2, branches[1], of: size)
  )
  for changeset in first { try server.accept(changeset) }
  // The first branch's author, who has it confirmed.
  var client = SyncMerger()
  for entry in server.entries { try client.take(entry) }
  let serverSeconds = try processorSeconds {
    for changeset in second { try server.accept(changeset) }
  }
  let new = server.entries.suffix(second.count)
  let clientSeconds = try processorSeconds { for entry in new { try client.take(entry) } }
  guard client.state.digest == server.state.digest else { fail("client and server differ") }
  let merged = server.state.objects[object]?["characters"].list ?? []
  let bytes = second.reduce(0) { $0 + $1.encoded().count }
  print("server \(serverSeconds) client \(clientSeconds) bytes \(bytes)")
  let elements = merged.map { slot in
    if case .text(let text) = slot.value { "\(text)" } else { "?" }
  }
  print(elements.joined())
}

guard CommandLine.arguments.count == 3, let size = Int(CommandLine.arguments[2]), size > 0 else {
  fail("wanted: FILE and the number of operations in a transaction")
}
private var base = 0
private var branches: [[SyncOperation]] = []
let lines = try String(contentsOfFile: CommandLine.arguments[1], encoding: .utf8)
for line in lines.split(separator: "\n") {
  if line.hasPrefix("base ") {
    base = Int(line.dropFirst(5)) ?? 0
  } else if line == "branch" {
    branches.append([])
  } else if let operation = operation(line), !branches.isEmpty {
    branches[branches.count - 1].append(operation)
  } else {
    fail("line \(line) means nothing")
  }
}
guard branches.count == 2 else { fail("\(branches.count) branches; two are wanted") }
try merge(base, branches, of: size)
