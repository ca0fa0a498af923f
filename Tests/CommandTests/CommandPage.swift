// CommandPage.swift: docs/reference/command-line.md, made from what the command says of itself
// (swift-argument-parser's `--experimental-dump-help`).

import Foundation

/// What a command says of itself.
struct CommandDescription: Decodable {
  struct Root: Decodable { var command: CommandDescription }

  struct Name: Decodable {
    var kind: String
    var name: String

    var text: String { (kind == "long" ? "--" : "-") + name }
  }

  struct Argument: Decodable {
    var kind: String
    var names: [Name]?
    var valueName: String?
    var abstract: String?
    var defaultValue: String?
    var allValues: [String]?
    var isOptional: Bool
    var isRepeating: Bool
    var shouldDisplay: Bool
    var sectionTitle: String?

    /// How it is written.
    var text: String {
      let value = "\(valueName ?? "value")".uppercased()
      switch kind {
      case "positional": return isRepeating ? "\(value)…" : value
      case "flag": return names?.map(\.text).joined(separator: ", ") ?? ""
      default: return (names?.map(\.text).joined(separator: ", ") ?? "") + " " + value
      }
    }
  }

  var commandName: String
  var abstract: String?
  var discussion: String?
  var arguments: [Argument]?
  var subcommands: [CommandDescription]?
  var shouldDisplay: Bool?
}

/// The page of all commands.
struct CommandPage {
  private static let columnsMax = 130
  private(set) var text = """
    # Command line

    <!-- made by `make pages` from the commands' own help; what follows is not edited by hand -->

    All commands and options of `faultline`, as `faultline COMMAND --help` prints them. See also
    [exit codes](exit-codes.md) and [environment variables](environment.md).


    """

  init(_ root: CommandDescription) { add(root, path: []) }

  private mutating func add(_ command: CommandDescription, path: [String]) {
    guard command.shouldDisplay != false, command.commandName != "help" else { return }
    let name = path + [command.commandName]
    text += "## \(name.joined(separator: " "))\n\n"
    if let abstract = command.abstract { add(prose: abstract) }
    if let discussion = command.discussion { add(discussion: discussion) }
    // Every command has the same two.
    let arguments = (command.arguments ?? []).filter {
      $0.shouldDisplay && $0.names?.contains { ["version", "help"].contains($0.name) } != true
    }
    if !arguments.isEmpty { add(arguments) }
    for subcommand in command.subcommands ?? [] { add(subcommand, path: name) }
  }

  private mutating func add(_ arguments: [CommandDescription.Argument]) {
    var title: String?
    for (index, argument) in arguments.enumerated() {
      if index == 0 || argument.sectionTitle != title {
        title = argument.sectionTitle
        if index > 0 { text += "\n" }
        text += "| \(title.map { $0.lowercased() } ?? "option") | meaning |\n|---|---|\n"
      }
      var meaning = argument.abstract ?? ""
      if let values = argument.allValues, !values.isEmpty {
        meaning += " Values: \(values.joined(separator: ", "))."
      }
      if let value = argument.defaultValue { meaning += " Default: `\(value)`." }
      let cell = meaning.replacing("|", with: "\\|")
      text += "| `\(argument.text)` | \(cell) |\n"
    }
    text += "\n"
  }

  /// Lines that are indented are commands; the others are paragraphs.
  private mutating func add(discussion: String) {
    var isCode = false
    for line in discussion.components(separatedBy: "\n") {
      let isIndented = line.hasPrefix("  ")
      if isIndented != isCode {
        text += isIndented ? "```\n" : "```\n\n"
        isCode = isIndented
      }
      if isIndented {
        text += line.dropFirst(2) + "\n"
      } else if !line.isEmpty {
        add(prose: line)
      }
    }
    if isCode { text += "```\n\n" }
  }

  private mutating func add(prose: String) {
    var width = 0
    for word in prose.split(separator: " ") {
      if width > 0, width + 1 + word.count > Self.columnsMax {
        text += "\n"
        width = 0
      }
      text += (width > 0 ? " " : "") + word
      width += (width > 0 ? 1 : 0) + word.count
    }
    text += "\n\n"
  }
}
