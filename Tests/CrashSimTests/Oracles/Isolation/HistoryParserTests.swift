// HistoryParserTests.swift: history files: what is written is read again, and every wrong line is
// an error that names it.

import Testing

@testable import LabCore
@testable import Oracles

@Suite("history files")
struct HistoryParserTests {
  private func message(_ lines: [String]) -> String {
    do throws(LabError) {
      let text = lines.joined(separator: "\n")
      _ = try HistoryParser.parse(Array(text.utf8), file: "h.jsonl")
      return "none"
    } catch {
      return error.message
    }
  }

  @Test("fields may stand in any order, with spaces, and the last line may have no end")
  func forms() throws {
    let text =
      "{ \"history\" : 1 }\n{\"session\":4,\"begin\":-7}\r\n"
      + "{\"do\":[ [\"append\", 1, 2] ,[\"read\",1,[ ]],[\"read\",3,[5, -6]]],\"ops\":-7}\n"
      + "{\"outcome\":\"committed\",\"end\":-7}"
    let history = try HistoryParser.parse(Array(text.utf8), file: "h")
    #expect(
      history.transactions == [
        HistoryTransaction(
          number: -7, session: 4, begin: 2, end: 4, outcome: .committed,
          operations: [
            .append(list: 1, value: 2), .read(list: 1, values: []),
            .read(list: 3, values: [5, -6]),
          ])
      ])
  }

  static let wrong: [(lines: [String], message: String)] = [
    ([], "h.jsonl:1: the file is empty"),
    (["{\"begin\":1,\"session\":1}"], "h.jsonl:1: a history begins with"),
    (["{\"history\":2}"], "h.jsonl:1: a history begins with"),
    ([HistoryLine.header, ""], "none"),
    ([HistoryLine.header, "", ""], "h.jsonl:2:1: expected '{'"),
    ([HistoryLine.header, "{\"begin\":1}"], "h.jsonl:2: a line has begin and session"),
    ([HistoryLine.header, "{\"begin\":1,\"begin\":2}"], "h.jsonl:2:12: 'begin' occurs twice"),
    ([HistoryLine.header, "{\"at\":1}"], "h.jsonl:2:2: 'at' occurs twice in the line"),
    ([HistoryLine.header, "{\"end\":1,\"outcome\":\"won\"}"], "outcome 'won': write committed"),
    ([HistoryLine.header, HistoryLine.end(1, .aborted)], "transaction 1 has no line"),
    (
      [HistoryLine.header, HistoryLine.begin(1, session: 1), HistoryLine.begin(1, session: 2)],
      "h.jsonl:3: transaction 1 began before, in line 2"
    ),
    (
      [HistoryLine.header, HistoryLine.begin(1, session: 1), HistoryLine.begin(2, session: 1)],
      "h.jsonl:3: session 1 is still in transaction 1"
    ),
    (
      [HistoryLine.header, HistoryLine.begin(1, session: 1), HistoryLine.end(1, .committed)],
      "h.jsonl:3: transaction 1 is committed without a line"
    ),
    (
      [
        HistoryLine.header, HistoryLine.begin(1, session: 1), HistoryLine.end(1, .aborted),
        HistoryLine.end(1, .aborted),
      ], "h.jsonl:4: transaction 1 has ended before"
    ),
    (
      [
        HistoryLine.header, HistoryLine.begin(1, session: 1), HistoryLine.operations(1, []),
        HistoryLine.operations(1, []),
      ], "h.jsonl:4: transaction 1 already has a line"
    ),
    (
      [
        HistoryLine.header, HistoryLine.begin(1, session: 1), HistoryLine.crash,
        HistoryLine.end(1, .committed),
      ], "h.jsonl:4: transaction 1 has ended before"
    ),
    ([HistoryLine.header, "{\"crash\":99999999999999999999}"], "a number of more than 63 bits"),
    ([HistoryLine.header, "{\"ops\":1,\"do\":[[\"pop\",1,1]]}"], "operation 'pop': write append"),
    ([HistoryLine.header, "{\"ops\":1,\"do\":[[\"read\",1,1]]}"], "expected '['"),
    ([HistoryLine.header, "{\"crash\":1} x"], "h.jsonl:2:13: there is more after"),
    ([HistoryLine.header, "{\"cr\\u0061sh\":1}"], "expected a word of this format"),
    (
      [HistoryLine.header, "{\"" + String(repeating: " ", count: HistoryParser.lineBytesMax)],
      "h.jsonl:2: a line of 1048578 bytes"
    ),
  ]

  @Test("a wrong line is named, with what to write instead", arguments: wrong)
  func faults(lines: [String], message: String) {
    #expect(self.message(lines).contains(message), "\(self.message(lines).prefix(300))")
  }

  @Test("damaged files are histories or errors, never the end of the process")
  func mutants() throws {
    var random = PRNG(Seed(rawValue: 5).derived("mutants"))
    let lines = [
      HistoryLine.header, HistoryLine.begin(1, session: 1),
      HistoryLine.operations(1, [.append(list: 1, value: 1), .read(list: 2, values: [1, 2])]),
      HistoryLine.begin(2, session: 2), HistoryLine.end(1, .committed), HistoryLine.crash,
      HistoryLine.begin(3, session: 1), HistoryLine.operations(3, [.read(list: 1, values: [1])]),
      HistoryLine.end(3, .committed),
    ]
    let whole = Array((lines.joined(separator: "\n") + "\n").utf8)
    let alphabet = Array("{}[]\",:-019 \nabcdenosu\u{0}".utf8)
    var accepted = 0
    for _ in 0..<4000 {
      var bytes = whole
      for _ in 0..<1 + random.below(3) {
        let place = random.below(bytes.count)
        let isDigit = bytes[place] >= 0x30 && bytes[place] <= 0x39
        switch random.below(3) {
        case _ where isDigit: bytes[place] = 0x30 + UInt8(random.below(10))
        case 0: bytes[place] = alphabet[random.below(alphabet.count)]
        case 1: bytes.remove(at: place)
        default: bytes.insert(alphabet[random.below(alphabet.count)], at: place)
        }
      }
      guard let history = try? HistoryParser.parse(bytes, file: "m") else { continue }
      accepted += 1
      _ = try? IsolationOracle.check(history)
    }
    #expect(accepted > 50 && accepted < 3000, "\(accepted)")
  }
}
