import Foundation
import Testing
import VestaCore
import VestaFirestore
import VestaTesting

/// Every async method returns, and throws, on the executor of its caller.
@Suite(.timeLimit(.minutes(15)))
struct ExecutorTests {
  private struct Failure: Error {}

  private typealias Operation = (name: String, body: @Sendable () async throws -> Void)

  private func check(_ operations: [Operation]) async {
    for (name, body) in operations {
      let violations = await ExecutorProbe.violations(body)
      #expect(violations == [], "\(name)")
    }
  }

  @Test func `reads keep the executor`() async throws {
    let app = try makeApp()
    let db = try Firestore.instance(for: app)
    let found = db.document("rooms/a")
    try await found.setData(["n": 1])
    let rooms = db.collection("rooms")
    await check([
      ("getDocument", { _ = try await found.getDocument() }),
      ("getDocument, cache", { _ = try await found.getDocument(source: .cache) }),
      ("getDocument, server", { _ = try await found.getDocument(source: .server) }),
      ("getDocument as a type", { _ = try await found.getDocument(as: [String: Int].self) }),
      ("getDocument as another type", { _ = try await found.getDocument(as: [String: String].self) }),
      ("getDocuments", { _ = try await rooms.getDocuments() }),
      ("getDocuments, cache", { _ = try await rooms.getDocuments(source: .cache) }),
      ("count", { _ = try await rooms.count.getAggregation(source: .server) }),
      ("getQuery", { _ = await db.getQuery(named: "none") }),
      ("loadBundle, refused", { _ = try await db.loadBundle(Data("nothing".utf8)) }),
    ])
    await app.delete()
  }

  @Test func `writes keep the executor`() async throws {
    let app = try makeApp()
    let db = try Firestore.instance(for: app)
    let (room, missing) = (db.document("rooms/a"), db.document("rooms/none"))
    await check([
      ("setData", { try await room.setData(["n": 1]) }),
      ("setData, refused", { try await room.setData(["__n__": 1]) }),
      ("setData with merge", { try await room.setData(["n": 1], merge: true) }),
      ("setData with fields", { try await room.setData(["n": 1], mergeFields: ["n"]) }),
      ("setData of a model", { try await room.setData(encoding: ["n": 1]) }),
      ("updateData", { try await room.updateData(["n": 2]) }),
      ("updateData, refused", { try await missing.updateData(["n": 2]) }),
      ("addDocument", { _ = try await db.collection("rooms").addDocument(data: ["n": 1]) }),
      ("local commit", { try await room.startSetData(["n": 1]).localCommit() }),
      ("acknowledgement", { try await room.startSetData(["n": 1]).acknowledgement() }),
      ("batch", { try await db.batch().setData(["n": 1], forDocument: room).commit() }),
      ("batch, refused", { try await db.batch().updateData(["n": 1], forDocument: missing).commit() }),
      ("delete", { try await room.delete() }),
    ])
    await app.delete()
  }

  @Test func `transactions keep the executor`() async throws {
    let app = try makeApp()
    let db = try Firestore.instance(for: app)
    let room = db.document("rooms/a")
    await check([
      (
        "runTransaction",
        {
          try await db.runTransaction { transaction in
            _ = try await transaction.document(room)
            transaction.setData(["n": 1], forDocument: room)
          }
        }
      ),
      ("runTransaction, refused", { try await db.runTransaction { _ in throw Failure() } }),
      (
        "runTransaction with a block",
        {
          _ = try await db.runTransaction { transaction, _ in
            transaction.setData(["n": 1], forDocument: room)
            return nil
          }
        }
      ),
    ])
    await app.delete()
  }

  @Test func `the life of an instance keeps the executor`() async throws {
    let app = try makeApp()
    let db = try Firestore.instance(for: app)
    await check([
      ("disableNetwork", { try await db.disableNetwork() }),
      ("getDocument without the network", { _ = try await db.document("rooms/a").getDocument() }),
      ("count without the network", { _ = try await db.collection("a").count.getAggregation(source: .server) }),
      ("enableNetwork", { try await db.enableNetwork() }),
      ("waitForPendingWrites", { try await db.waitForPendingWrites() }),
      ("clearPersistence, refused", { try await db.clearPersistence() }),
      ("terminate", { try await db.terminate() }),
      ("clearPersistence", { try await db.clearPersistence() }),
      ("getDocument after the end", { _ = try await db.document("rooms/a").getDocument() }),
      ("getDocuments after the end", { _ = try await db.collection("rooms").getDocuments() }),
      ("getDocuments after the end, cache", { _ = try await db.collection("rooms").getDocuments(source: .cache) }),
      ("setData after the end", { try await db.document("rooms/a").setData([:]) }),
      ("waitForPendingWrites after the end", { try await db.waitForPendingWrites() }),
      ("enableNetwork after the end", { try await db.enableNetwork() }),
    ])
    await app.delete()
  }
}
