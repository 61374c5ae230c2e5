import Testing
import VestaFirestoreBackend
import VestaTesting

@testable import VestaFirestoreModel

@Suite struct PathTests {
  @Test(arguments: [
    ("a", ["a"]), ("a.b_1.C", ["a", "b_1", "C"]), ("`a.b`.c", ["a.b", "c"]), ("`\\``", ["`"]), ("`\\\\`", ["\\"]),
    ("__name__", ["__name__"]), ("`1`", ["1"]), ("`é`", ["é"]),
  ])
  func `field paths are read and written`(text: String, names: [String]) throws {
    let path = try FieldPath(parsing: text)
    #expect(path.names == names)
    #expect(path.description == text)
  }

  @Test(arguments: ["", ".", "a.", ".a", "a..b", "1a", "a-b", "`a", "``", "`a`b", "a`b`", "é", "a b", "`a\\", "[*]"])
  func `a string that is no field path is refused`(text: String) {
    #expect(throws: FirestoreServiceError.self) { try FieldPath(parsing: text) }
  }

  @Test func `random field paths survive writing and reading`() throws {
    var random = SplitMix(seed: 7)
    for round in 0..<5000 {
      let names = (0...random.below(3)).map { _ in "x\(random.pick(Generate.texts))`\\.".suffix(1 + random.below(4)) }
      let path = FieldPath(names.map(String.init))
      #expect(try FieldPath(parsing: path.description) == path, "seed 7, round \(round)")
    }
  }

  @Test(arguments: [
    ("foo.__name__", "the name __key__ is reserved"), ("__foo__", "the name __foo__ is reserved"),
    ("____", "the name ____ is reserved"),
  ])
  func `reserved names are no fields of queries`(text: String, message: String) throws {
    let path = try FieldPath(parsing: text)
    #expect(throws: FirestoreServiceError(.invalidArgument, message)) { try path.checkForQuery() }
  }

  @Test func `documents and parents are parsed`() throws {
    let document = try ResourceName(document: "projects/p/databases/(default)/documents/a/b/c/d")
    #expect(document.path.segments == ["a", "b", "c", "d"])
    #expect(document.database == DatabaseName(project: "p"))
    #expect(document.description == "projects/p/databases/(default)/documents/a/b/c/d")
    let escaped = try ResourceName(parent: "projects/p/databases/%28default%29/documents")
    #expect(escaped.path == .root && escaped.database == DatabaseName(project: "p"))
    #expect(try DatabaseName(parsing: "projects/p/databases/d").database == "d")
  }

  @Test(arguments: [
    ("", "does not begin with"), ("projects/p/databases/d", "does not begin with"),
    ("projects/p/databases/d/documents", "lacks an identifier"),
    ("projects/p/databases/d/documents/a", "lacks an identifier"),
    ("projects//databases/d/documents/a/b", "does not begin with"),
    ("projects/p/databases/d/documents/a//", "lacks an identifier"),
    ("projects/p/databases/d/documents/a/", "Document id cannot be empty."),
    ("projects/p/databases/d/documents/a/..", "is \".\" or \"..\""),
    ("projects/p/databases/d/documents/__a__/b", "Collection id \"__a__\" is invalid because it is reserved."),
    ("projects/p/databases/d/documents/a/__b__", "Document id \"__b__\" is invalid because it is reserved."),
  ])
  func `a name that is no document is refused with a text that says why`(name: String, text: String) {
    let error = #expect(throws: FirestoreServiceError.self) { try ResourceName(document: name) }
    #expect(error?.code == .invalidArgument)
    #expect(error?.message.contains(text) == true, "\(error?.message ?? "")")
  }

  @Test func `long and deep names are refused`() {
    let root = "projects/p/databases/d/documents"
    let long = String(repeating: "x", count: 1501)
    #expect(throws: FirestoreServiceError(.invalidArgument, "Document id is longer than 1500 bytes.")) {
      try ResourceName(document: "\(root)/a/\(long)")
    }
    let deep = (0..<101).map { _ in "/a/b" }.joined()
    #expect(throws: FirestoreServiceError.self) { try ResourceName(document: root + deep) }
    #expect(throws: Never.self) { try ResourceName(document: root + deep.dropLast(4)) }
  }

  @Test func `paths that are read one after the other are those of each name`() {
    let database = DatabaseName(project: "p")
    let paths = [
      "rooms/a", "rooms/b", "rooms/", "rooms/b/c", "rooms/b/c/d", "rooms/b/c/e", "rooms/.", "rooms/__id7__",
      "rooms/__x__", "rooms2/a", "rooms", "", "rooms/\u{301}a", "rooms/a\u{301}",
      "r/" + String(repeating: "x", count: 1_501),
    ]
    let others = ["", "a/b", "projects/p", "projects/q/databases/d/documents/rooms/a"]
    let names =
      paths.map { database.documentsPrefix + $0 } + paths.map { "projects/q/databases/d/documents/" + $0 } + others
    var generator = SplitMix(seed: 7)
    for _ in 0..<200 {
      var paths = DocumentPaths(in: database)
      for name in (0..<12).compactMap({ _ in names.randomElement(using: &generator) }) {
        let expected = Result { try ResourceName(document: name, likely: database).path }
        let result = Result { try paths.path(of: name) }
        switch (result, expected) {
        case (.success(let path), .success(let other)):
          #expect(path == other && path.hashValue == other.hashValue)
          #expect(paths.isOfDatabase == name.hasPrefix(database.documentsPrefix), "\(name)")
        case (.failure, .failure): break
        default: Issue.record("\(name): \(result), not \(expected)")
        }
      }
    }
  }

  @Test func `only one spelling of a number counts`() {
    #expect(ResourcePath.number(of: "__id7__") == 7)
    #expect(ResourcePath.number(of: "__id-7__") == -7)
    for text in ["__id07__", "__id+7__", "__id__", "__id-0__", "__id9223372036854775808__", "__id7_", "id7", "__idx__"]
    {
      #expect(ResourcePath.number(of: text) == nil, "\(text)")
    }
  }

  @Test func `fields are found, set, removed and projected`() throws {
    var map: MapValue = ["a": .map(["b": .integer(1), "c": .integer(2)]), "d": .integer(3)]
    let path = try FieldPath(parsing: "a.b")
    #expect(map[path] == .integer(1))
    #expect(map[try FieldPath(parsing: "d.x")] == nil)
    #expect(map.projected(to: [path]) == ["a": .map(["b": .integer(1)])])
    #expect(
      map.projected(to: [path, try FieldPath(parsing: "a")]) == ["a": .map(["b": .integer(1), "c": .integer(2)])])
    map.set(.null, at: try FieldPath(parsing: "d.e.f"))
    #expect(map["d"] == .map(["e": .map(["f": .null])]))
    map.remove(at: try FieldPath(parsing: "d.e.f"))
    map.remove(at: try FieldPath(parsing: "x.y"))
    #expect(map["d"] == .map(["e": .map([:])]))
  }
}
