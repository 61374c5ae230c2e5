import VestaFirestoreBackend
import Foundation
import VestaCore
import VestaFirestoreService
import VestaSQLite

// The document engine by itself: what the Firestore client will stand on. A server-side program can use it as it is.
@Sendable
func documentsChapter(_ guide: Guide) async throws {
  try await withTemporaryDirectory { directory in
    let app = try VestaApp.configure(
      options: VestaOptions(projectID: "tour", backend: .embedded(directory: directory)),
      libraries: [FirestoreServiceLibrary.self, SQLiteLibrary.self])
    let cities = Cities(backend: try app.container.require((any FirestoreBackend).self))

    try await cities.put(["Oslo": 700_000, "Lima": 10_000_000, "Rome": 2_800_000])
    let large = try await cities.largerThan(1_000_000)
    try guide.show("a query finds and orders documents: \(large)", large == ["Lima", "Rome"])

    try await withThrowingTaskGroup { group in
      for _ in 0..<8 { group.addTask { try await cities.welcomeOne(to: "Oslo") } }
      try await group.waitForAll()
    }
    let people = try await cities.people(in: "Oslo")
    try guide.show("8 transactions at once on one document: nobody is lost", people == 700_008)

    let news = try await cities.firstNews { try await cities.put(["Bern": 134_000]) }
    try guide.show("a live target tells of what is new: \(news)", news == "Bern")
    await app.delete()
  }
}

/// A collection of cities, through the engine's seam alone.
private struct Cities: Sendable {
  let backend: any FirestoreBackend

  private let database = "projects/tour/databases/(default)"
  private let context = FirestoreCallContext(authorization: .owner)
  private var root: String { "\(database)/documents" }

  init(backend: any FirestoreBackend) { self.backend = backend }

  func put(_ cities: [String: Int64]) async throws {
    let writes = cities.map { name, people in
      Write.update(Document(name: "\(root)/cities/\(name)", fields: ["people": .integer(people)]))
    }
    _ = try await backend.commit(CommitRequest(database: database, writes: writes), context: context)
  }

  func largerThan(_ people: Int64) async throws -> [String] {
    let query = StructuredQuery(
      from: [.init(collectionID: "cities")],
      filter: .field(path: "people", .greaterThan, .integer(people)),
      orderBy: [.init(fieldPath: "people", .descending)])
    var names: [String] = []
    try await backend.runQuery(RunQueryRequest(parent: root, query: query), context: context) { response in
      if let document = response.document { names.append(name(of: document)) }
    }
    return names
  }

  /// Reads and writes in a transaction, again when another one was faster.
  func welcomeOne(to city: String) async throws {
    while true {
      let begin = BeginTransactionRequest(database: database)
      let id = try await backend.beginTransaction(begin, context: context).transaction
      do {
        let people = try await people(in: city, .transaction(id))
        let changed = Document(name: "\(root)/cities/\(city)", fields: ["people": .integer(people + 1)])
        _ = try await backend.commit(
          CommitRequest(database: database, writes: [.update(changed)], transaction: id), context: context)
        return
      } catch let error as FirestoreError where error.code == .aborted {
        continue
      }
    }
  }

  func people(in city: String, _ consistency: ReadConsistency = .latest) async throws -> Int64 {
    var people: Int64 = 0
    let request = BatchGetDocumentsRequest(
      database: database, documents: ["\(root)/cities/\(city)"], consistency: consistency)
    try await backend.batchGet(request, context: context) { response in
      if case .found(let document)? = response.result, case .integer(let count)? = document.fields["people"] {
        people = count
      }
    }
    return people
  }

  /// Follows all cities, makes a change once the present ones are known, and gives the first city that comes then.
  func firstNews(_ change: () async throws -> Void) async throws -> String {
    let call = try await backend.listen(database: database, context: context)
    let everything = StructuredQuery(from: [.init(collectionID: "cities")])
    call.send(.addTarget(Target(id: 2, .query(parent: root, everything))))
    var isCurrent = false
    for try await batch in call.responses {
      for response in batch {
        switch response {
        case .documentChange(let change) where isCurrent: return name(of: change.document)
        case .targetChange(let news) where news.kind == .current:
          isCurrent = true
          try await change()
        default: continue
        }
      }
    }
    return "nothing"
  }

  private func name(of document: Document) -> String { String(document.name.split(separator: "/").last ?? "") }
}
