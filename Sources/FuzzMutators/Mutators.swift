// Mutators.swift: [U] the targets' own mutations as a library for AFL++, named in
// AFL_CUSTOM_MUTATOR_LIBRARY. FUZZ_TARGET names the target. AFL++ also continues to use its own
// mutations.
// Safety: AFL++ calls from one thread, and no longer uses a mutated input when it requests the
// next; an input is read only during the call that passes it.

import Fuzz
import Glibc
import LabFuzz

/// The object that `afl_custom_init` returns to AFL++, which passes it to each call.
@safe private final class Mutator {
  private let target: FuzzTarget
  private var choices: MutantChoices
  /// The last mutated input, for as long as AFL++ uses it.
  private let output: UnsafeMutableBufferPointer<UInt8>

  init(_ target: FuzzTarget, seed: UInt32) {
    self.target = target
    choices = MutantChoices(seed: UInt64(seed))
    unsafe output = .allocate(capacity: target.sizeMax)
  }

  deinit { unsafe output.deallocate() }

  var hasMutations: Bool { target.mutate != nil }

  /// The mutated input and its size: 0 if this try is skipped.
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

/// AFL++ asks how many mutations of this input it should request.
@_cdecl("afl_custom_fuzz_count")
public func countMutations(
  _ handle: UnsafeMutableRawPointer?, _ bytes: UnsafePointer<UInt8>?, _ count: Int
) -> UInt32 {
  unsafe mutator(handle).hasMutations ? 64 : 0
}

/// AFL++ requests a mutated input.
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
