// InitTests.swift: `faultline init`: what it recognizes, that it overwrites nothing, and that what
// it wrote runs.

import Foundation
import TestSupport
import Testing

@Suite("faultline init")
struct InitTests {
  private static let files = ["workload.sh", "check.sh", "run.sh"].map { "crash-test/\($0)" }

  @Test(
    "the build file tells the kind of project",
    arguments: [
      ("Cargo.toml", "[package]\nname = \"notes\"\n", "cargo build", "release/notes\""),
      ("go.mod", "module example.org/a/notes\n", "go build -o build/notes", "build/notes\""),
      ("package.json", "{\"main\": \"lib/a.js\"}", "npm ci", "node \"$project/lib/a.js\""),
      ("pyproject.toml", "[project]\nname = 'my-notes'\n", "pip install .", "python3 -m my_notes"),
      ("Package.swift", ".executableTarget(\n  name: \"notes\")", "swift build", "release/notes\""),
      ("pom.xml", "<project/>", "mvn --batch-mode", "$project/target/classes\" your.Program"),
      ("build.gradle.kts", "plugins {}", "&& gradle build", "$project/build/classes/java/main\""),
      ("requirements.txt", "", "exec faultline", "python3 \"$project/your-program.py\""),
      ("CMakeLists.txt", "ADD_EXECUTABLE( notes a.c)", "cmake --build", "$project/build/notes\""),
      ("Makefile", "all:\n", "&& make)", "$project/your-program"),
      ("Cargo.toml", "name = \"a$(reboot)\"", "cargo build", "release/your-program\""),
    ])
  func kinds(marker: String, text: String, build: String, program: String) throws {
    let command = try FaultlineCommand()
    _ = try command.write(text, to: marker)
    let result = try command.run(["init", "--ci", "none"])
    #expect(result.status == 0 && result.hasLine("project: \(marker) found"), "\(result.output)")
    #expect(try command.text("crash-test/run.sh").contains(build))
    #expect(try command.text("crash-test/workload.sh").contains(program))
  }

  @Test("what is there stays, also a link to nowhere; a second time nothing is written")
  func keeps() throws {
    let command = try FaultlineCommand()
    let folder = command.directory.file("crash-test")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    _ = try command.write("mine", to: "crash-test/check.sh")
    try FileManager.default.createSymbolicLink(
      atPath: "\(folder)/run.sh", withDestinationPath: command.directory.file("elsewhere"))
    let result = try command.run(["init"])
    #expect(result.status == 0, "\(result.output)")
    #expect(result.hasLine("wrote crash-test/workload.sh"), "\(result.output)")
    #expect(result.hasLine("kept  crash-test/check.sh"), "\(result.output)")
    #expect(result.hasLine("kept  crash-test/run.sh"), "\(result.output)")
    #expect(try command.text("crash-test/check.sh") == "mine")
    #expect(!FileManager.default.fileExists(atPath: command.directory.file("elsewhere")))
    let again = try command.run(["init"])
    #expect(again.status == 0 && !again.output.contains("wrote"), "\(again.output)")
    #expect(try command.run(["init", "no/such/place"]).status == 2)
  }

  @Test("what it wrote runs by the command that it says, and holds", .requires(.fuse))
  func runs() throws {
    let command = try FaultlineCommand()
    let name = "-it's `a` $project; #*\"\\"
    let project = command.directory.file(name)
    try FileManager.default.createDirectory(atPath: project, withIntermediateDirectories: false)
    let made = try command.run(["init", "--ci", "none", "--", name])
    #expect(made.status == 0, "\(made.output)")
    let line = try #require(made.lines.first { $0.hasPrefix("next: 1. sh ") })
    let script = try #require(line.dropFirst(9).components(separatedBy: "   (").first)
    func explore() throws -> ProgramResult {
      try runShell(
        "PATH='\(FaultlineCommand.folder.path)':$PATH \(script) --budget 100",
        in: command.directory.path)
    }
    let held = try explore()
    #expect(held.status == 0, "\(held.output)")
    #expect(held.output.contains("verdict: held"), "\(held.output)")
    let edit = "sed -i '/^  sync \\./d' crash-test/workload.sh"
    #expect(try runShell(edit, in: project).status == 0, "without its sync it is found")
    let broken = try explore()
    #expect(broken.status == 1, "\(broken.output)")
    #expect(broken.output.contains("saved, but"), "\(broken.output)")
  }
}
