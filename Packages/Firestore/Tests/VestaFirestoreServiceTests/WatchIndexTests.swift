import Testing
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaTesting

@testable import VestaFirestoreIndexes
@testable import VestaFirestoreService

struct WatchIndexTests {
  /// Every document that a query matches finds the query; and when all queries are removed, nothing is left.
  @Test(arguments: [UInt64(31), 32, 33])
  func `every query that matches a document is a candidate`(seed: UInt64) throws {
    var data = SplitMix(seed: seed)
    let database = try DatabaseName(parsing: database)
    var index = WatchIndex()
    var subjects: [WatchSubject] = []
    while subjects.count < 150 {
      guard let subject = try? WatchSubject(.query(parent: root, data.query()), in: database) else { continue }
      index.insert(subjects.count, subject)
      subjects.append(subject)
    }
    var matches = 0
    for round in 0..<150 {
      if round == 100 { for number in stride(from: 0, to: 150, by: 3) { index.remove(number, subjects[number]) } }
      let path = ResourcePath(splitting: data.path())
      let document = Document(name: root + "/\(path)", fields: data.fields())
      let found = index.candidates(PathKey(path), path, [document])
      for (number, subject) in subjects.enumerated() {
        if round >= 100, number.isMultiple(of: 3) {
          #expect(!found.contains(number), "seed \(seed)")
        } else if subject.matches(document, at: PathKey(path), path) {
          matches += 1
          #expect(found.contains(number), "seed \(seed): \(subject) \(document)")
        }
      }
    }
    for (number, subject) in subjects.enumerated() { index.remove(number, subject) }
    #expect(index.isEmpty)
    #expect(matches > 500)
  }

  @Test func `documents are candidates for the targets that follow them by name, until none does`() throws {
    let database = try DatabaseName(parsing: database)
    let paths = [ResourcePath(["rooms", "a"]), ResourcePath(["rooms", "b"])]
    func found(in index: WatchIndex) -> [Set<Int>] { paths.map { index.candidates(PathKey($0), $0, []) } }
    var index = WatchIndex()
    let one = try WatchSubject(.documents([name("rooms/a")]), in: database)
    let both = try WatchSubject(.documents([name("rooms/a"), name("rooms/b")]), in: database)
    index.insert(1, one)
    index.insert(2, both)
    #expect(found(in: index) == [[1, 2], [2]])
    index.remove(2, both)
    #expect(found(in: index) == [[1], []])
    index.remove(1, one)
    #expect(found(in: index) == [[], []])
    #expect(index.isEmpty)
  }

  @Test func `queries that ask for something else are not candidates`() throws {
    let database = try DatabaseName(parsing: database)
    var index = WatchIndex()
    func insert(_ number: Int, _ filter: Filter?, in collection: String = "rooms") throws {
      var query = StructuredQuery.all(collection)
      query.filter = filter
      index.insert(number, try WatchSubject(.query(parent: root, query), in: database))
    }
    try insert(1, .field(path: "n", .equal, .integer(2)))
    try insert(2, .field(path: "n", .greaterThan, .integer(5)))
    try insert(3, .field(path: "n", .lessThan, .integer(0)))
    try insert(4, .field(path: "tags", .arrayContains, .string("x")))
    try insert(5, nil, in: "halls")
    let either: [Filter] = [.field(path: "n", .equal, .integer(1)), .field(path: "n", .lessThan, .integer(-5))]
    try insert(6, .composite(.or, either))
    let path = ResourcePath(["rooms", "a"])
    let document = Document(name: name("rooms/a"), fields: ["n": .integer(1), "tags": .array([.string("y")])])
    #expect(index.candidates(PathKey(path), path, [document]) == [6])
  }
}
