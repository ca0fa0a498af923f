// StepOrder+Objects.swift: checks which steps are allowed with Faultline's classes or with tables.

import Workload

extension StepOrder {
  /// Reports steps that do not apply to the kind of scenario.
  func checkObjects(_ step: ScenarioStep) {
    let hasObjects = scenario.database.objects != nil
    switch step.action {
    case .command(let action):
      guard let misfit = action.misfit(hasObjects: hasObjects) else { return }
      reader.report(step.position, misfit.message, misfit.remedy)
    case .write(let write):
      if hasObjects, write.copy != nil {
        reader.report(
          step.position, "a realm is copied outside of write transactions only",
          "put the copy into a step of its own")
      }
      if !hasObjects, write.isAsync {
        reader.report(
          step.position, "only a realm writes asynchronously",
          "write 'schema: \(ObjectClasses.word)', or remove 'async'")
      }
    default: break
    }
  }
}
