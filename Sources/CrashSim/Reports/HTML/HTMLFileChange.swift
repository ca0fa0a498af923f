// HTMLFileChange.swift: one file before and after the crash: which ranges survived, and the first
// bytes that differ.

import Findings
import LabCore

/// One file before and after a crash.
struct HTMLFileChange {
  private let file: FileChange

  init(_ file: FileChange) { self.file = file }

  func write(to body: inout Markup) {
    body.element("section", ["class": "file"]) { section in
      section.element("h3") { title in
        title.element("code", text: file.path ?? file.pathAfter ?? "a file without a name")
        title.element("span", ["class": "note"], text: " " + fateOfName)
      }
      if length > 0 && !file.ranges.isEmpty { writeMap(&section) }
      for difference in file.differences { write(difference, to: &section) }
    }
  }

  private var fateOfName: String {
    var parts: [String] = []
    switch (file.path, file.pathAfter) {
    case (let before?, let after?) where before != after: parts.append("✗ still named \(after)")
    case (_?, nil): parts.append("✗ missing after the crash")
    case (nil, _?): parts.append("✗ removed, and back after the crash")
    default: break
    }
    if let size = file.size, let after = file.sizeAfter {
      let sizes = Formatting.counted(Int(clamping: size), "byte")
      parts.append(
        size == after
          ? sizes : "\(sizes), ✗ \(Formatting.grouped(Int(clamping: after))) after the crash")
    }
    return parts.joined(separator: "; ")
  }

  // MARK: Map

  /// Length of the map in bytes.
  private var length: UInt64 {
    let ends = file.ranges.map { $0.offset + min($0.count, UInt64.max - $0.offset) }
    return max(file.size ?? 0, file.sizeAfter ?? 0, ends.max() ?? 0)
  }

  private func writeMap(_ section: inout Markup) {
    section.element("div", ["class": "map"]) { map in
      map.element("span", ["class": "label"], text: "written")
      map.element("div", ["class": "bar"]) { bar in
        Self.mark("durable", place(0, file.size ?? 0), in: &bar)
        for range in file.ranges {
          Self.mark("pending", place(range.offset, range.count), in: &bar)
        }
      }
      map.element("span", ["class": "label"], text: "after")
      map.element("div", ["class": "bar"]) { bar in
        Self.mark("durable", place(0, file.sizeAfter ?? 0), in: &bar)
        for range in file.ranges {
          Self.mark(range.fate.rawValue, place(range.offset, range.count), in: &bar)
        }
      }
    }
    section.element("details", ["class": "ranges"]) { details in
      details.element("summary", text: sentence)
      details.element("ul") { list in
        for range in file.ranges { list.element("li") { write(range, to: &$0) } }
        if file.omittedRangeCount > 0 {
          list.element("li", ["class": "cut"], text: "… and \(file.omittedRangeCount) more")
        }
      }
    }
  }

  private var sentence: String {
    let parts = FileChange.Fate.allCases.compactMap { fate -> String? in
      let count = file.ranges.count { $0.fate == fate }
      return count == 0 ? nil : "\(Formatting.counted(count, "pending range")) \(fate.rawValue)"
    }
    return parts.joined(separator: ", ")
  }

  private func write(_ range: FileChange.Range, to entry: inout Markup) {
    let badge =
      switch range.fate {
      case .kept: "✓ kept"
      case .lost: "✗ lost"
      case .torn: "≈ torn"
      }
    entry.element("span", ["class": "badge \(range.fate.rawValue)"], text: badge)
    entry.text(
      " \(Formatting.counted(Int(clamping: range.count), "byte")) at "
        + Formatting.grouped(Int(clamping: range.offset)))
  }

  private static func mark(_ kind: String, _ place: String, in bar: inout Markup) {
    bar.element("i", ["class": kind, "style": place]) { _ in }
  }

  private func place(_ offset: UInt64, _ count: UInt64) -> String {
    let left = Double(offset) / Double(length) * 100
    let width = Double(count) / Double(length) * 100
    return "left:\(Formatting.fixed(left, 3))%;width:\(Formatting.fixed(width, 3))%"
  }

  // MARK: Bytes

  private func write(_ difference: FileChange.Difference, to section: inout Markup) {
    let issued = Self.bytes(difference.bytesIssued)
    let survived = Self.bytes(difference.bytesSurvived)
    section.element("div", ["class": "scroll", "tabindex": "0"]) { box in
      box.element("table", ["class": "bytes"]) { table in
        for start in stride(from: 0, to: max(issued.count, survived.count), by: 16) {
          let offset = String(difference.differingAt &+ UInt64(start), radix: 16)
          for (name, own, other) in [("written", issued, survived), ("after", survived, issued)] {
            table.element("tr") { row in
              row.element("th", ["scope": "row"], text: name)
              row.element("td", ["class": "offset"], text: "0x" + offset)
              row.element("td") { Self.write(own, beside: other, from: start, to: &$0) }
              row.element("td", ["class": "text"], text: Self.text(own, from: start))
            }
          }
        }
      }
    }
  }

  /// The pairs of digits; other characters are ignored, because a report may come from a file.
  private static func bytes(_ digits: String) -> [UInt8] {
    let characters = Array(digits.utf8.prefix(256))
    return stride(from: 0, to: characters.count - 1, by: 2).compactMap {
      UInt8(String(decoding: characters[$0..<$0 + 2], as: UTF8.self), radix: 16)
    }
  }

  private static func write(
    _ own: [UInt8], beside other: [UInt8], from start: Int, to cell: inout Markup
  ) {
    for index in start..<start + 16 where index < own.count {
      let byte = own[index]
      let digits = (byte < 16 ? "0" : "") + String(byte, radix: 16)
      if index < other.count && other[index] == byte {
        cell.text(digits + " ")
      } else {
        cell.element("b", text: digits)
        cell.text(" ")
      }
    }
    if start >= own.count { cell.text("— the file ends before —") }
  }

  private static func text(_ bytes: [UInt8], from start: Int) -> String {
    String(
      bytes.dropFirst(start).prefix(16).map {
        (0x20..<0x7F).contains($0) ? Character(Unicode.Scalar($0)) : "·"
      })
  }
}
