// PageFile.swift: the page's style sheet and script, which are separate files, report.css and
// report.js, embedded in the program as bytes, so that a page needs no other file.
// Invariant: a file ends with a line end, and contains neither `]]>` nor `</`, which would end its
// section of the page; `page-lint` checks both (make lint).

/// A built-in file that is written to the page unescaped.
enum PageFile: CaseIterable {
  case style
  case script

  /// The file's text.
  var text: String {
    let bytes =
      switch self {
      case .style: PackageResources.report_css
      case .script: PackageResources.report_js
      }
    return String(decoding: bytes, as: UTF8.self)
  }
}
