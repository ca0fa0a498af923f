// FaultlineCheck.swift: a checker in Swift that stays, for `faultline explore --check-loop`.
// Copy this file beside your checker. It needs Swift 5.9 or newer and Foundation.
//
//   checkLoop { directory, output in   // the crash state, and a file with what was acknowledged
//     nil                              // or the reason why the state is not fine
//   }
//
// Throw `Noticed` when the program says itself that its files are damaged. Any other error means
// that the state is broken; so does a trap, after which Faultline starts another process. What a
// judge opens it closes: the next state comes into the same directory. Print to standard error:
// standard output is for the answers.

import Foundation

/// The program has noticed the damage.
struct Noticed: Error {
  let words: String
}

private struct Request: Decodable {
  let directory: String
  let output: String
  let environment: [String: String]
}

/// Answers each request on standard input until there are no more.
func checkLoop(_ judge: (_ directory: String, _ output: String) throws -> String?) {
  let files = FileManager.default
  let home = files.currentDirectoryPath
  while let line = readLine() {
    guard let request = try? JSONDecoder().decode(Request.self, from: Data(line.utf8)) else {
      fatalError("no request: \(line)")
    }
    for (name, value) in request.environment { setenv(name, value, 1) }
    _ = files.changeCurrentDirectoryPath(request.directory)
    var answer = "held"
    do {
      if let reason = try judge(request.directory, request.output) { answer = "broken \(reason)" }
    } catch let notice as Noticed {
      answer = "noticed \(notice.words)"
    } catch {
      answer = "broken \(error)"
    }
    _ = files.changeCurrentDirectoryPath(home)
    print(answer.split(whereSeparator: \.isWhitespace).joined(separator: " "))
    fflush(nil)
  }
}
