// QueryPaths.swift: paths of properties, as a query writes them.

import Fleece

/// Reads paths.
enum QueryPaths {
  /// The steps of a path and of the parts appended to it: names, which are no paths, and `[index]`.
  static func components(
    _ text: String, then rest: [QueryNode] = [], at place: QueryPlace
  ) throws(DocumentQueryError) -> [FleecePath.Component] {
    var components = try steps(text, at: place)
    for node in rest {
      switch node.value {
      case .text(""):
        throw DocumentQueryError(.operands, "a step of a path is empty", at: node.place)
      case .text(let text): components.append(.key(text))
      case .array(let items):
        guard items.count == 1, case .integer(let number) = items[0].value,
          let index = Int32(exactly: number)
        else {
          throw DocumentQueryError(
            .operands, "a step of a path is a text or an array of one index", at: node.place)
        }
        components.append(.index(Int(index)))
      default:
        throw DocumentQueryError(
          .operands, "a step of a path cannot be \(node.kind)", at: node.place)
      }
    }
    guard components.count <= FleecePath.stepsMax else {
      throw DocumentQueryError(
        .limit, "a path of \(components.count) steps > \(FleecePath.stepsMax)", at: place)
    }
    return components
  }

  private static func steps(
    _ text: String, at place: QueryPlace
  ) throws(DocumentQueryError) -> [FleecePath.Component] {
    // A dollar at the front is a letter here, and an empty name before an index is none.
    var text = text[...]
    if text.hasPrefix(".") { text = text.dropFirst() }
    let path = text.hasPrefix("$") ? "\\" + text : String(text)
    do throws(FleeceError) { return try FleecePath(parsing: path).components } catch {
      throw DocumentQueryError(
        .syntax, "the path \(shown(String(text))) does not read: \(error.message)", at: place)
    }
  }

  /// The name of an index, optionally after that of a source and a point.
  static func indexName(
    _ node: QueryNode, _ what: String
  ) throws(DocumentQueryError) -> String {
    let name = node.text ?? node.array.flatMap { $0.count == 1 ? $0[0].text : nil }
    guard let name, !name.isEmpty, name != "." else {
      throw DocumentQueryError(
        .operands, "\(what) needs the name of an index, and not \(node.kind)", at: node.place)
    }
    return name.hasPrefix(".") ? String(name.dropFirst()) : name
  }
}
