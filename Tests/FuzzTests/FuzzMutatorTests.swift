// FuzzMutatorTests.swift: [U] the library of mutations, called as AFL++ calls it. FUZZ_TARGET is a
// variable of the whole process, so each test has a process of its own.
// Safety: a changed input is copied before the next call, as AFL++ does.

import Fuzz
import FuzzMutators
import Glibc
import LabFuzz
import TestSupport
import Testing

@Suite("Mutations for AFL++")
struct FuzzMutatorTests {
  /// What a mutator of that seed makes of an input, in so many tries; nil where it leaves one out.
  private static func changes(
    of input: [UInt8], target: String, seed: UInt32, tries: Int, sizeMax: Int
  ) -> [[UInt8]?] {
    unsafe setenv("FUZZ_TARGET", target, 1)
    let mutator = unsafe startMutating(nil, seed)
    defer { unsafe stopMutating(mutator) }
    return (0..<tries).map { _ in
      var place: UnsafeMutablePointer<UInt8>?
      let size = unsafe mutateInput(
        mutator, input, input.count, &place, nil, otherCount: 0, countMax: sizeMax)
      // AFL++ gives up when it gets no place, even for an input of no bytes.
      unsafe precondition(place != nil)
      return size == 0 ? nil : unsafe [UInt8](UnsafeBufferPointer(start: place, count: size))
    }
  }

  @Test("are the target's own, follow from the seed, and keep to the size that is asked for")
  func mutates() async {
    await #expect(processExitsWith: .success) {
      let input = Array("age > 3 AND name BEGINSWITH 'a'".utf8)
      let first = Self.changes(of: input, target: "query", seed: 3, tries: 300, sizeMax: 4096)
      let again = Self.changes(of: input, target: "query", seed: 3, tries: 300, sizeMax: 4096)
      let other = Self.changes(of: input, target: "query", seed: 4, tries: 300, sizeMax: 4096)
      precondition(first == again)
      precondition(first != other)
      let changed = first.compactMap { $0 }
      precondition(Set(changed).count > 100)
      // Words of the language stand in them that the input has not.
      let texts = changed.map { String(decoding: $0, as: UTF8.self) }
      precondition(texts.contains { $0.contains("DISTINCT") })
      precondition(texts.contains { $0.contains("BETWEEN") })
      let short = Self.changes(of: input, target: "query", seed: 3, tries: 300, sizeMax: 40)
      precondition(changed.contains { $0.count > 40 })
      precondition(short.contains { $0 != nil })
      precondition(short.allSatisfy { ($0?.count ?? 0) <= 40 })
    }
  }

  @Test("are asked for where a target has them, and not otherwise")
  func counts() async {
    await #expect(processExitsWith: .success) {
      for target in FuzzTarget.all {
        unsafe setenv("FUZZ_TARGET", target.name, 1)
        let mutator = unsafe startMutating(nil, 1)
        let count = unsafe countMutations(mutator, nil, 0)
        precondition((count > 0) == (target.mutate != nil), "\(target.name): \(count)")
        unsafe stopMutating(mutator)
      }
    }
  }

  @Test("need a target that there is")
  func refuses() async {
    await #expect(processExitsWith: .failure) {
      unsafe setenv("FUZZ_TARGET", "nothing", 1)
      _ = unsafe startMutating(nil, 1)
    }
  }

  @Test("the script says how it is used")
  func usage() throws {
    let result = try runShell("bash fuzz/afl.sh query soon", in: FuzzProgram.root)
    #expect(result.status == 2)
    #expect(result.output.contains("Usage: bash fuzz/afl.sh TARGET SECONDS"), "\(result.output)")
  }
}
