// CallerTable.swift: the processes of the threads that use a mount.
// Invariant: an entry is valid for a second, and not beyond the next rule. Numbers are reused: a
// pid_max of 32,768 is common, and hundreds of workers and a build use all of it in minutes. A
// stale entry would let another process's thread pass a rule that names a process.

/// The users of a mount, by thread.
package struct CallerTable {
  private struct Answer {
    var process: Int32
    var atNanoseconds: UInt64
  }

  private static let freshNanoseconds: UInt64 = 1_000_000_000
  private static let countMax = 65536
  private var answers: [Int32: Answer] = [:]
  /// The last caller, which usually is the next one, too.
  private var last: (thread: Int32, answer: Answer) = (0, Answer(process: 0, atNanoseconds: 0))

  package init() {
  }

  /// All callers so far, including dead ones, ordered by thread number.
  package var sorted: [Caller] {
    answers.sorted { $0.key < $1.key }
      .map { Caller(process: $0.value.process, thread: $0.key) }
  }

  /// The identity of a thread.
  /// - Parameters:
  ///   - thread: Its number; 0 and below are the kernel itself.
  ///   - now: The time, in nanoseconds.
  ///   - lookUp: Asks the system; nil when there is no such thread.
  /// - Returns: The thread with its process.
  package mutating func caller(
    thread: Int32, now: UInt64, lookUp: (Int32) -> Int32?
  ) -> Caller {
    if thread != last.thread || now &- last.answer.atNanoseconds >= Self.freshNanoseconds {
      if thread <= 0 { return Caller() }
      last = (thread, answer(thread, now, lookUp))
    }
    return Caller(process: last.answer.process, thread: thread)
  }

  /// Makes all callers be looked up again at their next request: numbers may have been reused.
  package mutating func expire() {
    last = (0, Answer(process: 0, atNanoseconds: 0))
    for thread in answers.keys { answers[thread]?.atNanoseconds = 0 }
  }

  private mutating func answer(
    _ thread: Int32, _ now: UInt64, _ lookUp: (Int32) -> Int32?
  ) -> Answer {
    let known = answers[thread]
    if let known, now &- known.atNanoseconds < Self.freshNanoseconds { return known }
    if answers.count > Self.countMax { answers = [:] }
    // A process that has exited, with a late close or page, keeps its identity.
    let answer = Answer(
      process: lookUp(thread) ?? known?.process ?? thread, atNanoseconds: now)
    answers[thread] = answer
    return answer
  }
}
