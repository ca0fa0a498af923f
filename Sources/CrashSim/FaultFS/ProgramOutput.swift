// ProgramOutput.swift [U]: what programs under test print, as marks.
// Lines come by a stream socket, whose kernel says which process sent the bytes that one call
// returns (SO_PASSCRED of unix(7)) and never joins bytes of two; writes come by a packet pipe.
// Invariant: after `read`, every mark is given out that was written before it was called.
// Safety: the buffer is this object's own, and is as long as the daemon lives.

import CSystem
import Glibc
import LabCore
import Recording

/// The reading end of a standard output; whoever uses it holds the mount's lock.
@safe final class ProgramOutput {
  /// -1 when nobody can write any more, or never could.
  private(set) var descriptor: Int32
  private let unit: MarkUnit
  private var lines = OutputLines()
  /// What polls readable once a process has ended that has begun a line.
  private var endings: [Int32: Int32] = [:]
  /// True while processes may have been killed by the lab: what they had begun says nothing.
  private var dropsBegun = false
  private let buffer: UnsafeMutableRawPointer
  /// A longer write to a packet pipe is cut into packets of this size (pipe(7)).
  private static let packetBytesMax = 4096
  private static let bufferBytes = 1 << 16

  init(_ descriptor: Int32, _ unit: MarkUnit) {
    self.descriptor = descriptor
    self.unit = unit
    unsafe buffer = UnsafeMutableRawPointer.allocate(byteCount: Self.bufferBytes, alignment: 16)
    if descriptor >= 0 { csystem_set_nonblocking(descriptor, 1) }
  }

  deinit {
    for process in endings.values where process >= 0 { Glibc.close(process) }
    unsafe buffer.deallocate()
  }

  /// Whether a line may become whole without anything being written: its process may end.
  var awaitsEndings: Bool { !endings.isEmpty }

  /// Takes all that has arrived.
  /// - Parameter record: Called with each mark, in order.
  func read(_ record: (Mark) -> Void) {
    if unit == .writes {
      while let packet = receive(Self.packetBytesMax) { record(Mark(bytes: packet.bytes)) }
      return
    }
    readLines(record)
    // What a process wrote before it ended may have arrived behind the last look.
    while case let ended = endedWriters(), !ended.isEmpty {
      readLines(record)
      for writer in ended {
        if let line = lines.end(writer), !dropsBegun { record(Mark(bytes: line)) }
        forget(writer)
      }
    }
  }

  /// From now on the lab kills the writers: lines that they have begun do not count.
  func dropBegun() { dropsBegun = true }

  /// Other writers come: nothing is begun.
  func beginAnew() {
    lines.removeAll()
    for writer in endings.keys.sorted() { forget(writer) }
    dropsBegun = false
  }

  private func readLines(_ record: (Mark) -> Void) {
    while let (bytes, writer) = receive(Self.bufferBytes) {
      for line in lines.add(bytes, by: writer) { record(Mark(bytes: line)) }
      if !lines.writers.contains(writer) {
        forget(writer)
      } else if endings[writer] == nil {
        endings[writer] = csystem_open_process(writer)
      }
    }
  }

  private func receive(_ countBytes: Int) -> (bytes: [UInt8], writer: Int32)? {
    guard descriptor >= 0 else { return nil }
    var writer: Int32 = 0
    let count =
      unit == .lines
      ? unsafe csystem_receive(descriptor, buffer, countBytes, &writer)
      : unsafe Glibc.read(descriptor, buffer, countBytes)
    if count == 0 { descriptor = -1 }
    guard count > 0 else { return nil }
    return (unsafe Array(UnsafeRawBufferPointer(start: buffer, count: count)), writer)
  }

  /// Those who have begun a line and ended, in the order of their lines.
  private func endedWriters() -> [Int32] {
    lines.writers.filter { writer in
      // 0 is one that the kernel does not name, in a pid namespace that is none of ours: its lines
      // end with the recording.
      guard writer > 0, let process = endings[writer] else { return false }
      if process >= 0 { return !Descriptors.wait([process], timeoutMilliseconds: 0).isEmpty }
      // It had ended when it was to be opened, or nobody may open processes here (an old kernel, a
      // filter of calls).
      return Glibc.kill(writer, 0) < 0 && errno == ESRCH
    }
  }

  private func forget(_ writer: Int32) {
    guard let process = endings.removeValue(forKey: writer), process >= 0 else { return }
    Glibc.close(process)
  }
}
