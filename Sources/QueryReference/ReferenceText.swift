// ReferenceText.swift: how the naive evaluator folds texts and finds words and places, by other
// means than the query module: Foundation's decomposition and sets of characters, and vectors.

import Engine
import Foundation
import Query

/// Operations on texts.
enum ReferenceText {
  static func folded(_ text: String) -> String {
    let upper = text.unicodeScalars.map(\.properties.uppercaseMapping).joined()
    return upper.unicodeScalars.map(\.properties.lowercaseMapping).joined()
  }

  static func withoutMarks(_ text: String) -> String {
    var kept = String.UnicodeScalarView()
    for scalar in text.decomposedStringWithCanonicalMapping.unicodeScalars
    where scalar.properties.canonicalCombiningClass.rawValue == 0 {
      kept.append(scalar)
    }
    return String(kept)
  }

  static func words(_ text: String) -> [String] {
    var words: [String] = []
    var word = ""
    for scalar in text.unicodeScalars {
      if CharacterSet.alphanumerics.contains(scalar) {
        word.unicodeScalars.append(scalar)
      } else if !word.isEmpty {
        words.append(word)
        word = ""
      }
    }
    return (word.isEmpty ? words : words + [word]).map { folded(withoutMarks($0)) }
      .filter { !$0.isEmpty }
  }
}

extension Reference {
  /// Whether an item is a row with a place in a shape.
  func isWithin(_ item: Item, _ shape: QueryShape) -> Bool {
    guard case .row("Place", let key) = item, let row = data.rows["Place"]?[key],
      row[0] == .string("Point"), case .list(let numbers) = row[1], numbers.count >= 2,
      case .double(let longitude) = numbers[0], case .double(let latitude) = numbers[1]
    else { return false }
    switch shape {
    case .box(let first, let second):
      let (one, other) = (corner(first), corner(second))
      return (longitude - one.x) * (longitude - other.x) <= 0
        && (latitude - one.y) * (latitude - other.y) <= 0
    case .circle(let centre, let radius):
      let centre = corner(centre)
      return angle((centre.x, centre.y), (longitude, latitude)) <= number(radius)
    case .polygon(let rings):
      // A line to the west crosses an odd number of edges, or begins on one.
      var crossings = 0
      for ring in rings {
        let corners = ring.map { corner($0) }
        for (index, start) in corners.enumerated() {
          let end = corners[(index + 1) % corners.count]
          let (low, high) = start.y < end.y ? (start, end) : (end, start)
          guard low.y <= latitude, latitude < high.y else { continue }
          let side = (high.x - low.x) * (latitude - low.y) - (longitude - low.x) * (high.y - low.y)
          if side <= 0 { crossings += 1 }
        }
      }
      return crossings % 2 == 1
    }
  }

  private func corner(_ point: QueryPoint) -> (x: Double, y: Double) {
    (number(point.longitude), number(point.latitude))
  }

  private func number(_ operand: QueryOperand) -> Double {
    switch operand {
    case .literal(.number(let text)): Double(text).known
    case .literal(.value(.int(let number))): Double(number)
    case .argument(let index): if case .double(let number) = arguments[index] { number } else { 0 }
    default: 0
    }
  }

  /// The angle between two places, by the vectors that lead to them.
  private func angle(_ left: (Double, Double), _ right: (Double, Double)) -> Double {
    func vector(_ place: (Double, Double)) -> [Double] {
      let (east, north) = (place.0 * .pi / 180, place.1 * .pi / 180)
      return [cos(north) * cos(east), cos(north) * sin(east), sin(north)]
    }
    let (a, b) = (vector(left), vector(right))
    let cross = [
      a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0],
    ]
    let length = (cross[0] * cross[0] + cross[1] * cross[1] + cross[2] * cross[2]).squareRoot()
    return atan2(length, a[0] * b[0] + a[1] * b[1] + a[2] * b[2])
  }
}
