import Foundation
import Testing
import VestaAuthBackend
import VestaAuthService
import VestaCrypto
import VestaCryptoInterop
import VestaFirestoreBackend
import VestaFirestoreService
@_spi(Benchmarking) import VestaPostgres
import VestaServiceInterop
import VestaStoreInterop

extension OnOneServer {
  /// How many round trips to the server each call of an engine takes; the README has them as a table.
  ///
  /// Background work of an engine may happen in between, so the least of some tries counts.
  @Suite
  struct RoundTripTests {
    private func store(_ name: String) async throws -> PostgresStore {
      var options = PostgresOptions()
      options.url = server
      let provider = PostgresStoreProvider(options: options)
      let store = try await provider.openStore(named: name, in: UUID().uuidString, options: StoreOptions())
      return try #require(store as? PostgresStore)
    }

    private let owner = CallContext(caller: .owner)

    @Test func `the round trips of Firestore equal the README's`() async throws {
      let store = try await store("firestore")
      let engine = FirestoreEngine(store: store)
      let database = "projects/demo/databases/(default)"
      let root = database + "/documents"
      func update(_ path: String, _ number: Int) -> Write {
        .update(Document(name: "\(root)/\(path)", fields: ["n": .integer(Int64(number))]))
      }
      func commit(_ writes: [Write], _ transaction: [UInt8]? = nil) async throws {
        let request = CommitRequest(database: database, writes: writes, transaction: transaction)
        _ = try await engine.commit(request, context: owner)
      }
      func get(_ paths: [String], _ consistency: ReadConsistency = .latest) async throws {
        let request = BatchGetDocumentsRequest(
          database: database, documents: paths.map { "\(root)/\($0)" }, consistency: consistency)
        try await engine.batchGet(request, context: owner) { _ in }
      }
      func query(_ query: StructuredQuery) async throws {
        try await engine.runQuery(RunQueryRequest(parent: root, query: query), context: owner) { _ in }
      }
      for start in 0..<4 { try await commit((0..<50).map { update("rooms/\(start * 50 + $0)", $0) }) }
      let count = RoundTripCount(store)
      try await count.call("get") { try await get(["rooms/\($0)"]) }
      try await count.call("get of 50") { _ in try await get((0..<50).map { "rooms/\($0)" }) }
      try await count.call("set") { try await commit([update("rooms/\($0)", 1_000 + $0)]) }
      try await count.call("batch of 50") { number in
        try await commit((0..<50).map { update("rooms/\($0)", 2_000 + 100 * number + $0) })
      }
      try await count.call("increment") { _ in
        let write = Write.update(
          Document(name: "\(root)/rooms/7", fields: [:]), mask: DocumentMask(fieldPaths: []),
          transforms: [.init(fieldPath: "n", .increment(.integer(1)))])
        try await commit([write])
      }
      try await count.call("transaction: get, set") { number in
        let begin = BeginTransactionRequest(database: database, options: .readWrite())
        let id = try await engine.beginTransaction(begin, context: owner).transaction
        try await get(["rooms/9"], .transaction(id))
        try await commit([update("rooms/9", 3_000 + number)], id)
      }
      try await count.call("query of a collection, 20 of 200") { _ in
        try await query(StructuredQuery(from: [.init(collectionID: "rooms")], limit: 20))
      }
      try await count.call("query of a collection, all 200") { _ in
        try await query(StructuredQuery(from: [.init(collectionID: "rooms")]))
      }
      let ordered = StructuredQuery(
        from: [.init(collectionID: "rooms")], orderBy: [.init(fieldPath: "n")], limit: 20)
      // Until its index is there.
      var indexes = 0
      while indexes == 0 {
        let request = RunQueryRequest(parent: root, query: ordered, explain: ExplainOptions(analyze: true))
        try await engine.runQuery(request, context: owner) { indexes = $0.explainMetrics?.indexesUsed.count ?? indexes }
      }
      try await count.call("query by an index, 20 of 200") { _ in try await query(ordered) }
      try await count.call("count of a collection of 200") { _ in
        let request = RunAggregationQueryRequest(
          parent: root,
          query: StructuredAggregationQuery(
            query: StructuredQuery(from: [.init(collectionID: "rooms")]),
            aggregations: [.init(.count(upTo: nil), alias: "count")]))
        _ = try await engine.runAggregation(request, context: owner)
      }
      try await engine.close()
      print("Firestore", count.found)
      #expect(
        count.found == [
          "get": 1, "get of 50": 1, "set": 2, "batch of 50": 2, "increment": 2, "transaction: get, set": 3,
          "query of a collection, 20 of 200": 2, "query of a collection, all 200": 2,
          "query by an index, 20 of 200": 3, "count of a collection of 200": 2,
        ])
    }

    @Test func `the round trips of Auth equal the README's`() async throws {
      let store = try await store("auth")
      var options = AuthServiceOptions()
      options.passwordScheme = .pbkdf2(.sha256, iterations: 1)
      options.accountGuesses = RateLimit(burst: 1_000, refillInterval: .seconds(1))
      options.codeSender = RecordingCodeSender()
      let engine = AuthEngine(projectID: "demo", options: options, crypto: OpenSSLCrypto()) { store }
      let context = CallContext()
      let first = try await engine.signUp(SignUpRequest(email: "a@b.cd", password: "secret-one"), context: context)
      let count = RoundTripCount(store)
      try await count.call("sign up with a password") {
        let request = SignUpRequest(email: "user\($0)@b.cd", password: "secret-one")
        _ = try await engine.signUp(request, context: context)
      }
      try await count.call("sign in anonymously") { _ in _ = try await engine.signUp(SignUpRequest(), context: context)
      }
      try await count.call("sign in with a password") { _ in
        let request = PasswordSignInRequest(email: "a@b.cd", password: "secret-one")
        _ = try await engine.signInWithPassword(request, context: context)
      }
      try await count.call("look up an account") { _ in
        _ = try await engine.lookup(LookupRequest(idToken: first.tokens.idToken), context: context)
      }
      try await count.call("refresh a token") { _ in
        _ = try await engine.refresh(RefreshRequest(refreshToken: first.tokens.refreshToken), context: context)
      }
      try await count.call("public keys") { _ in _ = try await engine.publicKeys(context: context) }
      try await engine.close()
      print("Auth", count.found)
      #expect(count.found["look up an account"] == 2 && count.found["public keys"] == 0)
      #expect(count.found.values.allSatisfy { $0 <= 8 })
    }
  }
}
