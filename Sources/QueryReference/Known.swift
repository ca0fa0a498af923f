// Known.swift: what the reference knows to be there, because the binder took the query and the
// generator made the rows.

extension Optional {
  /// The value, which is there: a caller who asks for a table or a column names one of the kennel.
  var known: Wrapped {
    guard let value = self else { preconditionFailure("the reference has no such thing") }
    return value
  }
}
