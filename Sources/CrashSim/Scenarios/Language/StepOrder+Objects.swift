// StepOrder+Objects.swift: which steps go with the lab's classes, and which with tables only.

import Workload

extension StepOrder {
  /// Reports what has no meaning for the kind of scenario.
  func checkObjects(_ step: ScenarioStep) {
    let hasObjects = scenario.database.objects != nil
    switch step.action {
    case .refresh, .invalidate:
      guard !hasObjects else { return }
      reader.report(
        step.position, "only a realm can be refreshed or invalidated",
        "write 'schema: \(ObjectClasses.word)', or remove the step")
    case .compact, .fork:
      guard hasObjects else { return }
      reader.report(
        step.position, "a realm is compacted when it is opened, and cannot be used after a fork",
        "open it with 'compactOnLaunch: true', or use a schema of tables")
    case .write(let write):
      guard hasObjects, write.copy != nil else { return }
      reader.report(
        step.position, "a realm is copied outside of write transactions only",
        "put the copy into a step of its own")
    default: break
    }
  }
}
