// OracleDetailTests.swift: [U] what oracles and second readers say of cases that whole runs hardly
// meet: files of a few bytes, writes behind the end, parts and paths at their bounds.

import Engine
import Glibc
import LabCore
import Testing

@testable import FaultFS
@testable import Oracles

@Suite("Details of oracles")
struct OracleDetailTests {
  @Test("an observer that missed a change is told which element, or how many there are")
  func notifications() {
    func words(_ replayed: [String], _ now: [String]) -> String {
      NotificationOracle.judge(replayed: replayed, now: now).map { "\($0)" } ?? ""
    }
    #expect(words(["a", "b"], ["a", "b"]).isEmpty)
    #expect(words(["a", "b", "c"], ["a", "x", "c"]).contains("element 1 is 'x', not 'b'"))
    #expect(words(["a"], ["a", "b"]).contains("it has 2 elements, not 1"))
  }

  @Test("a file that is shorter than its header is a fault, whatever its bytes")
  func shortFiles() {
    for count in [0, 1, 8, 100, 511] {
      for byte: UInt8 in [0, 0xff] {
        let faults = XRay([UInt8](repeating: byte, count: count)).faults
        #expect(faults.first?.message.hasPrefix("file_bytes=\(count) < ") == true, "\(faults)")
      }
    }
  }

  @Test("false stands before true, and nothing before itself")
  func bools() {
    let values = [false, true]
    for left in values {
      for right in values {
        #expect(XRayValue.precedes(.bool(left), .bool(right)) == (!left && right))
      }
    }
  }

  @Test("a write of a crash image's file ends with the file")
  func writesBehindTheEnd() throws {
    let backend = ImageBackend()
    backend.load([UInt8](repeating: 0, count: 1024))
    func write(_ count: Int, at offset: UInt64) throws {
      try unsafe [UInt8](repeating: 1, count: count).withUnsafeBytes {
        try unsafe backend.write($0, at: offset)
      }
    }
    try write(512, at: 512)
    #expect(throws: EngineError.self) { try write(513, at: 512) }
    #expect(throws: EngineError.self) { try write(1, at: 1024) }
    #expect(throws: EngineError.self) { try write(0, at: 1025) }
  }

  @Test("parts of torn writes have from one byte to a MiB")
  func parts() throws {
    func validate(_ cut: FaultRule.Tearing.Cut) throws {
      try FaultRule(
        when: FaultRule.Match([.write]), what: .tear(FaultRule.Tearing(cut, keep: .random))
      ).validate()
    }
    let limit: UInt64 = 1_048_576
    let good: [FaultRule.Tearing.Cut] = [
      .writeUnits(bytes: 1), .writeUnits(bytes: limit), .fileUnits(bytes: 256), .equalParts(2),
      .sizes([1]), .sizes([1, limit]),
    ]
    for cut in good { try validate(cut) }
    let bad: [FaultRule.Tearing.Cut] = [
      .writeUnits(bytes: 0), .writeUnits(bytes: limit + 1), .fileUnits(bytes: 255),
      .fileUnits(bytes: limit + 1), .equalParts(1), .sizes([0]), .sizes([]),
      .sizes([1, limit + 1]),
    ]
    for cut in bad {
      #expect(throws: LabError.self, "\(cut)") { try validate(cut) }
    }
  }

  @Test("a control socket's path has 107 bytes at most, and all of them are used")
  func socketPaths() throws {
    let start = "/tmp/socket-of-tests-\(getpid())-"
    let path = start + String(repeating: "s", count: PathSocket.pathBytesMax - start.utf8.count)
    let listener = try PathSocket.listen(at: path)
    PathCalls.removeFile(path)
    #expect(listener >= 0)
    close(listener)
    #expect(throws: LabError.self) { try PathSocket.listen(at: path + "s") }
  }
}
