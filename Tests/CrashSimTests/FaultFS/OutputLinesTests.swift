// OutputLinesTests.swift: lines come whole, from one writer each, in the order in which they end.

import TestSupport
import Testing

@testable import FaultFS
@testable import Recording

@Suite("output as lines")
struct OutputLinesTests {
  private func text(_ lines: [[UInt8]]) -> [String] {
    lines.map { String(decoding: $0, as: UTF8.self) }
  }

  @Test("a line written in pieces is one line, once its line feed has arrived")
  func pieces() {
    var lines = OutputLines()
    #expect(lines.add("sav".utf8, by: 7).isEmpty)
    #expect(lines.add("ed 3".utf8, by: 7).isEmpty)
    #expect(lines.writers == [7])
    #expect(text(lines.add("\nsaved 4\nsa".utf8, by: 7)) == ["saved 3\n", "saved 4\n"])
    #expect(text(lines.add("ved 5\n".utf8, by: 7)) == ["saved 5\n"])
    #expect(lines.writers.isEmpty)
  }

  @Test("begun lines of two writers do not mix")
  func twoWriters() {
    var lines = OutputLines()
    #expect(lines.add("a".utf8, by: 1).isEmpty)
    #expect(lines.add("b".utf8, by: 2).isEmpty)
    #expect(lines.writers == [1, 2])
    #expect(text(lines.add("aa\n".utf8, by: 1)) == ["aaa\n"])
    #expect(text(lines.add("bb\n".utf8, by: 2)) == ["bbb\n"])
  }

  @Test("who ends without a line feed gets one; who began nothing has no line")
  func endings() {
    var lines = OutputLines()
    _ = lines.add("saved".utf8, by: 1)
    #expect(lines.end(2) == nil)
    #expect(lines.end(1).map { text([$0]) } == ["saved\n"])
    #expect(lines.end(1) == nil)
  }

  @Test("a line without an end counts in pieces")
  func longLine() {
    var lines = OutputLines()
    let bytes = [UInt8](repeating: 1, count: OutputLines.lineBytesMax + 3)
    #expect(lines.add(bytes, by: 1).map(\.count) == [OutputLines.lineBytesMax])
    #expect(lines.end(1)?.count == 4)
  }

  @Test("a trace file says what became marks; one without the word is of writes")
  func traceFile() throws {
    let folder = try TemporaryDirectory()
    var trace = Trace(initial: TreeImage())
    for unit in MarkUnit.allCases {
      trace.markUnit = unit
      try TraceFile.save(trace, to: folder.file("t"))
      #expect(try TraceFile.load(folder.file("t")).markUnit == unit)
    }
  }
}
