// TextTargets.swift: the smaller languages: model files, replay tokens, histories and schedules.

import Findings
import Foundation
import Fuzz
import LabCore
import Oracles
import Scenarios
import Workload

enum ModelTarget {
  static let target = FuzzTarget.texts(
    "model", judges: "files of persistence models: errors have a place; models have a name",
    smokeCount: 600,
    words: GrammarObject.model.keys + GrammarWords.models
      + [": ", "true", "false", "512", "4096", "all", "data", "\n", "{", "}", "ext4-ordered"],
    samples: [
      "name: mine\nbase: ext4-ordered\nversion: 2\nsafeReplaceByRename: false\n",
      "name: weak\nbase: posix\nsectorBytes: 512\n",
    ],
    run: { input in
      do throws(ScenarioError) {
        let model = try ModelFile.parse(bytes: input, file: "fuzz")
        return model.name.isEmpty ? .finding("a model without a name") : .accepted
      } catch {
        let message = error.labError.message
        return message.hasPrefix("fuzz:")
          ? .refused : .finding("an error without a place: \(message.prefix(80))")
      }
    })
}

/// Tokens as text, or the JSON in them if the input begins with `{`.
enum TokenTarget {
  static let target = FuzzTarget.texts(
    "token", judges: "replay tokens, or the recipe in them: read, written and read again",
    smokeCount: 600,
    words: [
      "\"explore\"", "\"scenario\"", "\"stress\"", "\"_0\"", "\"place\"", "\"crash\"",
      "\"state\"", "\"model\"", "\"shape\"", "\"seed\"", "\"schedule\"", "\"recovery\"", ":", ",",
      "{", "}", "[", "]", "null", "-1", "18446744073709551615", "fl1-", "strict:1:0:k0-3",
      "faultline schedule 1\\nactors a b\\na 1\\n",
    ],
    samples: plain + plain.map(token) + ["fl1-", "fl1-AAAA"],
    run: { input in
      let text = String(decoding: input, as: UTF8.self)
      return FuzzOutcome(FuzzReaders.token(text.hasPrefix("{") ? token(text) : text))
    })

  private static let plain: [String] = [
    ReplayRecipe.explore(
      ExploreRecipe(
        workload: "w", check: "c", setup: nil, model: "ext4-ordered", seed: 7,
        state: "ext4-ordered@1:3:l1", shape: "abc", timeoutSeconds: 9)),
    .scenario(
      ScenarioRecipe(
        path: "a.yaml", seed: 1,
        place: .recovery(model: "posix", state: "posix@1:2:k0-1", shape: "x", second: "1;2"))),
    .scenario(
      ScenarioRecipe(
        path: "a.yaml", seed: 1,
        place: .schedule("faultline schedule 1\nactors a b\na 1\n"), backend: .inProcess)),
  ].map { recipe in
    let body = recipe.token.dropFirst(4).prefix { $0 != "." }
      .replacing("-", with: "+").replacing("_", with: "/")
    let padding = String(repeating: "=", count: (4 - body.count % 4) % 4)
    return Data(base64Encoded: body + padding).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
  }

  private static func token(_ json: String) -> String {
    let text = Data(json.utf8).base64EncodedString()
    return "fl1-"
      + text.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }
}

enum HistoryTarget {
  static let target = FuzzTarget.texts(
    "history", judges: "history files: errors name their line; what parses is judged to the end",
    smokeCount: 600,
    words: [
      "{\"history\":1}\n", "{\"begin\":1,\"session\":1}\n", "\"ops\"", "\"do\"", "\"append\"",
      "\"read\"", "\"end\"", "\"outcome\"", "\"committed\"", "\"aborted\"", "\"unknown\"",
      "{\"crash\":1}\n", "[", "]", ",", ":", "1", "2", "-1", "9223372036854775807", "\n",
    ],
    samples: [sample, whole],
    run: { input in
      let history: History
      do throws(LabError) {
        history = try HistoryParser.parse(input, file: "fuzz")
      } catch {
        return error.code == .usage && error.message.hasPrefix("fuzz:")
          ? .refused : .finding("an error without a place: \(error)")
      }
      // An error of a whole history has no line, but it must have a message.
      do throws(LabError) {
        let report = try IsolationOracle.check(history)
        let lines = report.lines(judgedBy: .strictSerializable)
        return lines.isEmpty ? .finding("a judgement without a word") : .accepted
      } catch { return error.code == .usage ? .refused : .finding("judged with \(error)") }
    })

  private static let sample = """
    {"history":1}
    {"begin":1,"session":1}
    {"begin":2,"session":2}
    {"ops":1,"do":[["append",1,10],["read",2,[]]]}
    {"ops":2,"do":[["read",1,[]],["append",2,20]]}
    {"end":1,"outcome":"committed"}
    {"end":2,"outcome":"committed"}
    {"crash":1}
    {"begin":3,"session":3}
    {"ops":3,"do":[["read",1,[10]],["read",2,[20]]]}
    {"end":3,"outcome":"aborted"}

    """

  private static let whole =
    "{\"history\":1}\n"
    + (1...12).map { number in
      let seen = (1..<number).map { String($0 * 10) }.joined(separator: ",")
      return """
        {"begin":\(number),"session":1}
        {"ops":\(number),"do":[["read",1,[\(seen)]],["append",1,\(number * 10)]]}
        {"end":\(number),"outcome":"committed"}

        """
    }.joined()
}

enum ScheduleTarget {
  static let target = FuzzTarget.texts(
    "schedule", judges: "schedule texts: what is read has one spelling, which reads the same",
    smokeCount: 1000,
    words: ["faultline schedule 1\n", "actors ", "ui", "b", " ", "\n", "1", "1000000000", "0"],
    samples: [
      "faultline schedule 1\nactors ui background\nui 12\nbackground 3\nui 1\n",
      "faultline schedule 1\nactors a\n",
    ],
    run: { input in
      FuzzOutcome(FuzzReaders.schedule(String(decoding: input, as: UTF8.self)))
    })
}
