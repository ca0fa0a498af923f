// PageLint.swift: holds the page's style sheet, its script and the Swift that writes its elements
// against each other: a name that only one of them knows is a typing error, or left over.

/// The page's files, checked together.
package struct PageLint {
  private let style: StyleLint
  private let script: ScriptLint
  private let markup: MarkupNames
  /// All that is wrong.
  package private(set) var faults: [PageFault]

  /// Classes that elements have for others than the style sheet and the script.
  private static let hooks = [
    "findings": "where a page's findings lie, for people who look at its source",
    "measured": "docs/reference/reports.md: what follows the clock",
    "start": "the row before the first operation",
  ]

  /// - Parameters:
  ///   - style: The style sheet.
  ///   - script: The script.
  ///   - page: The Swift files that write the page.
  ///   - shown: The Swift files that declare what the page shows.
  package init(style: PageText, script: PageText, page: [PageText], shown: [PageText]) {
    self.style = StyleLint(style)
    self.script = ScriptLint(script)
    markup = MarkupNames(page: page, shown: shown)
    faults = self.style.faults + self.script.faults
    checkClasses()
    checkProperties()
    checkAttributes()
  }

  private mutating func checkClasses() {
    for (name, line) in Self.sorted(style.classes)
    where markup.classes[name] == nil && !markup.possibleClasses.contains(name)
      && !scriptSets(name)
    {
      faults.append(style.sheet.fault(line, "no element has the class `\(name)`"))
    }
    for (name, line) in Self.sorted(style.elements) where !markup.elements.contains(name) {
      faults.append(style.sheet.fault(line, "the page has no element `\(name)`"))
    }
    for (name, line) in script.selectedClasses
    where markup.classes[name] == nil && !scriptSets(name) {
      faults.append(script.script.fault(line, "no element has the class `\(name)`"))
    }
    let selected = Set(script.selectedClasses.map(\.name))
    for (name, use) in markup.classes.sorted(by: { $0.key < $1.key })
    where style.classes[name] == nil && !selected.contains(name) && Self.hooks[name] == nil {
      faults.append(
        PageFault(
          path: use.path, line: use.line,
          message: "the class `\(name)` is in neither style sheet nor script"))
    }
  }

  /// Hooks that no element has any more.
  package var needlessHooks: [String] {
    Self.hooks.keys.filter { markup.classes[$0] == nil && !markup.possibleClasses.contains($0) }
  }

  /// A class that the script sets, whole or as a prefix and a kind.
  private func scriptSets(_ name: String) -> Bool {
    let texts = Set(script.texts.map(\.text))
    if texts.contains(name) { return true }
    return texts.contains { prefix in
      prefix.hasSuffix("-") && name.hasPrefix(prefix)
        && texts.contains(String(name.dropFirst(prefix.count)))
    }
  }

  private mutating func checkProperties() {
    for (name, line) in Self.sorted(style.usedProperties)
    where style.declaredProperties[name] == nil && !markup.properties.contains(name) {
      faults.append(style.sheet.fault(line, "`\(name)` is declared nowhere"))
    }
    for (name, line) in Self.sorted(style.declaredProperties)
    where style.usedProperties[name] == nil {
      faults.append(style.sheet.fault(line, "`\(name)` is used nowhere"))
    }
  }

  private mutating func checkAttributes() {
    let read = script.readAttributes.filter { $0.name.hasPrefix("data-") }
    for (name, line) in read where markup.attributes[name] == nil {
      faults.append(script.script.fault(line, "no element has the attribute `\(name)`"))
    }
    let names = Set(read.map(\.name))
    for (name, use) in markup.attributes.sorted(by: { $0.key < $1.key })
    where !names.contains(name) {
      faults.append(
        PageFault(
          path: use.path, line: use.line, message: "the script never reads `\(name)`"))
    }
  }

  private static func sorted(_ names: [String: Int]) -> [(key: String, value: Int)] {
    names.sorted { ($0.value, $0.key) < ($1.value, $1.key) }
  }
}
