// Scenario+History.swift: converts a drawn history to an ordinary scenario. It is written in the
// scenario language and parsed again, so it is checked like a hand-written one, and can be combined
// with everything that can be combined with steps (decision 0924).

import LabCore
import Workload

extension Scenario {
  /// The scenario with `history` replaced by one of its histories.
  /// - Parameters:
  ///   - number: Number of the history, from 0.
  ///   - seed: The run's seed; the scenario's own seed takes precedence.
  /// - Returns: The scenario, the parameters drawn first, and the scenario's text.
  /// - Throws: `LabError` with code `.usage` when it declares no histories, or other parts of the
  ///   scenario do not fit the history.
  ///   scenario that stand around the history do not go with it.
  package func drawn(
    _ number: Int, seed: Seed
  ) throws(LabError) -> (scenario: Scenario, parameters: HistoryParameters, text: String) {
    guard let history else { throw .usage("\(file) no longer draws histories") }
    let drawn = DrawnHistory(self, seed: self.seed ?? seed, number: number)
    let text = try ScenarioSource.text(of: drawn, in: history.source, file: file)
    do throws(ScenarioError) {
      var scenario = try ScenarioParser.parse(text, file: file)
      scenario.fingerprint = fingerprint
      let version = scenario.lines.version
      scenario.lines = lines
      scenario.lines.version = version
      scenario.historyNumber = number
      return (scenario, drawn.parameters, text)
    } catch {
      throw .usage("\(file): history \(number) under seed \(seed): \(error)")
    }
  }

  /// A step's position for messages: in the file, or in a history, whose text is not in a file.
  func place(of position: SourcePosition) -> String {
    guard let historyNumber else { return "\(file):\(position)" }
    return "\(file), history \(historyNumber), line \(position.line) of it"
  }

  /// The scenario's history with the number in a token; without a number, the scenario itself.
  package func drawn(ifNumbered number: Int?, seed: Seed) throws(LabError) -> Scenario {
    guard let number else { return self }
    return try drawn(number, seed: seed).scenario
  }
}
