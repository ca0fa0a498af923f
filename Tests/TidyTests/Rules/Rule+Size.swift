// Rule+Size.swift: how long a file, a line and a function may be, and how a file opens.

extension Rule {
  static let columnsMax = 100
  static let functionLinesMax = 70
  static let fileLinesMax = 500
  static let testFileLinesMax = 800

  static let header = Rule("header") {
    [
      Planted("import Testing\n\nlet a = 1\n"),
      Planted("// Other.swift: the name of another file.\n\nlet a = 1\n"),
      Planted("// Planted.swift\n\nlet a = 1\n"),
    ]
  } innocent: {
    [
      Planted("// Planted.swift: what it holds.\n\nlet a = 1\n"),
      Planted("// Planted.swift [U]: what it holds.\n\nlet a = 1\n"),
    ]
  } check: { file in
    let first = file.lines.first ?? ""
    let openings = ["// \(file.name): ", "// \(file.name) [U]: "]
    guard !openings.contains(where: { first.hasPrefix($0) && first.count > $0.count + 9 }) else {
      return []
    }
    return [
      Violation(
        path: file.path, line: 1,
        message: "a file opens with `// \(file.name): what it holds and its invariants`")
    ]
  }

  static let fileLength = Rule("file length") {
    [
      Planted(String(repeating: "let a = 1\n", count: fileLinesMax + 1)),
      Planted(
        String(repeating: "let a = 1\n", count: testFileLinesMax + 1),
        at: "Tests/EngineTests/PlantedTests.swift"),
    ]
  } innocent: {
    [
      Planted(
        String(repeating: "let a = 1\n", count: testFileLinesMax),
        at: "Tests/EngineTests/PlantedTests.swift")
    ]
  } check: { file in
    let most = file.isIn(["Tests"]) ? testFileLinesMax : fileLinesMax
    guard file.lines.count > most else { return [] }
    return [
      Violation(
        path: file.path, line: most + 1,
        message: "\(file.lines.count) lines > \(most); one concept per file")
    ]
  }

  static let lineLength = Rule("line length") {
    [Planted("let a = " + String(repeating: "1", count: columnsMax) + "\n")]
  } check: { file in
    file.lines.enumerated().filter { $1.count > columnsMax }.map { index, line in
      Violation(
        path: file.path, line: index + 1, message: "\(line.count) columns > \(columnsMax)")
    }
  }

  static let functionLength = Rule("function length") {
    let body = String(repeating: "  step()\n", count: functionLinesMax)
    return [
      Planted("func long() {\n\(body)}\n"),
      Planted("struct S {\n  init(a: Int = { 1 }()) throws {\n\(body)  }\n}\n"),
      Planted("func outer(\n  _ a: Int\n) -> String where A == B\n{\n\(body)}\n"),
      Planted("let closing = \"}\"\nfunc long() {\n  // }\n  print(\"\\(\"}\")\")\n\(body)}\n"),
    ]
  } innocent: {
    let body = String(repeating: "  func step()\n", count: functionLinesMax)
    return [
      Planted("protocol P {\n\(body)}\n"),
      Planted("func a() {\n  S.init()\n}\nstruct S {\n\(body)}\n"),
    ]
  } check: { file in
    FunctionFinder(file).functions().filter { $0.lineCount > functionLinesMax }.map {
      Violation(
        path: file.path, line: $0.firstLine,
        message: "function of \($0.lineCount) lines > \(functionLinesMax)")
    }
  }
}
