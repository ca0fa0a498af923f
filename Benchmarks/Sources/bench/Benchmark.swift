// Benchmark.swift: what a benchmark is, and the list of all of them.

/// How to run.
struct Settings {
  /// Rounds per side; the medians are reported.
  var rounds = 5
  /// Start the peer on our side too: shows how far noise alone moves a ratio from 1.
  var peerOnBothSides = false
}

/// A failure of the benchmark itself, with what to do about it.
struct BenchError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// A named comparison that gives one row.
struct Benchmark: Sendable {
  let name: String
  let run: @Sendable (Settings) throws -> Row

  /// All benchmarks, in the order of the table.
  ///
  /// New ones are added here: one list of `Benchmark` per file, as FileSystemBenchmarks.swift
  /// shows.
  static let all: [Benchmark] =
    fileSystems + crashStates + checkers + stores + writers + encrypted + objects + fullText
    + records + documents
}

/// Measures two sides in turns and returns the median of each.
///
/// A B, B A, A B…: a machine that slows down or speeds up meanwhile does so to both.
func alternating(
  rounds: Int, ours: () throws -> Double, peer: () throws -> Double
) throws -> (ours: Double, peer: Double) {
  let (ours, peer) = try turns(rounds: rounds, ours: ours, peer: peer)
  return (median(ours), median(peer))
}

/// Measures two sides in turns.
func turns<Sample>(
  rounds: Int, ours: () throws -> Sample, peer: () throws -> Sample
) throws -> (ours: [Sample], peer: [Sample]) {
  var oursMeasured: [Sample] = []
  var peerMeasured: [Sample] = []
  for round in 0..<rounds {
    if round.isMultiple(of: 2) {
      oursMeasured.append(try ours())
      peerMeasured.append(try peer())
    } else {
      peerMeasured.append(try peer())
      oursMeasured.append(try ours())
    }
  }
  return (oursMeasured, peerMeasured)
}

/// The middle one, or the mean of the two in the middle.
func median(_ values: [Double]) -> Double {
  precondition(!values.isEmpty, "no round was measured")
  let sorted = values.sorted()
  let middle = sorted.count / 2
  return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
}
