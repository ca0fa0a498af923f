// ScalePlot.swift: the costs of items over the number of rows, both axes logarithmic, as an SVG.

import Foundation

/// A plot of the measured sizes.
struct ScalePlot {
  private static let (width, height, margin) = (640.0, 400.0, 56.0)
  private static let colours = ["#1b6ca8", "#c0392b", "#218a4f", "#8e5ea2", "#b9770e", "#444444"]

  private let measured: [Measured]
  private let decades: ClosedRange<Double>
  private let sizes: ClosedRange<Double>

  init(_ measured: [Measured]) {
    self.measured = measured
    let costs = measured.flatMap { $0.costs.map { log10(max($0.nanoseconds, 0.1)) } }
    decades = (costs.min() ?? 0).rounded(.down)...max(1, (costs.max() ?? 1).rounded(.up))
    let rows = measured.map { log10(Double($0.rows)) }
    sizes = (rows.min() ?? 0)...max((rows.max() ?? 1), (rows.min() ?? 0) + 1)
  }

  private func x(_ rows: Int) -> Double {
    let part = (log10(Double(rows)) - sizes.lowerBound) / (sizes.upperBound - sizes.lowerBound)
    return Self.margin + part * (Self.width - 3 * Self.margin)
  }

  private func y(_ nanoseconds: Double) -> Double {
    let log = log10(max(nanoseconds, 0.1))
    let part = (log - decades.lowerBound) / (decades.upperBound - decades.lowerBound)
    return Self.height - Self.margin - part * (Self.height - 2 * Self.margin)
  }

  private func number(_ value: Double) -> String { String(format: "%.1f", value) }

  private func label(_ text: String, _ x: Double, _ y: Double, _ anchor: String) -> String {
    "<text x=\"\(number(x))\" y=\"\(number(y))\" text-anchor=\"\(anchor)\">\(text)</text>"
  }

  private var grid: [String] {
    (Int(decades.lowerBound)...Int(decades.upperBound)).flatMap { decade in
      let value = pow(10, Double(decade))
      let right = number(Self.width - 2 * Self.margin)
      return [
        "<path d=\"M\(number(Self.margin)) \(number(y(value)))H\(right)\" stroke=\"#ddd\"/>",
        label(Self.name(value), Self.margin - 6, y(value), "end"),
      ]
    }
  }

  private static func name(_ nanoseconds: Double) -> String {
    if nanoseconds >= 1e6 { return "\(Int(nanoseconds / 1e6)) ms" }
    if nanoseconds >= 1e3 { return "\(Int(nanoseconds / 1e3)) µs" }
    return nanoseconds >= 1 ? "\(Int(nanoseconds)) ns" : "0.1 ns"
  }

  /// The image.
  var text: String {
    var parts = [
      "<svg xmlns=\"http://www.w3.org/2000/svg\" font-family=\"sans-serif\" font-size=\"12\" "
        + "viewBox=\"0 0 \(Int(Self.width)) \(Int(Self.height))\">",
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>",
    ]
    parts += grid
    for size in measured {
      let rows = size.rows % 1_000_000 == 0 ? "\(size.rows / 1_000_000) M" : "\(size.rows)"
      parts.append(label("\(rows) rows", x(size.rows), Self.height - Self.margin + 20, "middle"))
    }
    for (index, cost) in (measured.first?.costs ?? []).enumerated() {
      let points = measured.map { "\(number(x($0.rows))),\(number(y($0[cost.name])))" }
      let colour = Self.colours[index % Self.colours.count]
      parts.append(
        "<polyline points=\"\(points.joined(separator: " "))\" fill=\"none\" stroke=\"\(colour)\" "
          + "stroke-width=\"2\"/>")
      if let last = measured.last {
        parts.append(
          "<g fill=\"\(colour)\">"
            + label(cost.name, x(last.rows) + 8, y(last[cost.name]) + 4, "start") + "</g>")
      }
    }
    return (parts + ["</svg>"]).joined(separator: "\n") + "\n"
  }
}
