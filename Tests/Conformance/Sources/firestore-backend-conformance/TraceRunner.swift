import VestaFirestoreBackend

/// Runs recorded queries and compares the results.
struct TraceRunner {
  private let suite: String
  private var passed = 0
  private(set) var failed = 0
  private var skipped: [String: Int] = [:]
  private let context = CallContext(caller: .owner)
  private let makeBackend: (_ isStrict: Bool) async throws -> any FirestoreBackend
  private let closeBackend: (any FirestoreBackend) async throws -> Void
  /// The backend that holds a database, with the key of that; recordings of one database follow each other.
  private var loaded: (key: String?, isStrict: Bool, backend: any FirestoreBackend)?

  /// A runner that has run nothing.
  ///
  /// - Parameters:
  ///   - suite: The name to print.
  ///   - makeBackend: Makes a backend without documents; a strict one refuses queries for which no index is declared.
  ///   - closeBackend: Ends a backend that nothing more is asked of.
  init(
    suite: String, makeBackend: @escaping (_ isStrict: Bool) async throws -> any FirestoreBackend,
    closeBackend: @escaping (any FirestoreBackend) async throws -> Void
  ) {
    self.suite = suite
    self.makeBackend = makeBackend
    self.closeBackend = closeBackend
  }

  /// Runs every query of a file, and prints what fails and the totals.
  mutating func run(_ file: TraceFile) async throws {
    for action in file.actions where action.kind == "run_query" {
      if let reason = try? ObsoleteRules.reason(for: action) {
        skipped[reason, default: 0] += 1
        continue
      }
      if let difference = await outcome(of: action, file) {
        failed += 1
        print("\(suite): FAILED \(action.name): \(difference)")
      } else {
        passed += 1
      }
    }
    for (reason, count) in skipped.sorted(by: { $0.key < $1.key }) { print("\(suite): skipped \(count): \(reason)") }
    print("\(suite): \(passed) passed, \(failed) failed, \(skipped.values.reduce(0, +)) skipped")
  }

  /// The differences from a recording; a case that cannot be set up has failed, and the others continue.
  private mutating func outcome(of action: TraceAction, _ file: TraceFile) async -> String? {
    do {
      return try await difference(of: action, file)
    } catch {
      loaded = nil
      return "it could not be set up: \(error)"
    }
  }

  private mutating func difference(of action: TraceAction, _ file: TraceFile) async throws -> String? {
    var request = try WireReader.query(action.request)
    let documents = action.database.flatMap { file.databases[$0] } ?? []
    if action.request["readTime"].isPresent || action.request["transaction"].isPresent {
      let isInTransaction = action.request["transaction"].isPresent
      let (backend, consistency) = try await past(of: documents, isInTransaction: isInTransaction)
      request.consistency = consistency
      let difference = try await difference(of: action, request, on: backend)
      try await closeBackend(backend)
      return difference
    }
    // The recording's project had declared the indexes that its other queries need; we build those by ourselves.
    let isStrict = action.code == 9
    if let loaded, loaded.key == action.database, loaded.isStrict == isStrict {
      return try await difference(of: action, request, on: loaded.backend)
    }
    if let backend = loaded?.backend { try await closeBackend(backend) }
    loaded = nil
    let backend = try await makeBackend(isStrict)
    _ = try await write(documents.map { Write.update($0) }, to: backend)
    loaded = (action.database, isStrict, backend)
    return try await difference(of: action, request, on: backend)
  }

  /// A backend of which the documents have been deleted again, and how to read what was there before.
  ///
  /// The recording's clock is not ours, so its read time is the one at which its documents are all there.
  private func past(
    of documents: [Document], isInTransaction: Bool
  ) async throws -> (any FirestoreBackend, ReadConsistency) {
    let backend = try await makeBackend(false)
    guard let time = try await write(documents.map { Write.update($0) }, to: backend), let first = documents.first
    else {
      return (backend, .latest)
    }
    let options = TransactionOptions.readOnly(readTime: time)
    let begin = BeginTransactionRequest(database: database(of: first.name), options: options)
    let transaction = try await backend.beginTransaction(begin, context: context).transaction
    _ = try await write(documents.map { Write.delete($0.name) }, to: backend)
    return (backend, isInTransaction ? .transaction(transaction) : .readTime(time))
  }

  /// Commits writes in parts; the time of the last one.
  private func write(_ writes: [Write], to backend: any FirestoreBackend) async throws -> Timestamp? {
    var time: Timestamp?
    for first in stride(from: 0, to: writes.count, by: 400) {
      let part = Array(writes[first..<min(first + 400, writes.count)])
      let request = CommitRequest(database: database(of: part[0].name), writes: part)
      time = try await backend.commit(request, context: context).commitTime
    }
    return time
  }

  private func database(of name: String) -> String { name.split(separator: "/").prefix(4).joined(separator: "/") }

  /// The difference from the recording; `nil` when there is none.
  private func difference(
    of action: TraceAction, _ request: RunQueryRequest, on backend: any FirestoreBackend
  ) async throws -> String? {
    var received: [Document] = []
    var code = 0
    var message = ""
    do {
      try await backend.runQuery(request, context: context) { response in
        if let document = response.document { received.append(document) }
      }
    } catch let error as FirestoreServiceError {
      code = error.code.rawValue
      message = error.message
    }
    if code != action.code {
      return "expected status \(action.code) \(action.message.prefix(200)), got \(code) \(message.prefix(200))"
    }
    if code == 9, let link = link(in: action.message), link != self.link(in: message) {
      return "expected the index of \(link), got \(message)"
    }
    return try compare(received, with: action)
  }

  private func compare(_ received: [Document], with action: TraceAction) throws -> String? {
    guard action.code == 0 else { return nil }
    let documents = action.responses.map { $0["document"] }.filter(\.isPresent)
    let expected = try documents.map(WireReader.document)
    if received.map(\.name) != expected.map(\.name) {
      return "expected \(names(expected)), got \(names(received))"
    }
    for (left, right) in zip(received, expected) where left.fields != right.fields {
      return "the fields of \(left.name) differ"
    }
    return nil
  }

  /// The link under which a missing index can be made; it names the index.
  private func link(in message: String) -> Substring? {
    message.firstRange(of: "https://").map { message[$0.lowerBound...].prefix { !$0.isWhitespace && $0 != ";" } }
  }

  private func names(_ documents: [Document]) -> String {
    let names = documents.prefix(12).map { $0.name.split(separator: "/").dropFirst(5).joined(separator: "/") }
    return "\(documents.count) \(names)"
  }
}
