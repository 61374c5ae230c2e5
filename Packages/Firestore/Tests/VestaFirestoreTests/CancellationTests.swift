import Foundation
import Testing
import VestaConcurrency
import VestaCore
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaFirestoreService
import VestaFirestoreSync
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaFirestore

/// Every asynchronous member ends its wait when its task is cancelled.
@Suite(.timeLimit(.minutes(15)))
struct CancellationTests {
  /// Makes clients whose calls wait for their context without end.
  private struct WaitingSource: FirestoreClientSource {
    let calls = Gate()
    private let engine = FirestoreEngine(store: ModelStore())

    func makeClient(
      database: DatabaseName, settings: FirestoreSettings.Values, after predecessor: Latch?
    ) throws -> SyncClient {
      var options = SyncOptions()
      // A read that waits counts as offline after a while, and a busy machine may take longer to cancel it.
      options.tuning.onlineSeconds = 3_600
      options.context = { [calls] _ in
        try await calls.pass()
        return CallContext()
      }
      return SyncClient(database: database, backend: engine, store: nil, options: options)
    }

    func clearCache(database: DatabaseName, settings: FirestoreSettings.Values) async throws {}
    func close() async {}
  }

  /// A member that waits for the backend, and how its wait ends.
  struct Member: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Streams end without an error.
    var isStream = false
    let wait: @Sendable (Firestore) async throws -> Void

    static let all: [Member] = reads + writes + transactions + streams

    private static let reads = [
      Member(testDescription: "getDocument") { _ = try await $0.document("a/b").getDocument() },
      Member(testDescription: "getDocument from the server") {
        _ = try await $0.document("a/b").getDocument(source: .server)
      },
      Member(testDescription: "getDocument, decoded") { _ = try await $0.document("a/b").getDocument(as: Int.self) },
      Member(testDescription: "getDocuments") { _ = try await $0.collection("a").getDocuments() },
      Member(testDescription: "getDocuments from the server") {
        _ = try await $0.collection("a").getDocuments(source: .server)
      },
      Member(testDescription: "getAggregation") {
        _ = try await $0.collection("a").count.getAggregation(source: .server)
      },
    ]

    private static let writes = [
      Member(testDescription: "setData") { try await $0.document("a/b").setData([:]) },
      Member(testDescription: "setData, encoded") { try await $0.document("a/b").setData(encoding: ["n": 1]) },
      Member(testDescription: "updateData") { try await $0.document("a/b").updateData(["n": 1]) },
      Member(testDescription: "delete") { try await $0.document("a/b").delete() },
      Member(testDescription: "addDocument") { _ = try await $0.collection("a").addDocument(data: [:]) },
      Member(testDescription: "acknowledgement") { try await $0.document("a/b").startSetData([:]).acknowledgement() },
      Member(testDescription: "commit") { db in
        let batch = db.batch()
        batch.setData([:], forDocument: db.document("a/b"))
        try await batch.commit()
      },
      Member(testDescription: "waitForPendingWrites") { db in
        _ = try db.document("a/b").startSetData([:])
        try await db.waitForPendingWrites()
      },
    ]

    private static let transactions = [
      Member(testDescription: "a transaction that reads") { db in
        try await db.runTransaction { transaction in _ = try await transaction.document(db.document("a/b")) }
      },
      Member(testDescription: "a transaction that commits") { db in
        try await db.runTransaction { transaction in
          _ = transaction.setData([:], forDocument: db.document("a/b"))
        }
      },
      Member(testDescription: "a transaction with a block that waits") { db in
        _ = try await db.runTransaction { transaction, error -> Any? in
          do { _ = try transaction.getDocument(db.document("a/b")) } catch let failure {
            error?.pointee = failure as NSError
          }
          return nil
        }
      },
    ]

    private static let streams = [
      Member(testDescription: "snapshots of a document", isStream: true) {
        for try await _ in $0.document("a/b").snapshots {}
      },
      Member(testDescription: "snapshots of a query", isStream: true) {
        for try await _ in $0.collection("a").snapshots {}
      },
      Member(testDescription: "decoded snapshots", isStream: true) {
        for try await _ in $0.collection("a").snapshots(as: [String: Int].self) {}
      },
      Member(testDescription: "snapshotsInSync", isStream: true) { for await _ in $0.snapshotsInSync {} },
    ]
  }

  @Test(arguments: Member.all, [false, true])
  func `a cancelled task waits for no member`(member: Member, isCancelledAtOnce: Bool) async throws {
    let app = try makeApp()
    let source = WaitingSource()
    let db = Firestore(app: app, database: DatabaseName(project: "demo"), source: source)
    let begun = Gate()
    let task = Task {
      begun.open()
      try await member.wait(db)
    }
    if !isCancelledAtOnce {
      try await begun.pass()
      for _ in 0..<20 { await Task.yield() }
    }
    task.cancel()
    if member.isStream {
      try await task.value
    } else {
      await #expect(throws: CancellationError.self) { try await task.value }
    }
    // The write of a cancelled task is sent all the same.
    source.calls.open()
    try await db.waitForPendingWrites()
    try await db.terminate()
    await app.delete()
  }
}
