import VestaBytes
import VestaFirestoreBackend
import VestaServiceInterop

/// Deletes a document or the documents of a collection, with everything below, for the Emulator UI and test suites.
struct SubtreeDeletion {
  private let database: String
  private let ids: [String]

  /// - Throws: `INVALID_ARGUMENT` for ids that none can be.
  init(_ database: String, _ ids: [String]) throws(ServiceStatus) {
    guard ids.allSatisfy({ !$0.isEmpty && !$0.hasByte("/") }) else {
      throw ServiceStatus(.invalidArgument, "The path has an id that is none.")
    }
    (self.database, self.ids) = (database, ids)
  }

  private var root: String { "\(database)/documents" }
  private var name: String { ([root] + ids).joined(separator: "/") }

  func run(_ backend: any FirestoreBackend) async throws {
    if ids.count.isMultiple(of: 2) {
      _ = try await backend.commit(CommitRequest(database: database, writes: [.delete(name)]), context: .owner)
    }
    while true {
      let names = try await next(backend)
      if names.isEmpty { return }
      let writes = names.map { Write.delete($0) }
      _ = try await backend.commit(CommitRequest(database: database, writes: writes), context: .owner)
    }
  }

  /// Some documents below the place, of which nothing but the name is read.
  private func next(_ backend: any FirestoreBackend) async throws -> [String] {
    var query = StructuredQuery(from: [.init(collectionID: "", allDescendants: true)])
    query.select = ["__name__"]
    query.limit = 300
    var parent = name
    if !ids.count.isMultiple(of: 2) {
      parent = ([root] + ids.dropLast()).joined(separator: "/")
      // The first name that can be in the collection, and the first that can be in one with a larger id.
      query.filter = .composite(
        .and,
        [
          .field(path: "__name__", .greaterThanOrEqual, .reference("\(name)/\0")),
          .field(path: "__name__", .lessThan, .reference("\(name)\0/\0")),
        ])
    }
    var names: [String] = []
    do {
      try await backend.runQuery(RunQueryRequest(parent: parent, query: query), context: .owner) { response in
        if let document = response.document { names.append(document.name) }
      }
    } catch let error as FirestoreServiceError where error.code == .notFound {
      // No document was ever written.
    }
    return names
  }
}
