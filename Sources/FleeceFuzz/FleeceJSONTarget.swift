// FleeceJSONTarget.swift: texts as JSON: encoded as bytes, written as JSON, and the same once more.
// Invariants checked: an accepted text reaches JSON that no longer changes, with and without shared
// keys; a rejected one has a position in the text.

import Fleece
import FleeceReference
import Fuzz

enum FleeceJSONTarget {
  static let target = FuzzTarget(
    name: "fleece-json", judges: "JSON texts: to bytes and back, until they no longer change",
    smokeCount: 1500, seeds: { samples.map { Array($0.utf8) } }, run: { run($0) }
  ).with {
    $0.mutate = mutator.mutation
    $0.dictionary = words
  }

  private static let samples =
    FleeceBytesTarget.texts + [
      " [ 1 , 2 ,{ \"a\" : null } ] \n", "[1e400]", "[1E-400,1.7976931348623157e308,5e-324]",
      "[27874302100000.0,307.79998779296875,123456789012345678901234567890.5e-20]",
      #"["\ud83d\ude80\u0041\/\b\f","\ud800"]"#, "[1,]", "[01]", "{\"a\":1,}", "[\"a",
      "[18446744073709551616,-9223372036854775809,-0]",
    ]

  private static let words = [
    "[", "]", "{", "}", ",", ":", "\"", "null", "true", "false", "0", "-0", "1", "2047", "2048",
    "-2048", "65536", "18446744073709551615", "1.5", "1e22", "1e23", "9007199254740993.0", "-1e-7",
    "\\u0000", "\\ud83d\\ude80", "\\n", "\"a\":", "\"name\":", "é", "\u{7f}", "0.1", "E+", "e-5",
  ]

  static let mutator = TextMutator(words: words) { choices in
    samples[choices.below(samples.count)]
  }

  private static func run(_ input: [UInt8]) -> FuzzOutcome {
    do throws(FleeceError) {
      return try judge(input)
    } catch {
      return .finding("taken, and then \(error)")
    }
  }

  private static func judge(_ input: [UInt8]) throws(FleeceError) -> FuzzOutcome {
    var encoder = FleeceEncoder(sharedKeys: FleeceJudgement.keys)
    do throws(FleeceError) {
      try FleeceBytes.over(input) { (view: FleeceBytes) throws(FleeceError) in
        try encoder.json(view)
      }
    } catch {
      let isPlaced = error.position.map { $0.offsetBytes <= input.count && $0.line > 0 } ?? false
      return isPlaced ? .refused : .finding("refused without a place: \(error)")
    }
    let bytes = try encoder.finish()
    let keys = encoder.sharedKeys ?? FleeceSharedKeys()
    guard case .success(let tree) = NaiveReader.read(bytes) else {
      return .finding("the second reader refuses what was written")
    }
    guard tree.hasJSON else { return .accepted }
    var options = FleeceJSONOptions()
    options.isCanonical = true
    options.sizeMaxBytes = 1 << 24
    let first = try FleeceDocument(bytes).withRoot { (root) throws(FleeceError) in
      try root.json(keys: keys, options: options)
    }
    let second = try FleeceJudgement.again(first)
    guard first == second else { return .finding("JSON changes: \(first) and \(second)") }
    if case .finding(let text) = FleeceJudgement.run(bytes, keys) { return .finding(text) }
    return .accepted
  }
}
