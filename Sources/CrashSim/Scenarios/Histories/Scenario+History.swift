// Scenario+History.swift: a drawn history as an ordinary scenario. It is written in the words of
// the language and read back by its parser, so it is checked as what a person writes is, and all
// that can stand around steps can stand around it (decision 0924).

import LabCore
import Workload

extension Scenario {
  /// The scenario with one of its histories in the place of `history`.
  /// - Parameters:
  ///   - number: Which history, from 0.
  ///   - seed: The run's seed; the scenario's own one goes before it.
  /// - Returns: The scenario, what was drawn first, and the scenario's text.
  /// - Throws: `LabError` with code `.usage` when it declares no histories, or the parts of the
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

  /// A step's place for messages: in the file, or in a history, whose text nobody has as a file.
  func place(of position: SourcePosition) -> String {
    guard let historyNumber else { return "\(file):\(position)" }
    return "\(file), history \(historyNumber), line \(position.line) of it"
  }

  /// The scenario of a number that a token names; the scenario itself for none.
  package func drawn(ifNumbered number: Int?, seed: Seed) throws(LabError) -> Scenario {
    guard let number else { return self }
    return try drawn(number, seed: seed).scenario
  }
}
