// ScenarioParser+History.swift: parses a scenario's declaration of drawn histories.

import Workload

extension ScenarioParser {
  /// The sections that a history replaces, in the order in which they are required otherwise.
  static let sectionsOfSteps = ["schema", "processes", "steps"]
  private static let replaced = sectionsOfSteps + ["database"]

  func readHistory(
    _ node: ScenarioNode, _ scenario: ScenarioReader.Fields
  ) -> HistoryDeclaration? {
    for key in Self.replaced where scenario[key] != nil {
      reader.report(
        scenario.keyPosition(key) ?? node.position,
        "'history' draws what '\(key)' would say", "remove one of them")
    }
    guard let fields = reader.fields(node, .history) else { return nil }
    var history = HistoryDeclaration()
    func read(_ key: String, _ range: ClosedRange<Int64>, _ value: inout Int) {
      guard let node = fields[key] else { return }
      value = reader.integer(node, key, in: range).map { Int($0) } ?? value
    }
    read("histories", HistoryDeclaration.historyCounts, &history.histories)
    read("steps", HistoryDeclaration.stepCounts, &history.steps)
    read("rows", HistoryDeclaration.rowCounts, &history.rows)
    read("processes", HistoryDeclaration.processCounts, &history.processes)
    if let node = fields["of"] {
      let word = reader.word(node, "kind of content", of: GrammarWords.historyContents)
      history.content = word.flatMap { HistoryContent(rawValue: $0) } ?? history.content
    }
    readPlant(fields, &history)
    if history.content == .sync {
      refuseSections(of: scenario, beside: "of: sync", except: Self.replaced + ["history"])
    } else {
      readSchedule(scenario, &history)
    }
    if let node = fields["with"] { history.always = readFeatures(node, of: history) }
    if let node = fields["without"] { history.never = readFeatures(node, of: history) }
    for feature in HistoryFeature.allCases
    where history.always.contains(feature) && history.never.contains(feature) {
      reader.report(
        node.position, "'\(feature.rawValue)' is asked for and ruled out",
        "take it out of 'with' or out of 'without'")
    }
    if let crash = scenario["crash"], crash.hasKey("on") {
      reader.report(
        crash.position, "drawn histories run on FaultFS only",
        "take 'on' out of 'crash'")
    }
    return history
  }

  /// Reads the planted bug of histories of synchronization.
  private func readPlant(_ fields: ScenarioReader.Fields, _ history: inout HistoryDeclaration) {
    for key in ["plant", "breaks"] where history.content != .sync && fields[key] != nil {
      reader.report(
        fields.keyPosition(key) ?? fields.position, "'\(key)' is for histories of sync",
        "take it out, or write 'of: sync'")
    }
    let found = readPlant(fields)
    history.plant = found.plant
    history.breaks = found.breaks
  }

  /// Whether its histories have concurrent steps; reports what cannot be combined with them.
  private func readSchedule(
    _ scenario: ScenarioReader.Fields, _ history: inout HistoryDeclaration
  ) {
    guard let position = scenario.keyPosition("schedule") else { return }
    for key in ["killSweep", "sweep", "media", "writeBack"] where scenario[key] != nil {
      reader.report(
        scenario.keyPosition(key) ?? position, "'schedule' does not go with '\(key)'",
        "remove one of them")
    }
    if history.content == .objects {
      reader.report(
        position, "the realms of several actors are not scheduled together",
        "take out 'of: objects', or the schedule")
    }
    if scenario["schedule"]?.hasKey("script") == true {
      reader.report(
        position, "the turns of a drawn history are unknown",
        "use the strategy random, pct or exhaustive")
    }
    history.isScheduled = true
    history.processes = 1
  }

  private func readFeatures(
    _ node: ScenarioNode, of history: HistoryDeclaration
  ) -> Set<HistoryFeature> {
    let items = reader.oneOrMore(node, of: "features")
    return Set(
      reader.distinct(items, "feature") { item in
        let words = GrammarWords.historyFeatures
        guard let word = reader.word(item, "feature of a history", of: words),
          let feature = HistoryFeature(rawValue: word)
        else { return nil }
        if !history.features.contains(feature) {
          let place = history.isScheduled ? " beside a schedule" : ""
          reader.report(
            item.position, "histories of \(history.content.rawValue) have no '\(word)'\(place)",
            "take it out, or change '\(history.isScheduled ? "schedule" : "of")'")
        }
        return (word, feature)
      })
  }
}
