import Foundation
import VestaConcurrency
import VestaCore
import VestaFirestore
import VestaTesting

/// The steps of a history.
extension EverydayWorld {
  func step() async throws {
    let client = random.pick(clients)
    switch random.below(24) {
    case 0..<9: for _ in 0..<1 + random.below(4) { try write(client) }
    case 9: writeInCallback(client)
    case 10: listenInCallback(client)
    case 11: transact(client)
    case 12..<14: try await changeNetwork(client)
    case 14..<16: changeUser(client)
    case 16: wait(client)
    case 17..<19: read(client)
    case 19: stream(client)
    case 20: try await terminate(client)
    case 21: try await clear(client)
    case 22: try await restart(client)
    default: try kill(client)
    }
    for _ in 0..<random.below(30) { await Task.yield() }
  }

  // MARK: Writes

  private func name(_ client: Client, _ text: String) -> String { "\(text) of client \(client.index)" }

  /// A batch that is not waited for.
  private func write(_ client: Client) throws {
    let write = ledger.add(
      client: client.index, user: client.auth.getUserID(), note: random.below(3), isOffline: client.isOffline)
    log("\(name(client, "write")): \(write)")
    let pending = try Self.batch(write, client.db).startCommit()
    let ledger = ledger
    work.run(name(client, "commit \(write.number)")) {
      try await pending.localCommit()
      ledger.noteSafe(write.number)
    }
    work.run(name(client, "acknowledgement \(write.number)")) {
      try await pending.acknowledgement()
      ledger.noteAcknowledged(write.number)
    }
  }

  private static func batch(_ write: EverydayLedger.Write, _ db: Firestore) -> WriteBatch {
    let batch = db.batch()
    let (number, one) = (FieldValue.arrayUnion([write.number]), FieldValue.increment(Int64(1)))
    batch.setData(["numbers": number], forDocument: db.document("logs/\(write.log)"), merge: true)
    batch.setData(["n": one], forDocument: db.document("counters/writes"), merge: true)
    batch.setData(["number": write.number], forDocument: db.document("notes/\(write.note)"))
    return batch
  }

  /// A write whose handler writes and reads.
  private func writeInCallback(_ client: Client) {
    log(name(client, "write and read in a handler"))
    let (db, work) = (client.db, work)
    let end = work.begin(name(client, "handler"))
    db.document("other/a").setData(["n": 1]) { _ in
      db.document("other/b").setData(["n": 2], completion: nil)
      db.document("other/a").getDocument { _, _ in end() }
    }
  }

  /// A listener that adds another one from its callback, and leaves.
  private func listenInCallback(_ client: Client) {
    log(name(client, "listeners in callbacks"))
    let (db, limit) = (client.db, 1 + random.below(3))
    let first = Locked<(any VestaFirestore.ListenerRegistration)?>(nil)
    let registration = db.collection("notes").limit(to: limit).addSnapshotListener { _, _ in
      guard let own = first.withLock({ $0.take() }) else { return }
      own.remove()
      let second = Locked<(any VestaFirestore.ListenerRegistration)?>(nil)
      let next = db.collection("notes").order(by: "number", descending: true).limit(to: limit)
        .addSnapshotListener { _, _ in second.withLock { $0.take() }?.remove() }
      second.withLock { $0 = next }
    }
    first.withLock { $0 = registration }
  }

  /// A transaction that begins in the handler of another one.
  private func transact(_ client: Client) {
    log(name(client, "transactions"))
    let (db, transactions) = (client.db, transactions)
    let end = work.begin(name(client, "transactions"))
    let counter = db.document("counters/transactions")
    let block: @Sendable (Transaction, NSErrorPointer) -> Any? = { transaction, error in
      do {
        let count = try transaction.getDocument(counter).get("n") as? Int ?? 0
        // Each attempt may have been committed, though its answer was lost.
        transactions.withLock { $0.begun += 1 }
        transaction.setData(["n": count + 1], forDocument: counter)
      } catch let failure {
        error?.pointee = failure as NSError
      }
      return nil
    }
    @Sendable func note(_ error: (any Error)?) { if error == nil { transactions.withLock { $0.committed += 1 } } }
    db.runTransaction(block) { _, error in
      note(error)
      db.runTransaction(block) { _, error in
        note(error)
        end()
      }
    }
  }

  // MARK: Network and users

  private func changeNetwork(_ client: Client) async throws {
    let form = random.below(4)
    log(name(client, "network \(form)"))
    let db = client.db
    switch form {
    case 0:
      try await db.disableNetwork()
      client.isOffline = true
    case 1:
      db.disableNetwork(completion: nil)
      client.isOffline = true
    case 2:
      ledger.noteOnline(client.index)
      client.isOffline = false
      db.enableNetwork(completion: nil)
    default:
      ledger.noteOnline(client.index)
      db.disableNetwork(completion: nil)
      db.enableNetwork(completion: nil)
      client.isOffline = false
    }
  }

  private func changeUser(_ client: Client) {
    let user = random.pick([nil] + EverydayWorld.users)
    log(name(client, "user \(user ?? "none")"))
    client.auth.signIn(user)
  }

  private func wait(_ client: Client) {
    let db = client.db
    work.run(name(client, "waiting for writes")) { try await db.waitForPendingWrites() }
  }

  // MARK: Reads

  private func read(_ client: Client) {
    let (db, source) = (client.db, random.pick([FirestoreSource.default, .cache, .server]))
    let note = db.document("notes/c0-none-0")
    work.run(name(client, "read of a document")) { _ = try await note.getDocument(source: source) }
    work.run(name(client, "query")) {
      _ = try await db.collection("notes").order(by: "number").limit(to: 2).getDocuments(source: source)
    }
    if random.oneIn(2) {
      work.run(name(client, "count")) { _ = try await db.collection("notes").count.getAggregation(source: .server) }
    }
  }

  /// A stream that is left after a snapshot, or after some if there are as many, or with its client.
  private func stream(_ client: Client) {
    let (db, count) = (client.db, random.oneIn(2) ? random.below(3) : .max)
    log(name(client, "stream of \(count)"))
    (count > 1 ? streams : work).run(name(client, "stream of \(count)")) {
      var left = count
      for try await _ in db.collection("notes").limit(to: 2).snapshots {
        left -= 1
        if left <= 0 { break }
      }
    }
  }

  // MARK: Ends

  private func terminate(_ client: Client) async throws {
    log(name(client, "terminate"))
    if random.oneIn(2) { try await client.db.terminate() } else { client.db.terminate(completion: nil) }
    // The next instance begins online.
    ledger.noteOnline(client.index)
    try client.renew()
  }

  private func clear(_ client: Client) async throws {
    log(name(client, "clear"))
    let old = client.db
    try await old.terminate()
    ledger.noteCleared(client.index)
    try await old.clearPersistence()
    try client.renew()
  }

  private func restart(_ client: Client) async throws {
    log(name(client, "delete the app"))
    ledger.noteOnline(client.index)
    await client.app.delete()
    try client.begin(engine, &random)
  }

  private func kill(_ client: Client) throws {
    log(name(client, "kill"))
    client.process.kill()
    ledger.noteKilled(client.index)
    ledger.noteOnline(client.index)
    let app = client.app
    work.run(name(client, "end of a killed process")) { await app.delete() }
    try client.begin(engine, &random)
  }
}
