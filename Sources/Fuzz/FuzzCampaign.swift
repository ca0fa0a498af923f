// FuzzCampaign.swift: inputs without a fuzzer: each is derived from its number, by changing the
// target's seeds like a byte mutator.
//   fuzz TARGET --seed N --count N     runs the inputs N, N + 1, …
//   fuzz smoke [--seed N]              runs some of each target; must find the canary
// Invariant: a number gives the same input on every machine, so it suffices to reproduce a finding.

import Glibc

package enum FuzzCampaign {
  /// The results for a range of inputs.
  struct Tally {
    var accepted = 0
    var refused = 0
    /// The first input that was a finding, with its message.
    var finding: (seed: UInt64, text: String)?
  }

  /// The input for a number.
  package static func input(_ target: FuzzTarget, _ seeds: [[UInt8]], _ number: UInt64) -> [UInt8] {
    var choices = MutantChoices(seed: number &* 0x9e37_79b9_7f4a_7c15 ^ UInt64(target.name.count))
    var bytes: [UInt8] = []
    if seeds.isEmpty || choices.below(5) == 0 {
      let count = choices.below([4, 16, 64, 400][choices.below(4)])
      bytes = (0..<count).map { _ in UInt8(truncatingIfNeeded: choices.number(1)) }
    } else {
      bytes = seeds[choices.below(seeds.count)]
    }
    for _ in 0..<choices.below(6) {
      // A target with a mutator for its inputs' structure uses it most of the time.
      if let mutate = target.mutate, choices.below(4) > 0,
        let changed = mutate(bytes, target.sizeMax, &choices)
      {
        bytes = changed
      } else {
        mutate(&bytes, seeds, &choices)
      }
    }
    return bytes
  }

  private static func mutate(
    _ bytes: inout [UInt8], _ seeds: [[UInt8]], _ choices: inout MutantChoices
  ) {
    let place = choices.below(bytes.count + 1)
    let kind = choices.below(7)
    guard place < bytes.count else {
      bytes.append(UInt8(choices.below(256)))
      return
    }
    let end = min(bytes.count, place + 1 + choices.below(16))
    switch kind {
    case 0: bytes[place] ^= 1 << UInt8(choices.below(8))
    case 1: bytes[place] = UInt8(choices.below(256))
    case 2: bytes[place] &+= choices.below(2) == 0 ? 1 : 255
    case 3: bytes.insert(UInt8(choices.below(256)), at: place)
    case 4: bytes.removeSubrange(place..<end)
    case 5: bytes.insert(contentsOf: bytes[place..<end], at: place)
    default:
      let other = seeds.isEmpty ? [] : seeds[choices.below(seeds.count)]
      bytes.replaceSubrange(place..., with: other.dropFirst(min(place, other.count)))
    }
  }

  /// Runs inputs up to the first finding.
  static func tally(_ target: FuzzTarget, first: UInt64, count: UInt64) -> Tally {
    let seeds = target.seeds()
    var tally = Tally()
    var peak = FuzzWatch.peakBytes()
    for number in first..<first + count {
      FuzzWatch.announce("\(target.name) seed \(number)")
      let bytes = input(target, seeds, number)
      let start = FuzzWatch.processorSeconds()
      let outcome = target.run(bytes)
      let seconds = FuzzWatch.processorSeconds() - start
      switch outcome {
      case .accepted: tally.accepted += 1
      case .refused: tally.refused += 1
      case .finding(let text): tally.finding = (number, text)
      }
      let now = FuzzWatch.peakBytes()
      // Memory growth of the first inputs does not count: they create fixtures and fill tables.
      if number - first > 8, now - peak > FuzzWatch.growthBytesMax {
        tally.finding = (number, "it took \(now - peak) bytes, more than the bound")
      }
      peak = now
      if number - first > 8, seconds > FuzzWatch.slowSeconds {
        tally.finding = (number, "it took \(seconds) s of processor time, more than the bound")
      }
      if tally.finding != nil { break }
    }
    FuzzWatch.rest()
    return tally
  }

  /// Runs inputs of one target and prints the results.
  /// - Returns: Whether there was no finding.
  package static func run(_ target: FuzzTarget, first: UInt64, count: UInt64) -> Bool {
    FuzzWatch.install()
    let tally = tally(target, first: first, count: count)
    guard let (seed, text) = tally.finding else {
      print(
        "\(target.name): survived \(count) from \(first) accepted \(tally.accepted) refused "
          + "\(tally.refused)")
      return true
    }
    print("\(target.name): FINDING at seed \(seed): \(text)")
    print("repeat: fuzz \(target.name) --seed \(seed) --count 1")
    return false
  }

  /// Runs some inputs of every target.
  ///
  /// The canary's bug must be found, and there must be no findings in others.
  /// - Returns: Whether that was the case.
  package static func smoke(_ targets: [FuzzTarget], first: UInt64) -> Bool {
    FuzzWatch.install()
    var isGood = true
    for target in targets where !target.isPlanted {
      isGood = run(target, first: first, count: target.smokeCount) && isGood
      fflush(nil)
    }
    let canary = CanaryTarget.target
    guard let (seed, text) = tally(canary, first: first, count: canary.smokeCount).finding else {
      print("canary: NOT FOUND in \(canary.smokeCount) inputs: this campaign finds nothing")
      return false
    }
    print("canary: found at seed \(seed): \(text)")
    return isGood
  }
}
