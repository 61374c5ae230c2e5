import BenchmarkKit
import SQLiteBaseline
import VestaConcurrency
import VestaFirestoreBackend

private let documents = 10_000

/// Sets, batches and transactions.
func writeLines() -> [Benchmark] {
  [
    line("set", .ratio(atMost: 1.4), sets(from: 1, count: 1_000), rawUpdates(count: 1_000, per: 1)),
    line("set-beside-two-rows", .none, sets(from: 1, count: 1_000), rawUpdates(count: 1_000, per: 1, logging: true)),
    line("set-32-tasks", .ratio(atMost: 1 / 0.5), sets(from: 32, count: 4_000), rawUpdates(count: 1_000, per: 1)),
    line("batch-500", .ratio(atMost: 1 / 0.2), batches(count: 10_000), rawUpdates(count: 10_000, per: 500)),
    line("transaction-read", .ratio(atMost: 3), transactionReads(20_000), transactionReads(1_000)),
    line("transaction-beside-writes", .none, transactions(besideWrites: true), transactions(besideWrites: false)),
    line("counter-32-clients", .none, increments(count: 2_000), rawUpdates(count: 1_000, per: 1)),
  ]
}

private let logIsLong = Locked(false)

/// Writes until the log has its length, as that of SQLite by hand has from the filling of its table; what commits cost
/// until then is the line `store-first-puts`.
private func fillLog(_ bench: FirestoreBench) async throws {
  try await bench.fill("writes", documents)
  if logIsLong.withLock({ $0 }) { return }
  for number in 0..<2_500 {
    let document = Items.document(number, in: FirestoreBench.root("writes"), seed: -1)
    try await bench.commit([.update(document)], in: "writes")
  }
  logIsLong.withLock { $0 = true }
}

private func sets(from tasks: Int, count: Int) -> Side {
  Side("set, \(tasks) task\(tasks == 1 ? "" : "s")", count: count, prepare: fillLog) { bench, count, seed in
    let root = FirestoreBench.root("writes")
    try await fromTasks(tasks, count) { index in
      let number = Workload.mix(seed &+ index) % documents
      try await bench.commit([.update(Items.document(number, in: root, seed: seed &+ index))], in: "writes")
    }
  }
}

private func batches(count: Int) -> Side {
  Side("batch of 500, each", count: count, prepare: { try await $0.fill("writes", documents) }) { bench, count, seed in
    let root = FirestoreBench.root("writes")
    for first in stride(from: 0, to: count, by: 500) {
      let start = Workload.mix(seed &+ first)
      let writes = (0..<500).map { index in
        // Far apart and each once, as 7919 and the number of documents have no common factor.
        Write.update(Items.document((start % documents + index * 7_919) % documents, in: root, seed: seed &+ first))
      }
      try await bench.commit(writes, in: "writes")
    }
  }
}

/// Reads each row and writes it anew, a number of them in a transaction.
///
/// - Parameter logging: Whether a second row is added to the end of the table each time, as every history of changes
///   needs.
private func rawUpdates(count: Int, per transaction: Int, logging: Bool = false) -> Side {
  let name = logging ? "raw get and two puts" : "raw get and put"
  return Side("\(name), \(transaction) a commit", count: count) { bench, count, seed in
    for first in stride(from: 0, to: count, by: transaction) {
      bench.raw.begin()
      for index in first..<first + transaction {
        let key = Workload.key(Workload.mix(seed &+ index) % documents)
        _ = bench.raw.get(key)
        bench.raw.put(Workload.value(seed &+ index, length: Items.rowLength), for: key)
        if logging { bench.raw.put(Workload.value(seed &- index, length: Items.rowLength), for: logKey()) }
      }
      bench.raw.commit()
    }
  }
}

private let logged = Locked(0)

/// A key after the keys of all rows, and after the previous one.
private func logKey() -> [UInt8] {
  let number = logged.withLock { logged in
    logged += 1
    return logged
  }
  return [UInt8](repeating: 0xFF, count: 8) + (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
}

/// Transactions that read a number and write the next one, until each has succeeded.
private func increments(count: Int) -> Side {
  let name = "\(FirestoreBench.root("counter"))/counters/one"
  let zero: @Sendable (FirestoreBench) async throws -> Void = { bench in
    try await bench.commit([.update(Document(name: name, fields: ["n": .integer(0)]))], in: "counter")
  }
  return Side("transaction, 32 clients", count: count, prepare: zero) { bench, count, _ in
    try await fromTasks(32, count) { _ in
      while true {
        do {
          let read = try await bench.get(name, in: "counter", consistency: .newTransaction(.readWrite()))
          guard case .integer(let number)? = read.document?.fields["n"] else { preconditionFailure("no number") }
          let write = Write.update(Document(name: name, fields: ["n": .integer(number + 1)]))
          try await bench.commit([write], in: "counter", transaction: read.transaction)
          return
        } catch let error as FirestoreServiceError where error.code == .aborted {}
      }
    }
    let end = try await bench.get(name, in: "counter").document?.fields["n"]
    precondition(end == .integer(Int64(count)), "increments were lost: \(String(describing: end))")
  }
}

/// Reads documents by name in one transaction; the figure is for one document, so the cost is linear where both columns
/// have the same.
private func transactionReads(_ size: Int) -> Side {
  Side("of \(size) in a transaction, each", count: 20_000, prepare: { try await $0.fill("writes", documents) }) {
    bench, count, _ in
    let names = (0..<size).map { Items.document($0, in: FirestoreBench.root("writes")).name }
    for _ in 0..<count / size { try await bench.readTogether(names, in: "writes") }
  }
}

/// Transactions that read a document and write it, until each has succeeded; concurrently a caller sets the
/// same document every two milliseconds outside of transactions.
private func transactions(besideWrites: Bool) -> Side {
  let name = "\(FirestoreBench.root("fair"))/counters/one"
  let write: @Sendable (Int64) -> Write = { .update(Document(name: name, fields: ["n": .integer($0)])) }
  return Side(
    besideWrites ? "transaction beside plain writes" : "transaction alone", count: 200,
    prepare: { try await $0.commit([write(0)], in: "fair") }
  ) { bench, count, seed in
    let neighbour = Task {
      var number: Int64 = 0
      while besideWrites, !Task.isCancelled {
        number += 1
        try await bench.commit([write(-number)], in: "fair")
        try await Task.sleep(for: .milliseconds(2))
      }
    }
    for index in 0..<count {
      while true {
        do {
          let read = try await bench.get(name, in: "fair", consistency: .newTransaction(.readWrite()))
          try await bench.commit([write(Int64(seed &+ index))], in: "fair", transaction: read.transaction)
          break
        } catch let error as FirestoreServiceError where error.code == .aborted {}
      }
    }
    neighbour.cancel()
    _ = await neighbour.result
  }
}
