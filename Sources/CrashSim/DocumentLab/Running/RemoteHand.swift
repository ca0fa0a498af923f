// RemoteHand.swift: a hand in a process of its own, which can be killed: a line for each step, and
// a line for each answer.

import Foundation
import LabCore
import Workload

/// What a hand is asked.
package enum HandRequest: Codable, Sendable, Hashable {
  case perform(index: Int)
  case settle(first: Int, last: Int)
}

/// What a hand answers.
package struct HandReply: Codable, Sendable, Hashable {
  var code: String?
  var promise: Int?
  var text = ""
  var settled = 0

  init(_ answer: DocumentAnswer, settled: Int) {
    self.settled = settled
    switch answer {
    case .done: break
    case .failed(let code, let text): (self.code, self.text) = (code, text)
    case .wrong(let promise, let text): (self.promise, self.text) = (promise.rawValue, text)
    case .gone(let ending): (code, text) = ("gone", "\(ending)")
    }
  }

  var answer: DocumentAnswer {
    if let promise { return .wrong(DocumentPromise(rawValue: promise) ?? .atomic, text) }
    return code.map { .failed(code: $0, text: text) } ?? .done
  }
}

/// A hand in another process.
package final class RemoteHand: DocumentActor {
  private let process: LineProcess
  package private(set) var settled = 0
  private static let timeoutSeconds = 30

  /// Starts a process.
  /// - Parameters:
  ///   - program: The child program.
  ///   - environment: Its environment, besides the lab's own.
  /// - Throws: `LabError` when it cannot be started.
  package init(
    _ program: some ChildProgram, environment: [String: String]
  ) throws(LabError) {
    process = try LineProcess(program, environment: environment)
  }

  deinit { process.end() }

  package func perform(_ index: Int) throws(LabError) -> DocumentAnswer {
    try ask(.perform(index: index))
  }

  package func settle(_ commits: ClosedRange<Int>) throws(LabError) -> DocumentAnswer {
    try ask(.settle(first: commits.lowerBound, last: commits.upperBound))
  }

  private func ask(_ request: HandRequest) throws(LabError) -> DocumentAnswer {
    let line = try JSONLine.encode(request)
    switch try process.ask(line, timeoutSeconds: Self.timeoutSeconds) {
    case .ended(let ending): return .gone(ending)
    case .line(let bytes):
      guard let reply = try? JSONDecoder().decode(HandReply.self, from: Data(bytes)) else {
        throw .lab("a hand answered with '\(String(decoding: bytes.prefix(200), as: UTF8.self))'")
      }
      settled = reply.settled
      return reply.answer
    }
  }

  /// Serves requests from standard input until it ends.
  package static func serve(_ hand: DocumentHand) throws(LabError) {
    while let line = readLine(strippingNewline: true) {
      guard let request = try? JSONDecoder().decode(HandRequest.self, from: Data(line.utf8)) else {
        throw .usage("a hand is asked by faultline, and not with '\(line.prefix(200))'")
      }
      let answer: DocumentAnswer
      switch request {
      case .perform(let index): answer = try hand.perform(index)
      case .settle(let first, let last):
        answer = try hand.settle(min(first, last)...max(first, last))
      }
      let reply = try JSONLine.encode(HandReply(answer, settled: hand.settled))
      StandardStream.output.write(String(decoding: reply, as: UTF8.self))
    }
  }
}
