// LoopCheckerTests.swift: a checker that stays: its words, its bad ends, what it leaks and what it
// leaves in the directory. The checkers are shell loops, which start beside the state's directory.

import Findings
import Foundation
import TestSupport
import Testing

@testable import Exploration
@testable import LabCore
@testable import Recording

@Suite("checkers that stay")
struct LoopCheckerTests {
  private let folder: TemporaryDirectory

  init() throws { folder = try TemporaryDirectory() }

  private func checker(_ loop: String, timeoutSeconds: Int = 20) throws -> LoopChecker {
    try LoopChecker(
      command: "echo start >> starts; \(loop)", slot: folder.path, timeoutSeconds: timeoutSeconds)
  }

  /// One loop whose body decides about the file `image/f`.
  private func loop(_ body: String) -> String { "while read -r line; do \(body); done" }

  /// A state with one file.
  private func state(_ text: String, _ more: [String: String] = [:]) -> TreeImage {
    var tree = TreeImage()
    let files = more.merging(["f": text]) { $1 }.sorted { $0.key < $1.key }
    for (place, (name, text)) in files.enumerated() {
      let number = InodeNumber(rawValue: UInt64(place + 2))
      var file = InodeImage(type: .regular, ownership: Ownership(mode: 0o644))
      file.sizeBytes = UInt64(text.utf8.count)
      file.extents = Extent.pieces(of: Array(text.utf8), at: 0)
      tree.inodes[number] = file
      tree.inodes[.root]?.entries[FileName(name)] = number
    }
    return tree
  }

  private var startCount: Int {
    let text = try? String(contentsOfFile: folder.file("starts"), encoding: .utf8)
    return text?.split(separator: "\n").count ?? 0
  }

  private static let judge = """
    case $(cat image/f) in
      good) echo held ;; known) echo noticed it ;; *) echo complaint >&2; echo broken "f is bad" ;;
    esac
    """

  @Test("held, broken and noticed are what exit statuses are; what goes to standard error is kept")
  func verdicts() throws {
    let checker = try checker(loop(Self.judge))
    for _ in 0..<2 {
      #expect(try checker.check(state("good"), acknowledged: []).ending == .exited(0))
      let broken = try checker.check(state("bad"), acknowledged: [])
      #expect(broken.ending == .exited(1))
      #expect(broken.output == "f is bad\ncomplaint\n")
      #expect(try checker.check(state("known"), acknowledged: []).ending == .exited(77))
    }
  }

  @Test("one process judges what holds, and a fresh one each failing state and each sample")
  func processes() throws {
    let checker = try checker(loop(Self.judge))
    for _ in 0..<5 { _ = try checker.check(state("good"), acknowledged: []) }
    #expect(startCount == 1)
    _ = try checker.check(state("bad"), acknowledged: [])
    #expect(startCount == 2)
    _ = try checker.check(state("good"), acknowledged: [], variables: [:], isSample: true)
    #expect(startCount == 3)
  }

  @Test("a request names the directory, the acknowledgements and the variables")
  func request() throws {
    let checker = try checker(
      loop("printf '%s\\n' \"$line\" > request; cat acknowledged > got; echo held"))
    _ = try checker.check(
      state("good"), acknowledged: Array("1\n".utf8), variables: ["FAULTLINE_DETECTED": "77"])
    let line = try Data(contentsOf: URL(fileURLWithPath: folder.file("request")))
    let request = try #require(try JSONSerialization.jsonObject(with: line) as? [String: Any])
    #expect(request["directory"] as? String == folder.file("image"))
    #expect(request["output"] as? String == folder.file("acknowledged"))
    let environment = request["environment"] as? [String: String]
    #expect(
      environment == [
        "FAULTLINE_DETECTED": "77", "FAULTLINE_DIR": folder.file("image"),
        "FAULTLINE_OUTPUT": folder.file("acknowledged"),
      ])
    #expect(try String(contentsOfFile: folder.file("got"), encoding: .utf8) == "1\n")
  }

  @Test("death, a hang and a wrong line are verdicts of their state; a new process goes on")
  func badEnds() throws {
    let ends: [(String, ProcessEnding, String)] = [
      ("kill -SEGV $$", .signalled(SIGSEGV), "killed by SIGSEGV"),
      ("exit 3", .exited(3), "exit status 3"),
      ("exit 0", .exited(1), "gave no answer"),
      ("sleep 60", .timedOut(seconds: 1), "no answer within 1 s"),
      ("echo fine", .exited(1), "'fine'"),
      ("echo; echo held", .exited(1), "''"),
      ("echo held-ish", .exited(1), "'held-ish'"),
      ("printf 'held\\nheld\\n'", .exited(1), "more than one line"),
      ("head -c 70000 /dev/zero", .exited(1), "no end of its line"),
      ("exec 1>&-; sleep 60", .signalled(SIGKILL), "killed by SIGKILL"),
    ]
    for (end, ending, words) in ends where !end.hasPrefix("exec") {
      let checker = try checker(
        loop("if [ $(cat image/f) = good ]; then echo held; else \(end); fi"), timeoutSeconds: 1)
      #expect(try checker.check(state("good"), acknowledged: []).ending == .exited(0), "\(end)")
      let result = try checker.check(state("bad"), acknowledged: [])
      #expect(result.ending == ending, "\(end)")
      #expect(result.headline.contains(words), "\(end): \(result.headline)")
      #expect(try checker.check(state("good"), acknowledged: []).ending == .exited(0), "\(end)")
    }
  }

  @Test("a checker that fails because of earlier states leaks; so does one that forgives")
  func leaks() throws {
    let tired = try checker(
      "n=0; " + loop("n=$((n + 1)); [ $n -lt 3 ] && echo held || echo broken"))
    for _ in 0..<2 { _ = try tired.check(state("good"), acknowledged: []) }
    var error = #expect(throws: LabError.self) {
      try tired.check(state("good"), acknowledged: [])
    }
    #expect(error?.code == .nondeterminism)
    #expect(error?.message.contains("leaks from one state to the next") == true)
    let cached = try checker("a=; " + loop("[ \"$a\" ] || a=$(\(Self.judge)); echo \"$a\""))
    _ = try cached.check(state("good"), acknowledged: [])
    // No sample, and nothing failed.
    #expect(try cached.check(state("bad"), acknowledged: []).ending == .exited(0))
    error = #expect(throws: LabError.self) {
      try cached.check(state("bad"), acknowledged: [], variables: [:], isSample: true)
    }
    #expect(error?.message.contains("'f is bad'") == true, "\(error?.message ?? "")")
  }

  @Test("samples are dense at first, and never end")
  func samples() {
    #expect((0..<40).filter(LoopChecker.isSample) == [0, 1, 2, 4, 8, 16, 32])
    #expect((1000..<1300).filter(LoopChecker.isSample) == [1024, 1152, 1280])
  }

  @Test("what a checker did to the directory does not reach the next state")
  func restored() throws {
    let changes = [
      "printf X | dd of=image/f conv=notrunc 2>/dev/null; touch -d @0 image/f image",
      "rm image/f", "mkdir -p image/junk/deep", "rm image/f; mkdir image/f", "chmod 0 image/f",
      "ln -f image/f image/g", "mv image/f image/g", "ln -s f image/link", "printf more >> image/f",
      "rm image/*; ln -s /etc/hostname image/f", "chmod 700 image",
    ]
    for change in changes {
      let checker = try checker(
        loop(
          """
          if [ "$(cat image/f image/g)" = goodsame ] && [ "$(ls image)" = "f
          g" ] && [ $(stat -c %a image/f) = 644 ] && [ $(stat -c %h image/f) = 1 ] \
            && [ $(stat -c %a image) = 755 ] && [ ! -L image/f ]
          then \(change); echo held; else ls -l image >&2; echo broken; fi
          """))
      for _ in 0..<3 {
        let result = try checker.check(state("good", ["g": "same"]), acknowledged: [])
        #expect(result.ending == .exited(0), "\(change): \(result.output)")
      }
    }
  }
}
