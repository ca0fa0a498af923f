// LoopProcess.swift: [U] the process of a checker that stays: a line in and one out for each state.
// Invariant: a process that ended, hung, or wrote what is no verdict is asked nothing more.
// Safety: a buffer is passed to one system call and not kept.

import CSystem
import Findings
import Foundation
import Glibc
import LabCore

/// What a checker that stays is asked about one state.
struct LoopRequest: Encodable, Hashable {
  /// The crash state.
  let directory: String
  /// The file with what was acknowledged.
  let output: String
  /// What a checker that is started for each state would find in its environment.
  let environment: [String: String]
}

/// What a checker that stays answers.
struct LoopVerdict: Hashable {
  /// The exit status that says the same.
  let status: Int32
  let words: String

  /// The statuses by the first word of a line.
  private static let statuses: [Substring: Int32] = [
    "held": 0, "broken": 1, "noticed": ProgramMedia.detectedStatus,
  ]

  /// Reads a line: `held`, `broken` or `noticed`, then words behind a space; nil for any other.
  init?(parsing line: String) {
    let parts = line.split(separator: " ", maxSplits: 1)
    guard let first = parts.first, line.hasPrefix(first), let status = Self.statuses[first] else {
      return nil
    }
    self.status = status
    words = parts.count > 1 ? String(parts[1]) : ""
  }
}

/// A checker's process.
final class LoopProcess {
  private let child: ChildProcess
  private let input: OwnedDescriptor
  private let output: OwnedDescriptor
  private let errors: OwnedDescriptor
  private var buffer = LineBuffer()
  private var isReaped = false
  /// States that it was asked about.
  private(set) var askedCount = 0
  /// False once it has ended, hung or said what it may not.
  private(set) var isUsable = true

  /// Starts one.
  /// - Parameters:
  ///   - command: For the shell.
  ///   - slot: Where it starts, outside of every state, so that it holds none.
  ///   - environment: Variables that it gets besides the lab's own.
  /// - Throws: `LabError` when it cannot be started.
  init(command: String, slot: String, environment: [String: String]) throws(LabError) {
    var launch = ChildProcess.Launch(shell: command)
    launch.workingDirectory = slot
    launch.environment = environment
    // The thread that starts it may end before it does.
    launch.diesWithParent = false
    do {
      // A socket, so that writing to a dead checker is an error and not a SIGPIPE.
      let (theirs, ours) = try Descriptors.makeSocketPair()
      let childInput = OwnedDescriptor(theirs)
      input = OwnedDescriptor(ours)
      let (read, write) = try Descriptors.makePipe()
      output = OwnedDescriptor(read)
      let childOutput = OwnedDescriptor(write)
      errors = OwnedDescriptor(Descriptors.create("\(slot)/errors"))
      // Each process has a file of its own.
      PathCalls.removeFile("\(slot)/errors")
      launch.standardInput = childInput.number
      launch.standardOutput = childOutput.number
      launch.standardError = errors.number
      child = try ChildProcess(launch)
    } catch let error as LabError {
      throw error
    } catch {
      throw .lab("cannot make pipes for a checker: \(error)")
    }
  }

  deinit { end() }

  /// Kills it and all that it started.
  func end() {
    isUsable = false
    guard !isReaped else { return }
    isReaped = true
    child.kill()
  }

  /// Asks about one state.
  /// - Parameters:
  ///   - line: The request, encoded.
  ///   - timeoutSeconds: After this it has failed.
  /// - Returns: The verdict; of a process that gives none, how it failed.
  /// - Throws: `LabError` when the lab is asked to stop.
  func ask(_ line: [UInt8], timeoutSeconds: Int) throws(LabError) -> CheckResult {
    askedCount += 1
    // Its descriptor has the same position, so what it says next is what this state is about.
    if errorBytes > 0 {
      _ = ftruncate(errors.number, 0)
      _ = lseek(errors.number, 0, SEEK_SET)
    }
    do throws(ErrorNumber) {
      try Descriptors.send(line, to: input.number)
    } catch {
      return ended(finish())
    }
    return try answer(timeoutSeconds: timeoutSeconds)
  }

  private func answer(timeoutSeconds: Int) throws(LabError) -> CheckResult {
    let sliceMilliseconds = 100
    // What comes in pieces takes none of the time, and ends at the limit of a line.
    var slices = timeoutSeconds * 1000 / sliceMilliseconds
    while slices > 0 {
      do throws(LabError) {
        try Interruption.check()
      } catch {
        end()
        throw error
      }
      if Descriptors.wait([output.number], timeoutMilliseconds: sliceMilliseconds).isEmpty {
        slices -= 1
        continue
      }
      let chunk = try? Descriptors.read(output.number, limitBytes: 1 << 16)
      guard let chunk, !chunk.isEmpty else { return ended(finish()) }
      buffer.append(chunk)
      if let line = buffer.next() { return verdict(String(decoding: line, as: UTF8.self)) }
      if buffer.countBytes > CommandChecker.outputLimitBytes { return wrong("no end of its line") }
    }
    end()
    return result(.timedOut(seconds: timeoutSeconds), "")
  }

  private func verdict(_ line: String) -> CheckResult {
    guard let verdict = LoopVerdict(parsing: line) else { return wrong("'\(line.prefix(200))'") }
    // A second line would be taken for the answer about the next state.
    if buffer.countBytes > 0 { return wrong("more than one line") }
    return result(.exited(verdict.status), verdict.words)
  }

  private func wrong(_ what: String) -> CheckResult {
    end()
    return result(
      .exited(1),
      "the checker answered with \(what); --check-loop takes one line for each state: held, "
        + "broken WORDS or noticed WORDS")
  }

  private func ended(_ ending: ProcessEnding) -> CheckResult {
    // Whoever ends before the answer has not said that the state is fine.
    guard ending.isSuccess else { return result(ending, "") }
    return result(
      .exited(1),
      "the checker ended with exit status 0 and gave no answer; --check-loop takes a process that "
        + "answers a line for each line that it reads")
  }

  /// It closed its output: it ends now, or is made to.
  private func finish() -> ProcessEnding {
    isUsable = false
    guard !isReaped else { return .signalled(SIGKILL) }
    isReaped = true
    let ending = child.wait(timeoutSeconds: 10)
    child.killGroup()
    return ending
  }

  /// How much is on standard error.
  private var errorBytes: Int {
    var status = stat()
    return unsafe fstat(errors.number, &status) == 0 ? Int(status.st_size) : 0
  }

  /// A verdict with what was said about it on standard error.
  private func result(_ ending: ProcessEnding, _ words: String) -> CheckResult {
    var text = words.isEmpty ? "" : words + "\n"
    guard errorBytes > 0 else { return CheckResult(ending: ending, output: text) }
    var bytes = [UInt8](repeating: 0, count: CommandChecker.outputLimitBytes)
    let count = unsafe bytes.withUnsafeMutableBytes { space in
      unsafe pread(errors.number, space.baseAddress, space.count, 0)
    }
    text += String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    return CheckResult(
      ending: ending, output: text.isEmpty || text.hasSuffix("\n") ? text : text + "\n")
  }
}
