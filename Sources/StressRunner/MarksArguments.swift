// MarksArguments.swift: what counts as an acknowledgement: `explore`, `certify` and `stress`.

import ArgumentParser
import Recording

/// What of a workload's output is one acknowledgement.
struct MarksArguments: ParsableArguments {
  @Option(
    help: """
      What counts as one acknowledgement: lines of a process, or writes, each write to standard \
      output as it comes.
      """)
  var marks: MarkUnit = .lines
}

extension MarkUnit: ExpressibleByArgument {}
