// PayloadPiecesTests.swift [U]: recordings that use each other's memory keep their bytes apart.

import Testing

@testable import Recording

@Suite("Pieces of payload memory")
struct PayloadPiecesTests {
  /// Records writes of one byte each, many times repeated.
  private func record(_ byte: UInt8, counts: [Int], by recorder: TraceRecorder) -> Trace {
    recorder.begin(TreeImage())
    for count in counts {
      let bytes = [UInt8](repeating: byte, count: count)
      let kept = unsafe recorder.keep(bytes.span.bytes)
      if let kept { recorder.recordWrite(kept, at: 0, to: InodeNumber(rawValue: 2), by: Caller()) }
    }
    return recorder.end()
  }

  private func payloads(_ trace: Trace) -> [[UInt8]] {
    trace.events.compactMap { event in
      guard case .operation(.write(inode: _, offsetBytes: _, let payload)) = event.body else {
        return nil
      }
      return payload.bytes
    }
  }

  @Test("a recording takes the memory of the last one, and neither has bytes of the other")
  func reuse() {
    let pieces = PayloadPieces()
    let recorder = TraceRecorder(
      limitBytes: 1 << 30, pieces: pieces, clockNanoseconds: { 0 })
    // Ten pieces, of which some are kept; the second recording is longer than what is kept.
    let counts = [Int](repeating: PayloadPieces.pieceBytes / 2, count: 20) + [1, 4096, 77]
    let first = record(1, counts: counts, by: recorder)
    let second = record(2, counts: counts, by: recorder)
    #expect(payloads(first) == counts.map { [UInt8](repeating: 1, count: $0) })
    #expect(payloads(second) == counts.map { [UInt8](repeating: 2, count: $0) })
  }
}
