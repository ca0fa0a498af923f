// AcknowledgedLinesTests.swift: acknowledgements are lines: of one process in pieces, of children,
// of two processes at once, of one that ends in the middle; and `--marks writes` has each write.

import Findings
import Foundation
import TestSupport
import Testing

@Suite("explore: acknowledgements are lines", .requires(.fuse))
struct AcknowledgedLinesTests {
  /// Complains of any line but these, and of half of one.
  private func check(_ lines: String...) -> String {
    """
    while read -r line; do
      case $line in \(lines.joined(separator: "|"))) ;; *) echo "mixed: $line"; exit 1 ;; esac
    done < "$FAULTLINE_OUTPUT"
    [ -z "$(tail -c 1 "$FAULTLINE_OUTPUT")" ] || { echo "half a line"; exit 1; }
    """
  }

  private func markCount(_ command: FaultlineCommand, _ arguments: [String]) throws -> (
    marks: Int?, result: CommandResult
  ) {
    let result = try command.run(arguments + ["--json", "r.json"])
    let report = try? command.report("r.json")
    return (report?.cases.first?.explorations.first?.markCount, result)
  }

  private static let inPieces = """
    printf sav; echo 1 > f; sync f; printf 'ed '; printf '3\\n'; echo 2 > g; sync g
    """

  @Test("one process in pieces: a line counts at its end")
  func pieces() throws {
    let command = try FaultlineCommand()
    let arguments = FaultlineCommand.exploration(
      workload: Self.inPieces, check: check("'saved 3'"))
    let (marks, result) = try markCount(command, arguments)
    #expect(result.status == 0 && marks == 1, "\(result.output)")
    // The same with each write for itself: what was a false alarm.
    let (writes, broken) = try markCount(command, arguments + ["--marks", "writes"])
    #expect(broken.status == 1 && writes == 3, "\(broken.output)")
    let token = try #require(broken.replayToken)
    #expect(try command.run(["replay", token]).status == 1)
  }

  @Test(
    "a shell whose children print whole lines: each is one acknowledgement, before what follows")
  func children() throws {
    let (marks, result) = try markCount(
      try FaultlineCommand(),
      FaultlineCommand.exploration(
        workload: """
          for i in 1 2 3; do sh -c "echo $i > f$i; sync f$i .; echo $i"; : > after$i; sync .; done
          """,
        check: check("1", "2", "3") + """

          for i in 1 2 3; do
            [ ! -e after$i ] || grep -qx $i "$FAULTLINE_OUTPUT" || { echo "late: $i"; exit 1; }
          done
          """))
    #expect(result.status == 0 && marks == 3, "\(result.output)")
  }

  @Test("half lines of two processes that interleave are two lines")
  func twoProcesses() throws {
    let (marks, result) = try markCount(
      try FaultlineCommand(),
      FaultlineCommand.exploration(
        workload: """
          await() { while [ ! -e $1 ]; do sleep 0.01; done; }
          (printf a; : > a1; await b1; printf 'aa\\n'; : > a2) &
          (await a1; printf b; : > b1; await a2; printf 'bb\\n') &
          wait
          """, check: check("aaa", "bbb")))
    #expect(result.status == 0 && marks == 2, "\(result.output)")
  }

  @Test("a process that ends without a line feed has acknowledged by then")
  func ended() throws {
    let (marks, result) = try markCount(
      try FaultlineCommand(),
      FaultlineCommand.exploration(
        workload: "sh -c 'printf saved'; echo x > f; sync f .; printf more",
        check: check("saved", "more") + """

          [ ! -e f ] || grep -qx saved "$FAULTLINE_OUTPUT" || { echo late; exit 1; }
          """))
    #expect(result.status == 0 && marks == 2, "\(result.output)")
  }

  @Test("a process that the lab kills in the middle of a line has not acknowledged it")
  func killed() throws {
    let (marks, result) = try markCount(
      try FaultlineCommand(),
      FaultlineCommand.exploration(
        workload: """
          (printf half; : > begun; sleep 60) &
          while [ ! -e begun ]; do sleep 0.01; done; echo whole
          """, check: check("whole")))
    #expect(result.status == 0 && marks == 1, "\(result.output)")
  }

  @Test("a token says what its acknowledgements are; one without the word has each write")
  func tokens() throws {
    let command = try FaultlineCommand()
    let result = try command.explore(
      workload: "echo hello > file; echo saved",
      check: "grep -q saved \"$FAULTLINE_OUTPUT\" && ! grep -q hello file && exit 1; :")
    let token = try #require(result.replayToken)
    var text = String(token.dropFirst(4).prefix { $0 != "." })
    text = text.replacing("-", with: "+").replacing("_", with: "/")
    while text.count % 4 != 0 { text += "=" }
    let bytes: Data = try #require(Data(base64Encoded: text))
    let recipe = String(decoding: bytes, as: UTF8.self)
    #expect(recipe.contains("\"marks\":\"lines\""), "\(recipe)")
    let older = recipe.replacing("\"marks\":\"lines\",", with: "")
    let old = Data(older.utf8).base64EncodedString().replacing("+", with: "-")
      .replacing("/", with: "_").replacing("=", with: "")
    let again = try command.run(["replay", "--trust", "fl1-" + old])
    #expect(again.status == 1, "\(again.output)")
    #expect(again.output.contains("verdict: broken, reproduced"), "\(again.output)")
  }
}
