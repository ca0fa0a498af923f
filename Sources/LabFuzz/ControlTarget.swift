// ControlTarget.swift: bytes as a control socket delivers them, in pieces whose size is given by
// the first byte. If the second byte is odd, the rest is one message's JSON, without its length.
// Invariants checked: a valid message can be written and read again; a length beyond the limit ends
// the connection; rules that a peer sends are added or rejected.

import Fuzz
import Scenarios

enum ControlTarget {
  static let target = FuzzTarget(
    name: "control", judges: "control messages in pieces: understood ones read the same again",
    smokeCount: 600, seeds: { samples.map { [64, 1] + Array($0.utf8) } }, run: { run($0) }
  ).with {
    $0.dictionary = words
    let mutator = TextMutator(words: words) { choices in samples[choices.below(samples.count)] }
    $0.mutate = { input, sizeMax, choices in
      // The first two bytes are usually unchanged.
      let body = mutator.mutation(Array(input.dropFirst(2)), max(0, sizeMax - 2), &choices)
      return body.map { Array((input + [64, 1]).prefix(2)) + $0 }
    }
  }

  private static let samples = [
    #"{"beginRecording":{}}"#, #"{"mark":{"bytes":"AAAA"}}"#, #"{"load":{"path":"/x"}}"#,
    #"{"removeRules":{"_0":[1,2]}}"#, #"{"registerGroup":{"_0":-1}}"#,
    #"{"phase":{"process":7}}"#, #"{"stop":{"_0":{"events":{"_0":3}}}}"#,
    rules("on: sync, nth: 3, error: EIO"),
    rules("{on: write, bytes: 0..4095, every: 2, skip: 1, short: 10}"),
    rules("{on: [write, allocate], chance: 1 in 100, seed: 7, error: ENOSPC}"),
  ]

  private static let words =
    [
      "\"addRules\"", "\"_0\"", "\"what\"", "\"when\"", "\"kinds\"", "\"path\"", "\"error\"",
      "\"nth\"", "\"every\"", "\"chance\"", "\"times\"", "\"fromByte\"", "\"endByte\"", "{", "}",
      "[", "]", ":", ",", "null", "true", "-1", "0", "18446744073709551615", "1e308",
    ]

  private static func rules(_ text: String) -> String {
    let parsed = try? FaultFile.parse(
      commandLine: text, file: "", allowsAnyErrno: false, warn: { _ in })
    return parsed.flatMap { FuzzReaders.request(adding: $0) } ?? "{}"
  }

  private static func run(_ input: [UInt8]) -> FuzzOutcome {
    guard input.count >= 2 else { return .refused }
    var bytes = Array(input.dropFirst(2))
    if input[1] & 1 == 1 {
      bytes = (0..<4).map { UInt8(truncatingIfNeeded: bytes.count >> (8 * $0)) } + bytes
    }
    return FuzzOutcome(FuzzReaders.controlMessages(bytes, pieceBytes: Int(input[0])))
  }
}
