// Mutators.swift: [U] the targets' own mutations as AFL++ calls them: a library that
// AFL_CUSTOM_MUTATOR_LIBRARY names. FUZZ_TARGET names the target. AFL++ goes on with its own
// mutations besides.
// Safety: AFL++ calls from one thread, and has done with a changed input before it asks for the
// next; an input is read within the call that brings it.

import Fuzz
import Glibc
import LabFuzz

/// What `afl_custom_init` gives AFL++, and gets back with each call.
@safe private final class Mutator {
  private let target: FuzzTarget
  private var choices: MutantChoices
  /// The last changed input, for as long as AFL++ looks at it.
  private let output: UnsafeMutableBufferPointer<UInt8>

  init(_ target: FuzzTarget, seed: UInt32) {
    self.target = target
    choices = MutantChoices(seed: UInt64(seed))
    unsafe output = .allocate(capacity: target.sizeMax)
  }

  deinit { unsafe output.deallocate() }

  var hasMutations: Bool { target.mutate != nil }

  /// Where the changed input is, and how many bytes it has: none when this try is left out.
  func change(_ input: [UInt8], sizeMax: Int) -> (UnsafeMutablePointer<UInt8>?, Int) {
    let limit = unsafe min(sizeMax, output.count)
    guard let changed = target.mutate?(input, limit, &choices), changed.count <= limit else {
      return unsafe (output.baseAddress, 0)
    }
    _ = unsafe output.update(fromContentsOf: changed)
    return unsafe (output.baseAddress, changed.count)
  }
}

private func mutator(_ handle: UnsafeMutableRawPointer?) -> Mutator {
  guard let handle = unsafe handle else { preconditionFailure("AFL++ lost its mutator") }
  return unsafe Unmanaged<Mutator>.fromOpaque(handle).takeUnretainedValue()
}

/// AFL++ calls this first.
@_cdecl("afl_custom_init")
public func startMutating(
  _ fuzzer: UnsafeMutableRawPointer?, _ seed: UInt32
) -> UnsafeMutableRawPointer? {
  let name = unsafe getenv("FUZZ_TARGET").map { unsafe String(cString: $0) } ?? ""
  guard let target = FuzzTarget.all.first(where: { $0.name == name }) else {
    preconditionFailure("FUZZ_TARGET=\(name) is not a target; fuzz --list names them")
  }
  return unsafe Unmanaged.passRetained(Mutator(target, seed: seed)).toOpaque()
}

/// AFL++ asks how often it should ask for a change of this input.
@_cdecl("afl_custom_fuzz_count")
public func countMutations(
  _ handle: UnsafeMutableRawPointer?, _ bytes: UnsafePointer<UInt8>?, _ count: Int
) -> UInt32 {
  unsafe mutator(handle).hasMutations ? 64 : 0
}

/// AFL++ asks for a changed input.
@_cdecl("afl_custom_fuzz")
public func mutateInput(
  _ handle: UnsafeMutableRawPointer?, _ bytes: UnsafePointer<UInt8>?, _ count: Int,
  _ changed: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>,
  _ other: UnsafePointer<UInt8>?, otherCount: Int, countMax: Int
) -> Int {
  let input = unsafe [UInt8](UnsafeBufferPointer(start: bytes, count: count))
  let (place, size) = unsafe mutator(handle).change(input, sizeMax: countMax)
  unsafe changed.pointee = place
  return size
}

/// AFL++ calls this last.
@_cdecl("afl_custom_deinit")
public func stopMutating(_ handle: UnsafeMutableRawPointer?) {
  guard let handle = unsafe handle else { return }
  unsafe Unmanaged<Mutator>.fromOpaque(handle).release()
}
