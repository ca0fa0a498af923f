// ScenarioDisturbance.swift: the disturbances around a workload: power cuts, kills and faults, and
// the planted bug that a negative scenario must detect.

import CrashStates
import Engine
import Exploration
import FaultFS
import Findings
import LabCore

/// Power cuts to explore.
package struct CrashDeclaration: Sendable, Hashable {
  /// Persistence models as accepted by `PersistenceModel.chosen`; empty if there are systems.
  package var models: [String]
  /// File systems of the kernel on which the same is explored.
  package var systems: [KernelFileSystem] = []
  /// Which crash states to visit.
  package var explore: ExploreRule
  /// Most states to visit per model; no bound when nil.
  package var budgetStates: Int?
  /// Number of consecutive recoveries in which power fails again: during the recovery or the first
  /// commit after it.
  package var recoveryDepth: Int

  package init(
    models: [String],
    systems: [KernelFileSystem] = [],
    explore: ExploreRule,
    budgetStates: Int? = nil,
    recoveryDepth: Int
  ) {
    self.models = models
    self.systems = systems
    self.explore = explore
    self.budgetStates = budgetStates
    self.recoveryDepth = recoveryDepth
  }

  /// More is rejected: each level multiplies the states.
  package static let recoveryDepthMax = RecoveryPath.depthMax
}

/// Write-back of mapped pages while the workload runs.
package struct WriteBackDeclaration: Sendable, Hashable {
  /// Mean number of operations between two moments.
  package var rate = PageWriteBack.defaultRate
  /// Seed of the moments; the run's seed when nil.
  package var seed: UInt64?

  package init(rate: Int = PageWriteBack.defaultRate, seed: UInt64? = nil) {
    self.rate = rate
    self.seed = seed
  }

  /// The moments of a run with this seed.
  package func rule(_ seed: UInt64) -> PageWriteBack {
    PageWriteBack(seed: self.seed ?? seed, rate: rate)
  }
}

/// Which crash states to visit.
package enum ExploreRule: String, Sendable, Hashable, CaseIterable {
  /// Every state that the model allows, up to the budget.
  case all
  /// Only the states in which a prefix of the operations survived.
  case prefixes
}

/// A process to kill, in a separate run for each place.
package struct KillDeclaration: Sendable, Hashable {
  /// The process.
  package var process: String
  /// The file operations at which it is killed.
  package var place: KillPlace
  /// Before the operation takes effect, after it, or each in turn.
  package var side: KillSide
  /// Whether it ends there, or is only stopped for a while.
  package var manner = KillManner.kill
  /// Number of crash states that are visited of each of these runs under each model; nil for none.
  package var crashStates: Int?

  package init(
    process: String,
    place: KillPlace,
    side: KillSide,
    manner: KillManner = KillManner.kill,
    crashStates: Int? = nil
  ) {
    self.process = process
    self.place = place
    self.side = side
    self.manner = manner
    self.crashStates = crashStates
  }
}

/// What happens to a process at a place.
package enum KillManner: String, Sendable, Hashable, CaseIterable {
  /// It ends.
  case kill
  /// It is stopped until another process has to wait for it, or until its next command.
  case stop
}

/// Where a process is killed: at its file operations, between its commands, within its commits.
package enum KillPlace: Sendable, Hashable {
  case everyOperation
  case everySync
  case everyWrite
  /// Where a file is cut or changes its size.
  case everyTruncate
  /// Between its commands.
  case everyCommand
  /// Before each named step of its commits.
  case everyCommitStep
  /// Only at this operation, counted from 1.
  case operation(Int)
}

/// On which side of an operation a process is killed.
package enum KillSide: String, Sendable, Hashable, CaseIterable {
  case before
  case after
  case both
}

/// A fault of the file system: when, and what.
package struct FaultDeclaration: Sendable, Hashable {
  /// Its position in the file.
  package var position: SourcePosition
  /// The operations it applies to.
  package var on: FaultOperation
  /// Only files whose name fits this glob.
  package var fileGlob: String?
  /// Only operations that touch these bytes.
  package var bytes: ByteSpan?
  /// Which of the matching operations are hit.
  package var which: FaultCount
  /// The effect on them.
  package var effect: FaultEffect
  /// Further operations it applies to.
  package var alsoOn: [FaultOperation] = []
  /// Further conditions.
  package var conditions = FaultConditions()

  package init(
    position: SourcePosition,
    on: FaultOperation,
    fileGlob: String? = nil,
    bytes: ByteSpan? = nil,
    which: FaultCount,
    effect: FaultEffect,
    alsoOn: [FaultOperation] = [],
    conditions: FaultConditions = FaultConditions()
  ) {
    self.position = position
    self.on = on
    self.fileGlob = fileGlob
    self.bytes = bytes
    self.which = which
    self.effect = effect
    self.alsoOn = alsoOn
    self.conditions = conditions
  }
}

/// Conditions of a fault beyond its operations, place and count.
package struct FaultConditions: Sendable, Hashable {
  /// The calling process.
  package var process: Int32?
  /// Glob over the name of the calling process.
  package var command: String?
  /// Glob over the name of the calling thread; an actor's thread has the actor's name.
  package var actor: String?
  /// Hits only with this probability.
  package var chance: FaultRule.Chance?
  /// Hits at most this many times.
  package var times: Int?
  /// Counts only after marks with this start.
  package var scope: FaultRule.MarkScope?
  /// Phase, as announced, that the calling process must be in.
  package var phase: String?
  /// Also counts write-back by the kernel.
  package var includesWriteBack = false
  /// Seed of probabilities, bits and parts.
  package var seed: UInt64 = 1
  /// Allows errors that the call does not return according to its manual page.
  package var allowsAnyErrno = false
  /// An error is returned once per open file.
  package var isOncePerOpenFile = false

  /// No conditions.
  package init() {}
}

/// Kinds of operation a fault can hit.
package enum FaultOperation: String, Sendable, Hashable, CaseIterable {
  case fsync
  case fdatasync
  /// Any of fsync, fdatasync and msync.
  case sync
  case syncDirectory
  case write
  case allocate
  case truncate
  case create
  case open
  case read
  case link
  case remove
  case rename
  case setOwnership
  case setExtendedAttribute
  case close
  case lookUp
  case getAttributes
  case setTimes
  case readLink
  case readDirectory
  case getExtendedAttribute
  case status
  /// The same, as the system call is named.
  case statfs
  case seek
  /// All kinds that the effect can hit.
  case any
}

/// Which of the matching operations a fault hits.
package enum FaultCount: Sendable, Hashable {
  /// All of them.
  case each
  /// Those with number `offset`, `offset + k`, … counted from 0 since the recording began.
  case every(Int, offset: Int)
  /// Only this one, counted from 1 since the recording began.
  case nth(Int)
  /// This one after each `begin` mark, counted from 1.
  case ofCommit(Int)
  /// This one, counted from 1, after the `begin` mark of this transaction.
  case ofCommitNumber(Int, transaction: Int)
  /// Each, from the `begin` mark of this transaction to the next one.
  case eachOfTransaction(Int)
}

/// The effect of a fault.
package enum FaultEffect: Sendable, Hashable {
  /// Reports success and does nothing.
  case ignore
  /// Returns this errno, by name; a sync makes nothing durable.
  case error(String)
  /// Holds a write until a write to these bytes of the same file has taken effect; earlier syncs of
  /// the file are acknowledged without it.
  case holdBehind(ByteSpan)
  /// An effect without a word of its own in scenarios.
  case other(FaultRule.Effect)
}

/// A run of bytes in a file; open at the end when `last` is nil.
package struct ByteSpan: Sendable, Hashable {
  /// First byte.
  package var first: UInt64
  /// Last byte, or nil for the file's end.
  package var last: UInt64?

  package init(first: UInt64, last: UInt64? = nil) {
    self.first = first
    self.last = last
  }
}

/// A planted bug: the run passes only when one of these oracles finds it.
package struct NegativeDeclaration: Sendable, Hashable {
  /// The oracles that may find it, at least one.
  package var oracles: [OracleName]
  /// The bug in words.
  package var because: String

  package init(oracles: [OracleName], because: String) {
    self.oracles = oracles
    self.because = because
  }
}
