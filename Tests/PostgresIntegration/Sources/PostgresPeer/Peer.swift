import Foundation
import VestaAuthBackend
import VestaAuthService
import VestaBytes
import VestaCrypto
import VestaCryptoInterop
import VestaFirestoreBackend
import VestaFirestoreBackendContracts
import VestaFirestoreService
import VestaServiceInterop
import VestaStoreInterop

/// The engines of one process, and what can be asked of them.
struct Peer: Sendable {
  private static let database = "projects/demo/databases/(default)"
  private static let owner = CallContext(caller: .owner)
  private static let root = database + "/documents"

  private let store: StoppingStore
  private let firestore: FirestoreEngine
  private let auth: AuthEngine

  /// The store does not report commits, without which no process is notified of another.
  private struct NoNews: Error {}

  init(space: String) async throws {
    var indexes = FirestoreServiceOptions()
    indexes.automaticIndexUses = 1
    // A busy machine ends no transaction.
    indexes.transactionIdleTime = .seconds(3_600)
    indexes.transactionLifetime = .seconds(3_600)
    guard let opened = try await openStore("firestore", in: space) as? any CommitObservable else {
      throw NoNews()
    }
    store = StoppingStore(opened) { say("stopped") }
    firestore = FirestoreEngine(store: store, options: indexes)
    var options = AuthServiceOptions()
    options.passwordScheme = .pbkdf2(.sha256, iterations: 1)
    options.accountGuesses = RateLimit(burst: 6, refillInterval: .seconds(3_600))
    auth = AuthEngine(projectID: "demo", options: options, crypto: OpenSSLCrypto()) {
      try await openStore("auth", in: space)
    }
  }

  func close() async {
    try? await firestore.close()
    try? await auth.close()
  }

  /// Does one thing, and prints the result.
  func answer(_ call: String, _ arguments: [String], number: String) async -> String {
    do {
      return try await perform(call, arguments, number)
    } catch let error as AuthServiceError {
      return "refused \(error.code)"
    } catch let error as FirestoreServiceError {
      return "refused \(error.code) \(error.message)"
    } catch {
      return "failed \(error)"
    }
  }

  private func perform(_ call: String, _ arguments: [String], _ number: String) async throws -> String {
    let count = Int64(arguments.last ?? "") ?? 0
    switch (call, arguments.count) {
    case ("set", 2): return "done \(try await set(arguments[0], count))"
    case ("fill", 2): return try await fill(arguments[0], count)
    case ("get", 1): return "found \(try await get(arguments[0]).map(String.init) ?? "nothing")"
    case ("increment", 2): return try await increment(arguments[0], count)
    case ("first", 1): return try await first(arguments[0])
    case ("stop", 1):
      store.stop(after: Int(count))
      return "done"
    case ("transact", 1): return try await transact(seed: UInt64(count))
    case ("check", 1): return try await check(try Base64.standard.decode(arguments[0]))
    case ("listen", 1): return try await listen(arguments[0], after: nil, number)
    case ("listen", 2): return try await listen(arguments[0], after: try Base64.standard.decode(arguments[1]), number)
    case ("signUp", 2):
      let request = SignUpRequest(email: arguments[0], password: arguments[1])
      return "done \(try await auth.signUp(request, context: CallContext()).localID)"
    case ("signIn", 2):
      let request = PasswordSignInRequest(email: arguments[0], password: arguments[1])
      let answer = try await auth.signInWithPassword(request, context: CallContext())
      return "done \(answer.outcome.tokens?.idToken ?? "without a token")"
    case ("lookup", 1):
      let users = try await auth.lookup(LookupRequest(idToken: arguments[0]), context: CallContext()).users
      return "done \(users.first?.localID ?? "nobody")"
    case ("rotate", 0):
      try await auth.administration.rotateSigningKey(context: Peer.owner)
      return "done"
    default: return "what"
    }
  }

  // MARK: Documents

  private func set(_ path: String, _ value: Int64) async throws -> Int64 {
    let document = Document(name: Peer.root + "/" + path, fields: ["n": .integer(value)])
    let request = CommitRequest(database: Peer.database, writes: [.update(document)])
    return try await firestore.commit(request, context: Peer.owner).commitTime.microseconds ?? 0
  }

  private func fill(_ collection: String, _ count: Int64) async throws -> String {
    for start in stride(from: 0, to: count, by: 250) {
      let writes = (start..<min(start + 250, count)).map { number in
        Write.update(
          Document(
            name: "\(Peer.root)/\(collection)/\(number)", fields: ["n": .integer(number), "m": .integer(-number)]))
      }
      _ = try await firestore.commit(CommitRequest(database: Peer.database, writes: writes), context: Peer.owner)
    }
    return "done"
  }

  private func get(_ path: String, _ consistency: ReadConsistency = .latest) async throws -> Int64? {
    var found: Int64?
    let request = BatchGetDocumentsRequest(
      database: Peer.database, documents: [Peer.root + "/" + path], consistency: consistency)
    try await firestore.batchGet(request, context: Peer.owner) { response in
      if case .found(let document)? = response.result, case .integer(let number)? = document.fields["n"] {
        found = number
      }
    }
    return found
  }

  /// Adds one `count` times, each time in a transaction that reads first.
  private func increment(_ path: String, _ count: Int64) async throws -> String {
    var done: Int64 = 0
    while done < count {
      let begin = BeginTransactionRequest(
        database: Peer.database, options: .readWrite(concurrency: .optimistic))
      let id = try await firestore.beginTransaction(begin, context: Peer.owner).transaction
      do {
        let value = try await get(path, .transaction(id)) ?? 0
        let document = Document(name: Peer.root + "/" + path, fields: ["n": .integer(value + 1)])
        let request = CommitRequest(database: Peer.database, writes: [.update(document)], transaction: id)
        _ = try await firestore.commit(request, context: Peer.owner)
        done += 1
      } catch let error as FirestoreServiceError where error.code == .aborted {
        continue
      }
    }
    return "done"
  }

  /// Runs random transactions on the documents that every process uses, and prints the committed ones.
  private func transact(seed: UInt64) async throws -> String {
    let history = try await FirestoreSubject(firestore).transactionsAtOnce(seed: seed, clients: 3, count: 25)
    return "done " + Base64.standard.encode(Array(try JSONEncoder().encode(history.transactions)))
  }

  /// Looks whether one order explains the transactions of all processes, and whether the documents are what they left.
  private func check(_ history: [UInt8]) async throws -> String {
    let transactions = try JSONDecoder().decode([TransactionHistory.Transaction].self, from: Data(history))
    try await FirestoreSubject(firestore).expectSerial(TransactionHistory(transactions: transactions))
    return "done"
  }

  /// The first document by its numbers, highest first, and how many indexes were used to find it.
  private func first(_ collection: String) async throws -> String {
    let query = StructuredQuery(
      from: [.init(collectionID: collection)], orderBy: [.init(fieldPath: "m")], limit: 1)
    var (name, indexes) = ("nothing", 0)
    let request = RunQueryRequest(parent: Peer.root, query: query, explain: ExplainOptions(analyze: true))
    try await firestore.runQuery(request, context: Peer.owner) { response in
      if let document = response.document { name = document.name }
      if let metrics = response.explainMetrics { indexes = metrics.indexesUsed.count }
    }
    return "found \(name.split(separator: "/").last ?? "") by \(indexes)"
  }

  // MARK: Listening

  /// Follows a collection to the end of the process, and says a line for each document and each token.
  private func listen(_ collection: String, after token: [UInt8]?, _ number: String) async throws -> String {
    let call = try await firestore.listen(database: Peer.database, context: Peer.owner)
    let query = StructuredQuery(from: [.init(collectionID: collection)])
    call.send(
      .addTarget(Target(id: 1, .query(parent: Peer.root, query), resume: token.map { .token($0) })))
    for try await batch in call.responses {
      for response in batch {
        switch response {
        case .documentChange(let change):
          guard case .integer(let value)? = change.document.fields["n"] else { continue }
          say("\(number) document \(change.document.name.split(separator: "/").last ?? "") \(value)")
        case .targetChange(let change):
          if change.kind == .current { say("\(number) current") }
          guard !change.resumeToken.isEmpty, let time = change.readTime?.microseconds else { continue }
          say("\(number) token \(time) \(Base64.standard.encode(change.resumeToken))")
        default: say("\(number) other")
        }
      }
    }
    return "over"
  }
}
