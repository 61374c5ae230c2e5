import BenchmarkKit
import Foundation
import SQLiteBaseline
import VestaConcurrency
import VestaCore
import VestaFirestore
import VestaFirestoreService
import VestaSQLite

/// The cost of one part of a program to the others of its client, and the cost of many objects.
func clientCompanyLines() -> [Benchmark] {
  [
    line("transactions-1000-completion", .ratio(atMost: 1.5), completionTransactions, asyncTransactions),
    line("sets-beside-a-stalled-stream", .ratio(atMost: 1.2), setsBesideStream, setsAlone),
    line("merges-of-one-document-10k", .both(figure: 500, ratio: 1.5), merges(10_000), merges(1_000)),
    // At least a fifth of the rates of GRDB's Codable records, which are 0.16 of SQLite's own for inserts and 0.21 for
    // fetched rows. Rates in a second would judge the machine: SQLite itself varies by more than two from day to day.
    line("codable-save-10k", .ratio(atMost: 31.2), savedObjects, insertedRows),
    line("codable-fetch-10k", .ratio(atMost: 23.8), fetchedObjects, fetchedRows, rounds: 25),
  ]
}

/// A separate app for a run, so that runs do not make one another's database larger.
private func withApp<Result>(_ body: (Firestore) async throws -> Result) async throws -> Result {
  let base = ProcessInfo.processInfo.environment["VESTA_BENCH_DIR"] ?? FileManager.default.temporaryDirectory.path
  let directory = URL(fileURLWithPath: "\(base)/vesta-bench-company-\(UUID().uuidString)")
  defer { try? FileManager.default.removeItem(at: directory) }
  let options = VestaOptions(projectID: "bench", backend: .embedded(directory: directory))
  options.callbackQueue = DispatchQueue(label: "bench")
  let app = try VestaApp.configure(
    name: "bench-\(UUID().uuidString)", options: options,
    libraries: [FirestoreLibrary.self, FirestoreServiceLibrary.self, SQLiteLibrary.self])
  let result = try await body(Firestore.instance(for: app))
  await app.delete()
  return result
}

private let completionTransactions = Side("completion form", count: 1_000) { _, count, _ in
  try await withApp { db in
    let (left, done) = (Locked(count), Latch())
    for number in 0..<count {
      let document = db.document("notes/n\(number)")
      db.runTransaction({ transaction, error -> Any? in
        do {
          _ = try transaction.getDocument(document)
          transaction.setData(["n": number], forDocument: document)
        } catch let failure {
          error?.pointee = failure as NSError
        }
        return nil
      }) { _, error in
        if let error { preconditionFailure("\(error)") }
        let isLast = left.withLock { left in
          left -= 1
          return left == 0
        }
        if isLast { done.open() }
      }
    }
    await done.wait()
  }
}

private let asyncTransactions = Side("async form", count: 1_000) { _, count, _ in
  try await withApp { db in
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<count {
        group.addTask {
          try await db.runTransaction { transaction in
            let document = db.document("notes/n\(number)")
            _ = try await transaction.document(document)
            transaction.setData(["n": number], forDocument: document)
          }
        }
      }
      try await group.waitForAll()
    }
  }
}

private func sets(_ count: Int, isStalled: Bool) async throws {
  try await withApp { db in
    let items = db.collection("items")
    let batch = db.batch()
    for number in 0..<500 { batch.setData(["n": 0], forDocument: items.document("i\(number)")) }
    try await batch.commit()
    let registration = items.addSnapshotListener { _, _ in }
    let stream = isStalled ? items.snapshots : nil
    for number in 0..<count { try await items.document("i\(number % 500)").setData(["n": number]) }
    registration.remove()
    withExtendedLifetime(stream) {}
  }
}

private let setsBesideStream = Side("beside a stream that is not read", count: 2_000) { _, count, _ in
  try await sets(count, isStalled: true)
}

private let setsAlone = Side("without", count: 2_000) { _, count, _ in try await sets(count, isStalled: false) }

private func merges(_ number: Int) -> Side {
  Side("\(number) merges offline, then sent", count: number) { _, count, _ in
    try await withApp { db in
      try await db.disableNetwork()
      let document = db.document("notes/a")
      for index in 0..<count { document.setData(["f\(index % 8)": index], merge: true, completion: nil) }
      try await db.enableNetwork()
      try await db.waitForPendingWrites()
    }
  }
}

/// The row of GRDB's figures: five columns.
private struct Player: Codable {
  var id: Int
  var name: String
  var score: Int
  var rate: Double
  var team: String

  init(_ number: Int) {
    (id, name, score, rate, team) = (number, "Player \(number)", number * 7 % 1_000, Double(number) / 3, "red")
  }
}

private func save(_ players: [Player], in db: Firestore) async throws {
  for first in stride(from: 0, to: players.count, by: 500) {
    let batch = db.batch()
    for player in players[first..<min(first + 500, players.count)] {
      try batch.setData(from: player, forDocument: db.document("players/p\(player.id)"))
    }
    try await batch.commit()
  }
}

private let savedObjects = Side("saved in batches of 500", count: 10_000) { _, count, _ in
  try await withApp { try await save((0..<count).map(Player.init), in: $0) }
}

private let insertedRows = Side("SQLite by hand, one transaction", count: 100_000) { _, count, _ in
  _ = rawPlayers(count, isFresh: true)
}

private let fetching = Locked<Firestore?>(nil)

private let fetchedObjects = Side("fetched and decoded by one query", count: 10_000) { _, count, _ in
  let db = try await playersForFetching(count)
  let players = try await db.collection("players").getDocuments().documents.map { try $0.data(as: Player.self) }
  precondition(players.count == count)
}

private func playersForFetching(_ count: Int) async throws -> Firestore {
  if let db = fetching.withLock({ $0 }) { return db }
  let base = ProcessInfo.processInfo.environment["VESTA_BENCH_DIR"] ?? FileManager.default.temporaryDirectory.path
  let directory = URL(fileURLWithPath: "\(base)/vesta-bench-players-\(UUID().uuidString)")
  let app = try VestaApp.configure(
    name: "bench-players", options: VestaOptions(projectID: "bench", backend: .embedded(directory: directory)),
    libraries: [FirestoreLibrary.self, FirestoreServiceLibrary.self, SQLiteLibrary.self])
  let db = try Firestore.instance(for: app)
  try await save((0..<count).map(Player.init), in: db)
  fetching.withLock { $0 = db }
  return db
}

private let fetchedRows = Side(
  "SQLite by hand", count: 100_000, prepare: { _ in _ = rawPlayers(100_000) }
) { _, count, _ in
  precondition(rawPlayers(count).fetch().count == count)
}

private let raw = Locked<RawPlayers?>(nil)

/// The same rows in a table of SQLite.
private func rawPlayers(_ count: Int, isFresh: Bool = false) -> RawPlayers {
  if !isFresh, let players = raw.withLock({ $0 }) { return players }
  let base = ProcessInfo.processInfo.environment["VESTA_BENCH_DIR"] ?? FileManager.default.temporaryDirectory.path
  let players = RawPlayers(path: "\(base)/vesta-bench-players-\(UUID().uuidString).db")
  players.insert((0..<count).map { RawPlayers.Player(Player($0)) })
  raw.withLock { $0 = players }
  return players
}

extension RawPlayers.Player {
  fileprivate init(_ player: Player) {
    self.init(id: player.id, name: player.name, score: player.score, rate: player.rate, team: player.team)
  }
}
