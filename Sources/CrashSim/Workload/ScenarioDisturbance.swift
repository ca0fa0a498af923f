// ScenarioDisturbance.swift: what is to go wrong around a workload: power cuts, kills and faults,
// and the planted bug that a negative scenario must be caught with.

import CrashStates
import Engine
import Exploration
import FaultFS
import Findings
import LabCore

/// Power cuts to explore.
package struct CrashDeclaration: Sendable, Hashable {
  /// Persistence models as `PersistenceModel.chosen` takes them; none where there are systems.
  package var models: [String]
  /// File systems of the kernel on which the same is explored.
  package var systems: [KernelFileSystem] = []
  /// Which crash states to visit.
  package var explore: ExploreRule
  /// Most states to visit per model; no bound when nil.
  package var budgetStates: Int?
  /// In how many recoveries, one after another, power fails again: during the recovery or the first
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

  /// More is refused: each level multiplies the states.
  package static let recoveryDepthMax = RecoveryPath.depthMax
}

/// Mapped pages that are written back while the workload runs.
package struct WriteBackDeclaration: Sendable, Hashable {
  /// Mean number of operations between two moments.
  package var rate = PageWriteBack.defaultRate
  /// The number from which the moments follow; the run's seed when nil.
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

/// A process to kill, in one run for each place.
package struct KillDeclaration: Sendable, Hashable {
  /// The process.
  package var process: String
  /// At which of its file operations.
  package var place: KillPlace
  /// Before the operation takes effect, after it, or each in turn.
  package var side: KillSide
  /// Whether it ends there, or only stands still for a while.
  package var manner = KillManner.kill
  /// Crash states of each of these runs that are visited under each model; nil for none.
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

/// What becomes of a process at a place.
package enum KillManner: String, Sendable, Hashable, CaseIterable {
  /// It ends.
  case kill
  /// It stands still until somebody has to wait for it, or it is told its next command.
  case stop
}

/// Where a process is killed: at its file operations, between its commands, within its commits.
package enum KillPlace: Sendable, Hashable {
  case everyOperation
  case everySync
  case everyWrite
  /// Where a file is cut or gets another size.
  case everyTruncate
  /// Between the commands it is told.
  case everyCommand
  /// Before each named step of its commits.
  case everyCommitStep
  /// Only at this one, counted from 1.
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
  /// Where it stands in the file.
  package var position: SourcePosition
  /// The operations it is about.
  package var on: FaultOperation
  /// Only files whose name fits this glob.
  package var fileGlob: String?
  /// Only operations that touch these bytes.
  package var bytes: ByteSpan?
  /// Which of the matching operations are hit.
  package var which: FaultCount
  /// What happens to them.
  package var effect: FaultEffect
  /// Further operations it is about.
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
  /// Process that must have asked.
  package var process: Int32?
  /// Glob over the name of the asking process.
  package var command: String?
  /// Glob over the name of the asking thread; an actor's thread has the actor's name.
  package var actor: String?
  /// Hits with this chance only.
  package var chance: FaultRule.Chance?
  /// Hits so many times at most.
  package var times: Int?
  /// Counts only behind marks that begin so.
  package var scope: FaultRule.MarkScope?
  /// Phase that the asking process must be in, as it announced it.
  package var phase: String?
  /// Counts write-back by the kernel too.
  package var includesWriteBack = false
  /// What chances, bits and parts are drawn from.
  package var seed: UInt64 = 1
  /// Errors need not be ones that the call may return.
  package var allowsAnyErrno = false
  /// An error is told once per open file.
  package var isOncePerOpenFile = false

  /// Makes no conditions.
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
  /// All that the effect can hit.
  case any
}

/// Which of the matching operations a fault hits.
package enum FaultCount: Sendable, Hashable {
  /// Each.
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

/// What a fault does.
package enum FaultEffect: Sendable, Hashable {
  /// Answers success and does nothing.
  case ignore
  /// Answers with this errno, by name; a sync makes nothing durable.
  case error(String)
  /// Holds a write back until a write to these bytes of the same file has taken effect; syncs of
  /// the file that come between are acknowledged without it.
  case holdBehind(ByteSpan)
  /// One of the effects that need no word of a scenario.
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
