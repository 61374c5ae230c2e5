import Testing
import VestaFirestoreBackend
import VestaFirestoreService

/// Reads of documents by name, several in one request.
struct BatchGetTests {
  @Test func `a request without documents has a response only when it begins a transaction`() async throws {
    let engine = makeEngine()
    let commit = try await engine.commit(update("rooms/a", [:]))
    func responses(_ consistency: ReadConsistency) async throws -> [BatchGetDocumentsResponse] {
      var responses: [BatchGetDocumentsResponse] = []
      let request = BatchGetDocumentsRequest(database: database, documents: [], consistency: consistency)
      try await engine.batchGet(request, context: owner) { responses.append($0) }
      return responses
    }
    let id = try await engine.begin()
    #expect(try await responses(.latest) == [])
    #expect(try await responses(.readTime(commit.commitTime)) == [])
    #expect(try await responses(.transaction(id)) == [])
    let beginning = try await responses(.newTransaction(.readWrite()))
    try #require(beginning.count == 1 && beginning[0].result == nil)
    let begun = try #require(beginning[0].transaction)
    try await engine.commit(update("rooms/a", [:]), in: begun)
  }
}
