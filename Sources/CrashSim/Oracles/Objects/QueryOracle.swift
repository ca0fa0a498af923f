// QueryOracle.swift: a query over an index finds what a look at each object finds.

import Findings

package enum QueryOracle {
  /// What a query found for the dogs of one age.
  package struct Found: Sendable, Hashable {
    var age: Int
    var dogs: [Int]

    package init(age: Int, dogs: [Int]) {
      self.age = age
      self.dogs = dogs
    }
  }

  package static func judge(_ found: [Found], _ seen: ObjectSight) -> Violation? {
    for query in found {
      let scanned = seen.dogs.filter { $0.value.age == query.age }.keys.sorted()
      guard query.dogs.sorted() == scanned else {
        return Violation(
          .objects, promised: "the query 'age == \(query.age)' finds the dogs \(scanned)",
          got: "over the index it finds \(query.dogs.sorted())")
      }
    }
    return nil
  }
}
