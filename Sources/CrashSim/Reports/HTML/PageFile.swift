// PageFile.swift: the page's style sheet and script, which are files of their own, report.css and
// report.js, and lie in the program as bytes: a page needs nothing beside it.
// Invariant: a file ends with a line end, and holds neither `]]>` nor `</`, which would end the
// section of the page that it stands in; `page-lint` checks both (make lint).

/// A file of ours that stands in the page as it is.
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
