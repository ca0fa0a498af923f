// QueryTests.swift: built queries and those in SQL++ give the same rows; results, parameters, live
// queries and indexes.

import DocumentDatabase
import Foundation
import Testing

private typealias Expression = DocumentDatabase.Expression

@Suite("a query")
struct QueryTests {
  private static let people = [
    #"{"type": "person", "name": "Ann", "age": 40, "city": "Oslo", "tags": ["red", "blue"]}"#,
    #"{"type": "person", "name": "Bob", "age": 20, "city": "Rome", "tags": ["red"]}"#,
    #"{"type": "person", "name": "cem", "age": 30, "city": "Oslo", "tags": []}"#,
    #"{"type": "city", "name": "Oslo", "land": {"code": "NO"}, "born": "2020-02-03T04:05:06Z"}"#,
    #"{"type": "city", "name": "Rome", "land": {"code": "IT"}}"#,
  ]

  private static func filled() throws -> TestDatabase {
    let test = try TestDatabase()
    try test.fill(people)
    return test
  }

  /// The first column of a query's rows.
  private static func texts(_ query: Query) throws -> [String] {
    try query.execute().map { "\($0.value(at: 0) ?? "missing")" }
  }

  @Test("that is built selects, filters, orders and limits")
  func building() throws {
    let test = try Self.filled()
    let source = DataSource.collection(try test.collection())
    let name = SelectResult.property("name")
    let isPerson = Expression.property("type").equalTo(Expression.string("person"))
    let byAge = Ordering.property("age").descending()
    let query = QueryBuilder.select(name).from(source).where(isPerson).orderBy(byAge)
    #expect(try Self.texts(query) == ["Ann", "cem", "Bob"])
    #expect(try Self.texts(query.limit(Expression.int(1), offset: Expression.int(1))) == ["cem"])
    let cities = QueryBuilder.selectDistinct(SelectResult.property("city")).from(source)
      .where(isPerson).orderBy(Ordering.expression(Expression.property("city")).ascending())
    #expect(try Self.texts(cities) == ["Oslo", "Rome"])
    let groups = QueryBuilder.select(
      SelectResult.property("city"),
      SelectResult.expression(Function.countAll()).as("n"),
      SelectResult.expression(Function.avg(Expression.property("age"))).as("average")
    ).from(source).where(isPerson).groupBy(Expression.property("city"))
      .having(Function.countAll().greaterThan(Expression.int(1)))
    let row = try #require(try groups.execute().next())
    #expect(row.keys == ["city", "n", "average"] && row.count == 3)
    #expect(row.string(forKey: "city") == "Oslo" && row.int(at: 1) == 2 && row.double(at: 2) == 35)
    let meta = QueryBuilder.select(
      SelectResult.expression(Meta.id), SelectResult.expression(Meta.sequence),
      SelectResult.expression(Meta.revisionID), SelectResult.expression(Meta.isDeleted),
      SelectResult.expression(Meta.expiration)
    ).from(source).limit(Expression.int(1))
    let first = try #require(try meta.execute().next())
    #expect(first.keys == ["id", "sequence", "revisionID", "deleted", "expiration"])
    #expect(first.string(forKey: "id") == "1" && first.int(forKey: "sequence") == 1)
    let all = QueryBuilder.select(SelectResult.all()).from(source.as("p")).limit(Expression.int(1))
    #expect(try all.execute().next()?.dictionary(forKey: "p")?.string(forKey: "name") == "Ann")
    #expect(code { _ = try QueryBuilder.select(name).execute() } == CBLError.invalidQuery)
  }

  /// Conditions, and the names that fulfill them.
  private static var conditions: [(String, any ExpressionProtocol, [String])] {
    let (age, name) = (Expression.property("age"), Expression.property("name"))
    let tags = Expression.property("tags")
    let red = ArrayExpression.variable("t").equalTo(Expression.string("red"))
    let nocase = Collation.unicode().ignoreCase(true).ignoreAccents(true).locale("en")
    return [
      ("lessThan", age.lessThan(Expression.int(30)), ["Bob"]),
      ("atMost", age.lessThanOrEqualTo(Expression.int64(30)), ["Bob", "cem"]),
      ("greater", age.greaterThan(Expression.double(30)), ["Ann"]),
      ("atLeast", age.greaterThanOrEqualTo(Expression.float(30)), ["Ann", "cem"]),
      ("notEqual", age.notEqualTo(Expression.value(30)), ["Ann", "Bob"]),
      ("between", age.between(Expression.int(20), and: Expression.int(30)), ["Bob", "cem"]),
      ("in", name.in([Expression.string("Ann"), Expression.string("x")]), ["Ann"]),
      ("like", name.like(Expression.string("_o%")), ["Bob", "Rome"]),
      ("regex", name.regex(Expression.string("^[A-B]")), ["Ann", "Bob"]),
      (
        "valued", age.isValued().and(Expression.property("land").isNotValued()),
        ["Ann", "Bob", "cem"]
      ),
      ("is", Expression.property("nothing").is(Expression.value(nil)), []),
      ("isNot", name.isNot(Expression.string("Ann")).and(age.isValued()), ["Bob", "cem"]),
      (
        "or", age.equalTo(Expression.int(20)).or(name.equalTo(Expression.string("Ann"))),
        ["Ann", "Bob"]
      ),
      ("not", Expression.not(age.lessThan(Expression.int(40))).and(age.isValued()), ["Ann"]),
      ("sum", age.add(Expression.int(1)).equalTo(Expression.int(21)), ["Bob"]),
      (
        "arithmetic",
        age.subtract(Expression.int(10)).multiply(Expression.int(2)).divide(Expression.int(4))
          .modulo(Expression.int(10)).equalTo(Expression.int(5)), ["Ann", "Bob"]
      ),
      ("collate", name.collate(nocase).equalTo(Expression.string("CEM")), ["cem"]),
      (
        "ascii", name.collate(Collation.ascii().ignoreCase(true)).equalTo(Expression.string("BOB")),
        ["Bob"]
      ),
      ("any", ArrayExpression.any("t").in(tags).satisfies(red), ["Ann", "Bob"]),
      (
        "every", ArrayExpression.every("t").in(tags).satisfies(red).and(tags.isValued()),
        ["Bob", "cem"]
      ),
      ("anyAndEvery", ArrayExpression.anyAndEvery("t").in(tags).satisfies(red), ["Bob"]),
      ("contains", ArrayFunction.contains(tags, value: Expression.string("blue")), ["Ann"]),
      ("length", ArrayFunction.length(tags).equalTo(Expression.int(1)), ["Bob"]),
      (
        "functions",
        Function.upper(Function.trim(name)).equalTo(Function.upper(Expression.string("ann"))),
        ["Ann"]
      ),
      ("texts", Function.contains(name, substring: Expression.string("em")), ["cem"]),
      (
        "numbers",
        Function.sqrt(Function.power(base: age, exponent: Expression.int(2)))
          .equalTo(Function.round(age, digits: 1)).and(
            Function.abs(age).greaterThan(Function.pi())),
        ["Ann", "Bob", "cem"]
      ),
      (
        "date",
        Function.stringToMillis(Expression.property("born"))
          .between(Expression.int(1_580_700_000_000), and: Expression.int(1_580_800_000_000)),
        ["Oslo"]
      ),
      ("boolean", Expression.boolean(true).and(age.equalTo(Expression.int(30))), ["cem"]),
      (
        "array", Expression.array(["Ann"]).is(Expression.array(["Ann"])).and(age.isValued()),
        ["Ann", "Bob", "cem"]
      ),
    ]
  }

  @Test("has conditions of all kinds")
  func conditions() throws {
    let test = try Self.filled()
    let source = DataSource.collection(try test.collection())
    let order = Ordering.expression(Meta.id).ascending()
    for (label, condition, names) in Self.conditions {
      let query = QueryBuilder.select(SelectResult.property("name")).from(source)
        .where(condition).orderBy(order)
      let found = try Self.texts(query)
      #expect(found == names, "\(label): \(query)")
    }
  }

  @Test("joins collections")
  func joins() throws {
    let test = try Self.filled()
    let collection = try test.collection()
    let person = DataSource.collection(collection).as("p")
    let city = DataSource.collection(collection).as("c")
    let isPerson = Expression.property("type").from("p").equalTo(Expression.string("person"))
    let isCity = Expression.property("type").from("c").equalTo(Expression.string("city"))
    let lives = Expression.property("city").from("p").equalTo(Expression.property("name").from("c"))
    let land = SelectResult.expression(Expression.property("land.code").from("c"))
    func lands(_ join: any JoinProtocol) throws -> [String] {
      try Self.texts(
        QueryBuilder.select(land).from(person).join(join).where(isPerson)
          .orderBy(Ordering.expression(Meta.id.from("p")).ascending()))
    }
    #expect(try lands(Join.join(city).on(lives.and(isCity))) == ["NO", "IT", "NO"])
    #expect(try lands(Join.innerJoin(city).on(lives.and(isCity))) == ["NO", "IT", "NO"])
    let none = Expression.property("name").from("c").equalTo(Expression.string("none"))
    #expect(try lands(Join.leftJoin(city).on(none)) == ["missing", "missing", "missing"])
    #expect(try lands(Join.leftOuterJoin(city).on(none)).count == 3)
    #expect(try lands(Join.crossJoin(city)).count == 15)
  }

  @Test("in SQL++ gives the same rows, with parameters")
  func text() throws {
    let test = try Self.filled()
    let query = try test.database.createQuery(
      "SELECT META().id, name, age FROM _ WHERE type = $type AND age >= $least ORDER BY age")
    #expect(query.parameters == nil)
    #expect(try query.execute().allResults().isEmpty, "parameters without values are missing")
    let parameters = Parameters().setString("person", forName: "type").setInt(30, forName: "least")
    query.parameters = parameters
    parameters.setInt(99, forName: "least")
    #expect(query.parameters?.value(forName: "least") as? Int == 30, "they were copied")
    let rows: ResultSet = try query.execute()
    let row = try #require(rows.next())
    #expect(row.toJSON() == #"{"age":30,"id":"3","name":"cem"}"#)
    #expect(row["name"].string == "cem" && row[2].int == 30 && row.string(at: 0) == "3")
    #expect(row.toDictionary()["age"] as? Int == 30 && row.toArray().count == 3)
    #expect(rows.allResults().count == 1 && rows.next() == nil)
    #expect(try query.explain().contains("SELECT"))
    let built = QueryBuilder.select(SelectResult.property("name"))
      .from(DataSource.database(test.database))
      .where(Expression.property("age").equalTo(Expression.parameter("age")))
    built.parameters = Parameters(parameters: nil).setDouble(20, forName: "age")
    #expect(try Self.texts(built) == ["Bob"])
    for bad in ["", "SELECT", "SELECT a FROM nowhere", "SELECT nope(a) FROM _"] {
      #expect(code { _ = try test.database.createQuery(bad) } == CBLError.invalidQuery, "\(bad)")
    }
    let missing = "SELECT a FROM _ WHERE MATCH(words, 'x')"
    #expect(code { _ = try test.database.createQuery(missing) } == CBLError.missingIndex)
  }

  @Test("takes parameters of all types")
  func parameters() throws {
    let test = try TestDatabase()
    try test.fill(["{}"])
    let query = try test.database.createQuery("SELECT $p AS p FROM _")
    let date = Date(timeIntervalSince1970: 0)
    let values: [(Parameters, String)] = [
      (Parameters().setValue(nil, forName: "p"), "null"),
      (Parameters().setString("x", forName: "p"), #""x""#),
      (Parameters().setNumber(1.5, forName: "p"), "1.5"),
      (Parameters().setInt64(7, forName: "p"), "7"),
      (Parameters().setFloat(0.5, forName: "p"), "0.5"),
      (Parameters().setBoolean(true, forName: "p"), "1"),
      (Parameters().setDate(date, forName: "p"), #""1970-01-01T00:00:00.000Z""#),
      (Parameters().setArray(MutableArrayObject(data: [1]), forName: "p"), "[1]"),
      (
        Parameters().setDictionary(MutableDictionaryObject(data: ["a": 1]), forName: "p"),
        #"{"a":1}"#
      ),
    ]
    for (parameters, json) in values {
      query.parameters = parameters
      #expect(try query.execute().next()?.toJSON() == "{\"p\":\(json)}")
    }
  }

  @Test("uses indexes of all kinds", arguments: [false, true])
  func indexes(configures: Bool) throws {
    let test = try Self.filled()
    let collection = try test.collection()
    if configures {
      try collection.createIndex(
        withName: "value", config: ValueIndexConfiguration(["age"], where: "type = 'person'"))
      let words = FullTextIndexConfiguration(["name", "city"], ignoreAccents: true, language: "en")
      try collection.createIndex(withName: "words", config: words)
    } else {
      let value = IndexBuilder.valueIndex(
        items: ValueIndexItem.property("age"),
        ValueIndexItem.expression(Function.lower(Expression.property("name"))))
      try collection.createIndex(value, name: "value")
      let words = IndexBuilder.fullTextIndex(
        items: FullTextIndexItem.property("name"), FullTextIndexItem.property("city"))
      try collection.createIndex(words.ignoreAccents(true).language("en"), name: "words")
    }
    try collection.createIndex(
      withName: "items", config: ArrayIndexConfiguration(path: "tags"))
    #expect(try collection.indexes() == ["items", "value", "words"])
    #expect(try collection.index(withName: "value")?.name == "value")
    let byAge = try test.database.createQuery(
      "SELECT name FROM _ WHERE age = 20 AND type = 'person'")
    #expect(try byAge.explain().contains("USING INDEX value"))
    #expect(try Self.texts(byAge) == ["Bob"])
    let unnest = try test.database.createQuery(
      "SELECT p.name FROM _ AS p UNNEST p.tags AS t WHERE t = 'red' ORDER BY p.name")
    #expect(try unnest.explain().contains("USING INDEX items"))
    #expect(try Self.texts(unnest) == ["Ann", "Bob"])
    let index = Expression.fullTextIndex("words")
    let match = QueryBuilder.select(SelectResult.property("name"))
      .from(DataSource.collection(collection))
      .where(FullTextFunction.match(index, query: "oslo NOT ann"))
      .orderBy(
        Ordering.expression(FullTextFunction.rank(index)).descending(), Ordering.property("name"))
    #expect(try Self.texts(match) == ["Oslo", "cem"])
    let byName = QueryBuilder.select(SelectResult.property("name"))
      .from(DataSource.collection(collection))
      .where(FullTextExpression.index("words").match("bo*"))
    #expect(try Self.texts(byName) == ["Bob"])
    try collection.deleteIndex(forName: "value")
    try collection.deleteIndex(forName: "none")
    #expect(try collection.indexes() == ["items", "words"])
    #expect(try !byAge.explain().contains("USING INDEX value"))
    #expect(
      code {
        try collection.createIndex(withName: "bad", config: ValueIndexConfiguration(["a +"]))
      } == CBLError.invalidQuery)
    try test.check()
  }

  @Test("sees the changes of a batch within it")
  func inBatch() throws {
    let test = try Self.filled()
    let count = try test.database.createQuery("SELECT COUNT(*) AS n FROM _")
    try test.database.inBatch {
      try test.collection().purge(id: "1")
      #expect(try count.execute().next()?.int(forKey: "n") == 4)
    }
  }

  @Test("is live: its listener gets new rows, and no equal ones")
  func live() throws {
    let test = try Self.filled()
    let query = try test.database.createQuery("SELECT name FROM _ WHERE age > $age ORDER BY name")
    query.parameters = Parameters().setInt(25, forName: "age")
    let arrivals = Arrivals<[String]>()
    let token = query.addChangeListener(withQueue: arrivals.queue) { change in
      arrivals.add(change.results?.map { $0.string(at: 0) ?? "" } ?? ["\(change.error as Any)"])
    }
    #expect(arrivals.wait(for: 1) == [["Ann", "cem"]])
    try test.collection().save(document: MutableDocument(id: "9", data: ["x": 1]))
    let other = try test.reopened()
    try other.defaultCollection().save(document: MutableDocument(data: ["name": "Dan", "age": 50]))
    #expect(arrivals.wait(for: 2).last == ["Ann", "Dan", "cem"])
    query.parameters = Parameters().setInt(45, forName: "age")
    #expect(arrivals.wait(for: 3).last == ["Dan"])
    query.removeChangeListener(withToken: token)
    try test.collection().save(document: MutableDocument(data: ["name": "Eve", "age": 60]))
    usleep(20_000)
    #expect(arrivals.wait(for: 3).count == 3)
    // A second listener is ended by closing the database.
    _ = query.addChangeListener(withQueue: arrivals.queue) { _ in arrivals.add([]) }
    #expect(arrivals.wait(for: 4).count == 4)
    try other.close()
    try test.database.close()
  }

  @Test("is planned with statistics, once they were collected")
  func statistics() throws {
    var before: [Bool] = []
    for (names, type) in [
      (["own", "same"], Database.MaintenanceType.optimize), (["same", "own"], .fullOptimize),
    ] {
      let test = try TestDatabase()
      let collection = try test.collection()
      try test.database.inBatch {
        for number in 0..<300 {
          try collection.saveDocument(from: ["same": 1, "own": number], id: "\(number)")
        }
      }
      for name in names {
        try collection.createIndex(withName: name, config: ValueIndexConfiguration([name]))
      }
      let query = try test.database.createQuery("SELECT own FROM _ WHERE same = 1 AND own = 7")
      before.append(try query.explain().contains("USING INDEX own"))
      try test.database.performMaintenance(type: type)
      #expect(try query.explain().contains("USING INDEX own"), "\(names)")
      #expect(try query.execute().map { $0.int(at: 0) } == [7])
      try test.check()
    }
    #expect(before != [true, true], "statistics would change no plan")
  }
}
