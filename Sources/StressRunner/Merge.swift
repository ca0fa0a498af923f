// Merge.swift: `faultline merge`: joins the reports of all shards of a run into one.

import ArgumentParser
import Findings
import Foundation
import Reports

struct Merge: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Join the reports of all shards of a run into one verdict.",
    discussion: """
      Each shard of 'faultline run' or 'faultline explore' writes its report with --json. The \
      joined report is the one that a single run would have written, apart from the seconds. \
      Verdict and exit code follow the same rules (docs/how-to/fleet.md). A shard that is missing \
      or occurs twice is an error that names it.

      Examples:
        faultline explore --shard 1/2 --json 1.json …
        faultline explore --shard 2/2 --json 2.json …
        faultline merge 1.json 2.json --junit report.xml
        faultline merge reports/ --json whole.json --html whole.html
      """)

  @Argument(help: "Reports of shards, or folders of .json files.") var paths: [String]
  @Flag(help: "Print which steps of commits were hit by kills, power failures, EIO and ENOSPC.")
  var coverage = false
  @OptionGroup var reports: ReportArguments

  func run() throws {
    let console = Console()
    try reports.refuseUnwritable()
    let parts = try ShardReport.load(paths)
    let report = try ReportMerge(parts).merged()
    console.say("faultline merge  seed=\(report.seed)  shards=\(parts.count)")
    for item in report.cases {
      console.say(console.bold("\(item.name)") + "  \(item.title)")
      console.show(item)
    }
    if coverage { for line in CommitCoverageMatrix(report).lines { console.say(line) } }
    try reports.finish(report, console: console)
  }
}
