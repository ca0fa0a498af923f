// ValueTests.swift: the values of documents: what is set is what is read, in memory and after a
// save.

import DocumentDatabase
import Foundation
import Testing

@Suite("the values of a document")
struct ValueTests {
  private static let date = Date(timeIntervalSince1970: 1_700_000_000.125)

  /// A document with a value of each type.
  private static func everything() -> MutableDocument {
    MutableDocument(id: "all")
      .setString("text", forKey: "string").setNumber(7.5, forKey: "number")
      .setInt(-3, forKey: "int").setInt64(Int64.max, forKey: "int64")
      .setFloat(0.1, forKey: "float").setDouble(1e300, forKey: "double")
      .setBoolean(true, forKey: "boolean").setDate(date, forKey: "date")
      .setValue(UInt64.max, forKey: "unsigned").setValue(nil, forKey: "null")
      .setArray(MutableArrayObject(data: [1, "two", [3.5]]), forKey: "array")
      .setDictionary(MutableDictionaryObject(data: ["a": ["b": 1]]), forKey: "dictionary")
  }

  @Test("are read as their types, before a save and after it", arguments: [false, true])
  func getters(saves: Bool) throws {
    let test = try TestDatabase()
    let document = Self.everything()
    if saves { try test.collection().save(document: document) }
    let found: Document = saves ? try #require(try test.collection().document(id: "all")) : document
    #expect(found.string(forKey: "string") == "text")
    #expect(found.number(forKey: "number") == 7.5)
    #expect(found.int(forKey: "int") == -3)
    #expect(found.int64(forKey: "int64") == Int64.max)
    #expect(found.float(forKey: "float") == 0.1)
    #expect(found.double(forKey: "double") == 1e300)
    #expect(found.boolean(forKey: "boolean"))
    #expect(found.date(forKey: "date") == Self.date)
    #expect(found.string(forKey: "date") == "2023-11-14T22:13:20.125Z")
    #expect(found.value(forKey: "unsigned") as? UInt64 == UInt64.max)
    #expect(found.value(forKey: "null") is NSNull)
    #expect(found.value(forKey: "none") == nil)
    #expect(found.array(forKey: "array")?.count == 3)
    #expect(found.dictionary(forKey: "dictionary")?.dictionary(forKey: "a")?.int(forKey: "b") == 1)
    #expect(found.count == 12 && found.keys.sorted() == found.keys && Array(found) == found.keys)
    #expect(found.contains(key: "null") && !found.contains(key: "none"))
  }

  @Test("of other types are 0, false or nil, and numbers are converted")
  func conversions() {
    let document = Self.everything()
    #expect(document.int(forKey: "string") == 0 && document.string(forKey: "int") == nil)
    #expect(document.int(forKey: "number") == 7 && document.int(forKey: "boolean") == 1)
    #expect(document.int(forKey: "double") == Int.max)
    #expect(document.int64(forKey: "unsigned") == Int64.max)
    #expect(document.double(forKey: "none") == 0 && document.float(forKey: "string") == 0)
    #expect(document.boolean(forKey: "int") && !document.boolean(forKey: "null"))
    #expect(!document.boolean(forKey: "string"))
    #expect(document.date(forKey: "string") == nil && document.blob(forKey: "int") == nil)
    #expect(document.array(forKey: "dictionary") == nil)
    #expect(document.dictionary(forKey: "array") == nil)
    #expect(document.number(forKey: "string") == nil && document.number(forKey: "boolean") == 1)
  }

  @Test("in arrays are read by index, and nothing is outside")
  func arrays() throws {
    let data: [Any] = [
      "a", 1, 2.5, true, Self.date, NSNull(), [1], ["k": "v"],
      Blob(contentType: "text/plain", data: Data([1])),
    ]
    let array: ArrayObject = MutableArrayObject(data: data)
    #expect(array.string(at: 0) == "a" && array.int(at: 1) == 1 && array.double(at: 2) == 2.5)
    #expect(array.int64(at: 1) == 1 && array.float(at: 2) == 2.5 && array.number(at: 1) == 1)
    #expect(array.boolean(at: 3) && array.date(at: 4) == Self.date && array.value(at: 5) is NSNull)
    #expect(array.array(at: 6)?.int(at: 0) == 1)
    #expect(array.dictionary(at: 7)?.string(forKey: "k") == "v")
    #expect(array.blob(at: 8)?.length == 1)
    #expect(array.value(at: 9) == nil && array.value(at: -1) == nil && array.int(at: 9) == 0)
    #expect(array[7]["k"].string == "v" && array[6][0].int == 1 && !array[9][0]["x"].exists)
    #expect(Array(array).count == 9 && array.toArray().count == 9)
    #expect(array.toMutable() == array)
  }

  @Test("in arrays are set, added, inserted and removed")
  func mutableArrays() {
    let array = MutableArrayObject()
    array.addString("b").insertString("a", at: 0).addInt(3).addBoolean(true).addDouble(0.5)
    array.addDate(Self.date).addArray(MutableArrayObject(data: [1])).addValue(nil)
    array.addDictionary(MutableDictionaryObject(data: ["x": 1])).addInt64(4).addFloat(2)
    array.addNumber(9).setInt(5, at: 2).removeValue(at: 3)
    array.addBlob(Blob(contentType: "text/plain", data: Data()))
    let json = array.toJSON()
    #expect(json.hasPrefix(#"["a","b",5,0.5,"2023-11-14T22:13:20.125Z",[1],null,{"x":1},4,2"#))
    array[0].string = "c"
    array[7]["x"].int = 2
    array.array(at: 5)?.addInt(2)
    #expect(array.string(at: 0) == "c" && array.dictionary(at: 7)?.int(forKey: "x") == 2)
    #expect(array.array(at: 5)?.count == 2)
    array.setData([1]).setValue("x", at: 0)
    #expect(array.toJSON() == #"["x"]"#)
  }

  @Test("within a mutable document are part of it", arguments: [false, true])
  func nesting(saves: Bool) throws {
    let test = try TestDatabase()
    var document = Self.everything()
    if saves {
      try test.collection().save(document: document)
      document = try #require(try test.collection().document(id: "all")).toMutable()
    }
    document.dictionary(forKey: "dictionary")?.setString("x", forKey: "new")
    document.array(forKey: "array")?.addInt(4)
    document["dictionary"]["a"]["b"].int = 2
    document["array"][2][0].string = "deep"
    document["fresh"].value = ["k": 1]
    document["nowhere"]["x"].int = 1
    try test.collection().save(document: document)
    let found = try #require(try test.collection().document(id: "all"))
    #expect(found["dictionary"]["new"].string == "x" && found["dictionary"]["a"]["b"].int == 2)
    #expect(found["array"][3].int == 4 && found["array"][2][0].string == "deep")
    #expect(found["fresh"]["k"].int == 1 && !found["nowhere"].exists)
    // A copy is not part of it.
    let copy = document.toMutable()
    copy.dictionary(forKey: "dictionary")?.setString("y", forKey: "new")
    #expect(document["dictionary"]["new"].string == "x")
    #expect(copy != document)
    try test.check()
  }

  @Test("have fragments for each type")
  func fragments() {
    let document = Self.everything()
    #expect(document["string"].string == "text" && document["number"].number == 7.5)
    #expect(document["int64"].int64 == Int64.max && document["float"].float == 0.1)
    #expect(document["double"].double == 1e300 && document["boolean"].boolean)
    #expect(document["date"].date == Self.date && document["array"].array?.count == 3)
    #expect(document["dictionary"].dictionary?.count == 1 && document["blob"].blob == nil)
    #expect(document["int"].value as? Int == -3)
    let read: Fragment = (document as Document)["string"]
    let written: MutableFragment = document["string"]
    #expect(read.exists && read.string == written.string)
    document["string"].date = Self.date
    document["int"].double = 1.5
    document["int64"].boolean = false
    #expect(document.date(forKey: "string") == Self.date && document.double(forKey: "int") == 1.5)
    #expect(document["int64"].exists && !document["int64"].boolean)
  }

  @Test("are set as data and as JSON, and removed")
  func data() throws {
    let document = try MutableDocument(
      id: "a", json: #"{"n": 1, "t": true, "a": [1, {"b": null}]}"#)
    #expect(document.toJSON() == #"{"a":[1,{"b":null}],"n":1,"t":true}"#)
    #expect(document.value(forKey: "t") as? Bool == true)
    document.setData(["x": 1, "y": ["z": [true, 2.5]]]).removeValue(forKey: "x")
    #expect(document.toJSON() == #"{"y":{"z":[true,2.5]}}"#)
    let plain = document.toDictionary()["y"] as? [String: Any]
    #expect((plain?["z"] as? [Any])?.count == 2)
    for text in ["", "[1]", "{", "1"] {
      #expect(code { try document.setJSON(text) } == CBLError.invalidParameter, "\(text)")
    }
    #expect(code { _ = try MutableArrayObject(json: "{}") } == CBLError.invalidParameter)
    #expect(try MutableDictionaryObject(json: #"{"a": 1}"#).int(forKey: "a") == 1)
    #expect(document.toJSON() == #"{"y":{"z":[true,2.5]}}"#, "refused texts change nothing")
    // What JSONSerialization makes has types of Foundation.
    let object = try JSONSerialization.jsonObject(
      with: Data(#"{"b": true, "i": 3, "d": 0.5}"#.utf8))
    let dictionary = try #require(object as? [String: Any])
    #expect(MutableDocument(data: dictionary).toJSON() == #"{"b":true,"d":0.5,"i":3}"#)
  }

  @Test("are equal by content")
  func equality() {
    let (first, second) = (Self.everything(), Self.everything())
    #expect(first == second && first.hashValue == second.hashValue)
    second["array"][0].int = 9
    #expect(first != second)
    #expect(MutableDictionaryObject(data: ["a": 1]) == MutableDictionaryObject(data: ["a": 1.0]))
    #expect(MutableArrayObject(data: [1]) != MutableArrayObject(data: ["1"]))
  }

  @Test("that contain themselves end an operation with an error, and not the program")
  func cycle() throws {
    let test = try TestDatabase()
    let document = MutableDocument(id: "a")
    let inner = MutableDictionaryObject()
    inner.setDictionary(inner, forKey: "me")
    document.setDictionary(inner, forKey: "inner")
    #expect(throws: DatabaseError.self) { try test.collection().save(document: document) }
    #expect(document.toMutable().contains(key: "inner") && document.toDictionary().count == 1)
    #expect(document.toJSON() == "null")
    inner.removeValue(forKey: "me")
    try test.collection().save(document: document)
  }

  @Test("of types that documents cannot hold trap")
  func unsupported() async {
    await #expect(processExitsWith: .failure) {
      MutableDocument().setValue(URL(filePath: "/"), forKey: "a")
    }
  }
}

@Suite("a blob")
struct BlobTests {
  @Test("is stored with its document and read on demand")
  func storing() throws {
    let test = try TestDatabase()
    let collection = try test.collection()
    let contents = Data((0..<5000).map { UInt8(truncatingIfNeeded: $0) })
    let blob = Blob(contentType: "image/png", data: contents)
    #expect(blob.digest == nil && blob.length == 5000 && blob.content == contents)
    let document = MutableDocument(id: "a").setBlob(blob, forKey: "picture")
    document.setArray(MutableArrayObject().addBlob(blob), forKey: "more")
    try collection.save(document: document)
    let found = try #require(try collection.document(id: "a")?.blob(forKey: "picture"))
    #expect(found.contentType == "image/png" && found.length == 5000)
    #expect(found.digest?.hasPrefix("sha1-") == true && found.digest == blob.digest)
    #expect(found.content == contents && found == blob && found.hashValue == blob.hashValue)
    #expect(try collection.document(id: "a")?["more"][0].blob == found)
    let stream = try #require(found.contentStream)
    #expect(Blob(contentType: "x", contentStream: stream).content == contents)
    #expect(
      found.properties["@type"] as? String == "blob" && Blob.isBlob(properties: found.properties))
    #expect(found.toJSON().contains(#""content_type":"image/png""#))
    #expect(!Blob.isBlob(properties: ["digest": "x"]))
    try test.check()
  }

  @Test("comes from a file, and goes to another database")
  func moving() throws {
    let (test, other) = (try TestDatabase(), try TestDatabase())
    let path = test.directory + "/file"
    try Data("hello".utf8).write(to: URL(filePath: path))
    let blob = try Blob(contentType: "text/plain", fileURL: URL(filePath: path))
    try test.collection().save(document: MutableDocument(id: "a").setBlob(blob, forKey: "b"))
    let found = try #require(try test.collection().document(id: "a")?.blob(forKey: "b"))
    try other.collection().save(document: MutableDocument(id: "a").setBlob(found, forKey: "b"))
    let moved = try other.collection().document(id: "a")?.blob(forKey: "b")
    #expect(moved?.content == Data("hello".utf8))
    #expect(throws: (any Error).self) {
      _ = try Blob(contentType: "x", fileURL: URL(filePath: path + "-none"))
    }
    try other.check()
  }

  @Test("can be stored without a document, and is collected when nothing names it")
  func alone() throws {
    let test = try TestDatabase()
    let blob = Blob(contentType: "text/plain", data: Data("hello".utf8))
    try test.database.saveBlob(blob: blob)
    let found = try test.database.getBlob(properties: blob.properties)
    #expect(found?.content == Data("hello".utf8))
    try test.database.performMaintenance(type: .compact)
    #expect(try test.database.getBlob(properties: blob.properties) == nil)
    #expect(code { _ = try test.database.getBlob(properties: [:]) } == CBLError.invalidParameter)
  }

  @Test("of a batch that is taken back is stored by the next save")
  func rollback() throws {
    struct Refusal: Error {}
    let test = try TestDatabase()
    let document = MutableDocument(id: "a")
    document.setBlob(Blob(contentType: "text/plain", data: Data("hello".utf8)), forKey: "b")
    _ = try? test.database.inBatch {
      try test.collection().save(document: document)
      throw Refusal()
    }
    try test.database.performMaintenance(type: .compact)
    try test.collection().save(document: document)
    #expect(try test.collection().document(id: "a")?.blob(forKey: "b")?.content?.count == 5)
    try test.check()
  }
}
