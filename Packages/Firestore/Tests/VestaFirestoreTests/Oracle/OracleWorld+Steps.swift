import Foundation
import VestaFirestore
import VestaTesting

/// The steps of a history.
extension OracleWorld {
  /// One random step.
  func step() async throws {
    let index = random.below(clients.count)
    switch random.below(20) {
    case 0..<8: try await write(index)
    case 8..<10: try await readDocument(index)
    case 10..<13: try await readQuery(index)
    case 13..<15: addListener(index)
    case 15: removeListener(index)
    case 16: try await transact()
    case 17: if random.oneIn(2) { try await changeNetwork(index) } else { try await restart(index) }
    case 18: try await aggregate(index)
    default: try await settle()
    }
    for client in clients { for listener in client.listeners { check(listener) } }
  }

  // MARK: Writes

  private func nextWrite(_ index: Int) -> OracleWrite {
    number += 1
    return .random(&random, path: randomPath(for: index), number: number)
  }

  /// Some writes without waiting for them, and a read at once.
  func write(_ index: Int) async throws {
    let client = clients[index]
    // The other client's writes are applied first.
    if client.isOnline { try await flush() }
    for _ in 0..<1 + random.below(4) {
      var writes = [nextWrite(index)]
      if random.oneIn(4) { writes += (0..<random.below(3)).map { _ in nextWrite(index) } }
      writes = accepted(writes, by: client)
      log("client \(index) writes \(writes)")
      if writes.count == 1 {
        writes[0].perform(client.db)
      } else {
        let batch = client.db.batch()
        for write in writes { write.add(to: batch, client.db) }
        commit(batch)
      }
      if client.isOnline {
        for write in writes { note(write, by: index) }
      } else {
        for write in writes where client.shown == nil && writers[write.path, default: index] != index {
          if write.kind == .set || write.kind == .delete { continue }
          client.uncertain.insert(write.path)
        }
        client.queue.append(writes)
      }
    }
    await showOwnWrites(client)
    if random.oneIn(2) { try await readDocument(index) }
    if random.oneIn(3) { try await readQuery(index) }
    if client.isOnline, random.oneIn(3) { try await client.db.waitForPendingWrites() }
  }

  /// Takes a write of a client that is online.
  private func note(_ write: OracleWrite, by index: Int) {
    let client = clients[index]
    if write.kind == .update, server[write.path] == nil {
      // The client may know an earlier state, and shows the update on it until the backend refuses it.
      client.hasEstimates = true
      client.refuse(write.path)
      return
    }
    server[write.path] = write.apply(to: server[write.path])
    // Until its answer the client knows the document as it has last seen it.
    let isKnown = client.isEmbedded && writers[write.path, default: index] == index
    if !isKnown, [.merge, .update].contains(write.kind) { client.hasEstimates = true }
    writers[write.path] = index
  }

  /// Returns the writes of a batch that the backend will not refuse.
  ///
  /// One that it refuses takes the others back. A write alone may be refused: an update of a document that is not there
  /// changes nothing anywhere.
  private func accepted(_ writes: [OracleWrite], by client: Client) -> [OracleWrite] {
    guard writes.count > 1 else { return writes }
    var documents = local(client)
    let kept = writes.filter { write in
      if write.kind == .update, documents[write.path] == nil { return false }
      documents[write.path] = write.apply(to: documents[write.path])
      return true
    }
    return kept.isEmpty ? [writes[0]] : kept
  }

  private func commit(_ batch: WriteBatch) { batch.commit(completion: nil) }

  /// Increments of one document by both clients at once.
  private func transact() async throws {
    guard clients.allSatisfy(\.isOnline) else { return }
    try await flush()
    let (path, rounds) = ("counters/c", 1 + random.below(3))
    log("\(2 * rounds) transactions")
    try await withThrowingTaskGroup { group in
      for db in clients.map(\.db) {
        group.addTask {
          let document = db.document(path)
          for _ in 0..<rounds {
            try await db.runTransaction(with: TransactionOptions.patient) { transaction in
              let count = try await transaction.document(document).get("n") as? Int ?? 0
              transaction.setData(["n": count + 1], forDocument: document)
            }
          }
        }
      }
      try await group.waitForAll()
    }
    let old: Int64 = if case .integer(let count)? = server[path]?["n"] { count } else { 0 }
    server[path] = ["n": .integer(old + Int64(2 * rounds))]
    for (index, client) in clients.enumerated() {
      let found = Self.fields(of: try await client.db.document(path).getDocument())
      if found != server[path] { fault("client \(index): the counter is \(found), not \(server[path] ?? [:])") }
    }
  }

  // MARK: Reads

  /// Whether the cache of a client is sure to have everything.
  private func isComplete(_ client: Client) -> Bool { client.isOnline || client.isEmbedded }

  /// Waits for the answers to writes that change a part of a document of which the client may know an earlier state.
  private func settleEstimates(_ client: Client) async throws {
    guard client.isOnline, client.hasEstimates else { return }
    try await client.db.waitForPendingWrites()
    client.hasEstimates = false
  }

  private func readDocument(_ index: Int) async throws {
    let client = clients[index]
    try await settleEstimates(client)
    let path = client.isOnline ? random.pick(Self.collections) + "/d\(random.below(8))" : randomPath(for: index)
    // Unanswered writes of the other client may be there or not.
    try await flushOthers(index)
    guard isComplete(client) else { return }
    let expected = client.certain(local(client)[path], at: path)
    let document = try await client.db.document(path).getDocument(source: client.source)
    let found = client.certain(document.exists ? Self.fields(of: document) : nil, at: path)
    if found != expected {
      fault(
        "client \(index): \(path) is \(found.map { "\($0)" } ?? "missing"), not \(expected.map { "\($0)" } ?? "missing")"
      )
    }
    if document.metadata.isFromCache == client.isOnline {
      fault("client \(index): \(path) from cache: \(!client.isOnline)")
    }
    let isPending = client.queue.joined().contains { $0.path == path }
    if !client.isOnline, document.metadata.hasPendingWrites != isPending, expected != nil {
      fault("client \(index): \(path) has pending writes: \(!isPending)")
    }
  }

  private func readQuery(_ index: Int) async throws {
    let client = clients[index]
    guard isComplete(client) else { return }
    try await flushOthers(index)
    try await settleEstimates(client)
    let query = OracleQuery.random(&random)
    log("client \(index) reads \(query)")
    // A client that reads by listeners answers with the last snapshot of a listener of the same target.
    if client.isOnline, !client.isEmbedded, client.listeners.contains(where: { $0.query.target == query.target }) {
      return
    }
    // Nor does it know who takes the place of a result that its own write has taken out of a limit, until the answer.
    if client.isOnline, !client.isEmbedded, query.limit != nil { try await client.db.waitForPendingWrites() }
    let snapshot = try await query.query(of: client.db).getDocuments(source: client.source)
    let documents = local(client)
    let (found, expected) = (snapshot.documents.map(\.reference.path), query.results(documents))
    if found != expected {
      fault("client \(index): \(query) finds \(found), not \(expected) of \(documents.sorted { $0.key < $1.key })")
    }
    for document in snapshot.documents {
      let path = document.reference.path
      let (found, expected) = (
        client.certain(Self.fields(of: document), at: path), client.certain(documents[path], at: path)
      )
      if found != expected {
        fault("client \(index): \(query) finds \(path) as \(found ?? [:]), not \(expected ?? [:])")
      }
    }
    if snapshot.metadata.isFromCache == client.isOnline {
      fault("client \(index): \(query) from cache: \(!client.isOnline)")
    }
  }

  private func aggregate(_ index: Int) async throws {
    let client = clients[index]
    guard client.isOnline else { return }
    // Figures are the backend's alone.
    try await flush()
    var query = OracleQuery.random(&random)
    if query.limit?.isLast == true { query.limit = nil }
    let snapshot = try await query.query(of: client.db).count.getAggregation(source: .server)
    let expected = query.results(server).count
    if snapshot.count.intValue != expected {
      fault("client \(index): \(query) counts \(snapshot.count), not \(expected)")
    }
  }

  func flushOthers(_ index: Int) async throws {
    for (other, client) in clients.enumerated() where other != index && client.isOnline {
      try await client.db.waitForPendingWrites()
    }
  }
}

extension OracleWorld.Client {
  /// Offline the other sources throw for a document that is not there, and show what an open listener shows.
  fileprivate var source: FirestoreSource { isOnline ? .default : .cache }
}

extension TransactionOptions {
  /// More attempts than two clients need.
  fileprivate static var patient: TransactionOptions {
    let options = TransactionOptions()
    options.maxAttempts = 50
    return options
  }
}
