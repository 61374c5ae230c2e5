import Testing
import VestaCore
import VestaFirestore
import VestaTesting

/// The results that a client without a network reads from its engine, with its writes on top, against a model of the
/// documentation.
@Suite(.timeLimit(.minutes(15)))
struct PendingResultTests {
  private func path(_ random: inout SplitMix) -> String {
    random.pick(["rooms", "rooms", "halls/h/rooms"]) + "/d\(random.below(10))"
  }

  private func find(_ query: Query, _ model: OracleQuery, _ documents: [String: OracleFields]) async throws -> String? {
    let snapshot = try await query.getDocuments(source: .cache)
    let (found, expected) = (snapshot.documents.map(\.reference.path), model.results(documents))
    if found != expected { return "\(model) finds \(found), not \(expected) of \(documents)" }
    for document in snapshot.documents {
      let (fields, expected) = (OracleWorld.fields(of: document), documents[document.reference.path])
      if fields != expected { return "\(document.reference.path) is \(fields), not \(expected ?? [:])" }
    }
    return nil
  }

  /// The results page by page, each after the last document of the one before.
  private func pages(_ model: OracleQuery, of db: Firestore, _ size: Int) async throws -> [String] {
    var query = model.query(of: db).limit(to: size)
    var found: [String] = []
    while found.count < 100 {
      let page = try await query.getDocuments(source: .cache).documents
      found += page.map(\.reference.path)
      guard page.count == size, let last = page.last else { break }
      query = query.start(afterDocument: last)
    }
    return found
  }

  @Test(arguments: UInt64(1)...4) func `results with pending writes are those of the documents in memory`(
    seed: UInt64
  ) async throws {
    var random = SplitMix(seed: seed)
    let app = try OracleApps.make(seed: seed)
    let db = try Firestore.instance(for: app)
    var documents: [String: OracleFields] = [:]
    var number: Int64 = 0
    func write() {
      number += 1
      let write = OracleWrite.random(&random, path: path(&random), number: number)
      documents[write.path] = write.apply(to: documents[write.path])
      write.perform(db)
    }
    for round in 0..<2 {
      for _ in 0..<25 { write() }
      try await db.waitForPendingWrites()
      try await db.disableNetwork()
      for count in 0..<5 {
        for _ in 0..<count { write() }
        for _ in 0..<20 {
          var model = OracleQuery.random(&random)
          let fault = try await find(model.query(of: db), model, documents)
          #expect(fault == nil, "seed \(seed), round \(round), \(count) more writes: \(fault ?? "")")
          guard model.start == nil, model.end == nil else { continue }
          model.limit = nil
          let (found, expected) = (try await pages(model, of: db, 1 + random.below(3)), model.results(documents))
          #expect(found == expected, "seed \(seed), round \(round): pages of \(model) of \(documents)")
        }
      }
      try await db.enableNetwork()
      try await db.waitForPendingWrites()
    }
    await app.delete()
  }
}
