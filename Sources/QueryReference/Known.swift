// Known.swift: values that the reference knows to exist, because the binder accepted the query and
// the generator made the rows.

extension Optional {
  /// The value, which always exists: callers name only tables and columns of the kennel.
  var known: Wrapped {
    guard let value = self else { preconditionFailure("the reference has no such thing") }
    return value
  }
}
