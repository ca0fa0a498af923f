// ExplorationReport+Joined.swift: joins the explorations of several recordings of one scenario
// under one model into one.

extension ExplorationReport {
  /// The counts of two explorations under one model, as one.
  package func joined(with other: ExplorationReport) -> ExplorationReport {
    var sum = self
    sum.operationCount += other.operationCount
    sum.markCount += other.markCount
    sum.crashPointCount += other.crashPointCount
    sum.candidateCount += other.candidateCount
    sum.distinctCount += other.distinctCount
    sum.exploredCount += other.exploredCount
    let bounds = (Int(bound), Int(other.bound))
    if case (let one?, let another?) = bounds {
      sum.bound = "\(one + another)"
    } else {
      sum.bound = "an uncounted number"
    }
    sum.shape = "\(shape ?? "")+\(other.shape ?? "")"
    sum.isInterrupted = isInterrupted || other.isInterrupted
    sum.isOutOfTime = isOutOfTime ?? other.isOutOfTime
    sum.recoveryCount = recoveryCount.map { $0 + (other.recoveryCount ?? 0) }
    sum.seconds += other.seconds
    sum.remarks = JudgingRemark.joined([remarks, other.remarks])
    sum.findings += other.findings
    return sum
  }
}
