// StressMetricsTests.swift: a stress run's figures as Prometheus reads them, and as people do.

import Foundation
import TestSupport
import Testing

@testable import LabCore
@testable import Scenarios

@Suite("stress metrics")
struct StressMetricsTests {
  private var metrics: StressMetrics {
    var counts = StressCounts()
    counts.cuts = 12
    counts.commits = 3400
    counts.faults = ["short": 2, "error": 5]
    return StressMetrics(
      counts: counts, findings: 1, seconds: 6,
      footprints: [("lab", ProcessFootprint(descriptors: 9, residentBytes: 4096))])
  }

  @Test("each sample stands under its help and its type, and labels are sorted")
  func text() {
    let lines = metrics.text.split(separator: "\n").map(String.init)
    var name = ""
    for line in lines {
      if line.hasPrefix("# HELP ") { name = String(line.split(separator: " ")[2]) }
      if line.hasPrefix("#") { continue }
      #expect(line.hasPrefix(name) && Double(line.split(separator: " ")[1]) != nil, "\(line)")
    }
    #expect(lines.contains("faultline_stress_power_cuts_total 12"))
    #expect(lines.contains("faultline_stress_resident_bytes{role=\"lab\"} 4096"))
    let faults = lines.filter { $0.hasPrefix("faultline_stress_faults_total{") }
    #expect(
      faults == [
        "faultline_stress_faults_total{kind=\"error\"} 5",
        "faultline_stress_faults_total{kind=\"short\"} 2",
      ])
  }

  @Test("a line for the terminal has rates, faults and findings")
  func line() {
    let line = metrics.line
    #expect(line.contains("12 power cuts; 2.0 cuts/s"), "\(line)")
    #expect(line.contains("faults: error 5, short 2; 1 finding"), "\(line)")
  }

  @Test("the file is replaced whole; where it cannot be, that is an error with the path")
  func file() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("stress.prom")
    for _ in 0..<2 { try metrics.write(to: path) }
    #expect(try String(contentsOfFile: path, encoding: .utf8) == metrics.text)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["stress.prom"])
    #expect(throws: LabError.self) { try metrics.write(to: "/nowhere/stress.prom") }
  }
}
