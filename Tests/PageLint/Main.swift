// Main.swift: `page-lint`, part of `make lint`: checks the style sheet and the script of the HTML
// report in this folder's checkout. Exit status: 0 nothing wrong, 1 something, 2 no such files.

import Foundation

@main
private enum Main {
  static func main() {
    do {
      let faults = try PageLint(root: URL(filePath: ".")).faults
      for fault in faults { print(fault) }
      exit(faults.isEmpty ? 0 : 1)
    } catch {
      print(error)
      exit(2)
    }
  }
}
