import Foundation
import Testing
import VestaAuthInterop
import VestaAuthInteropFakes
import VestaConcurrency
import VestaCore
import VestaFirestore
import VestaFirestoreService
import VestaTesting

/// Calls with completion handlers that are made one after the other and not waited for: they begin in this order.
@Suite(.timeLimit(.minutes(15)))
struct CallOrderTests {
  /// Brings a fake of Auth.
  private enum FakeAuthLibrary: Library {
    static let name = "test-auth"
    static let version = "1"

    static func components() -> [Component] {
      [
        Component((any AuthInterop).self) { _, isCacheable in
          isCacheable = true
          return FakeAuth()
        }
      ]
    }
  }

  @Test func `the last of several calls that change the network counts`() async throws {
    let app = try makeApp()
    let db = try Firestore.instance(for: app)
    let note = db.document("notes/a")
    try await note.setData(["n": 0])
    for round in 0..<60 {
      let done = Log<String>()
      db.disableNetwork { _ in done.add("off") }
      db.enableNetwork { _ in done.add("on") }
      if round % 2 == 0 { db.disableNetwork { _ in done.add("off") } }
      await done.wait(for: round % 2 == 0 ? 3 : 2)
      #expect(try await note.getDocument().metadata.isFromCache == (round % 2 == 0), "round \(round)")
      try await db.enableNetwork()
    }
    await app.delete()
  }

  @Test func `calls after disableNetwork find the network disabled`() async throws {
    let app = try makeApp()
    let db = try Firestore.instance(for: app)
    let note = db.document("notes/a")
    try await note.setData(["n": 0])
    for round in 0..<60 {
      db.disableNetwork(completion: nil)
      #expect(try await note.getDocument().metadata.isFromCache, "round \(round)")
      db.enableNetwork(completion: nil)
      try await note.setData(["n": round])
      #expect(try await !note.getDocument().metadata.isFromCache, "round \(round)")
    }
    await app.delete()
  }

  @Test func `waiting for pending writes is for the user who was signed in`() async throws {
    let directory = URL(filePath: NSTemporaryDirectory()).appending(path: "firestore-order-\(getpid())")
    let app = try VestaApp.configure(
      name: "firestore-order", options: VestaOptions(projectID: "order", backend: .embedded(directory: directory)),
      libraries: [FirestoreLibrary.self, FirestoreServiceLibrary.self, MemoryStoresLibrary.self, FakeAuthLibrary.self])
    let auth = try #require(try app.container.require((any AuthInterop).self) as? FakeAuth)
    let db = try Firestore.instance(for: app)
    try await db.disableNetwork()
    for round in 0..<40 {
      auth.signIn("alice")
      // The client has been notified: its writes are alice's.
      let changed = Latch()
      let registration = auth.addTokenListener { if $0.userID == "alice" { changed.open() } }
      await changed.wait()
      registration.cancel()
      db.document("notes/a").setData(["n": round], completion: nil)
      let answer = Log<FirestoreErrorCode.Code?>()
      db.waitForPendingWrites { answer.add(($0 as? FirestoreErrorCode)?.code) }
      auth.signIn("bob")
      await answer.wait(for: 1)
      #expect(answer.entries == [.cancelled], "round \(round)")
    }
    await app.delete()
  }

  @Test func `a write that follows a change of the user at once is the new user's`() async throws {
    let directory = URL(filePath: NSTemporaryDirectory()).appending(path: "firestore-user-\(getpid())")
    let app = try VestaApp.configure(
      name: "firestore-user", options: VestaOptions(projectID: "user", backend: .embedded(directory: directory)),
      libraries: [FirestoreLibrary.self, FirestoreServiceLibrary.self, MemoryStoresLibrary.self, FakeAuthLibrary.self])
    let auth = try #require(try app.container.require((any AuthInterop).self) as? FakeAuth)
    let db = try Firestore.instance(for: app)
    try await db.disableNetwork()
    for round in 0..<200 {
      auth.signIn("alice-\(round)")
      db.document("notes/hers-\(round)").setData(["n": round], completion: nil)
      auth.signOut()
      db.document("notes/nobodys-\(round)").setData(["n": round], completion: nil)
      // All notifications have arrived.
      let notified = Latch()
      let registration = auth.addTokenListener { _ in notified.open() }
      await notified.wait()
      registration.cancel()
    }
    let names = try await db.collection("notes").getDocuments(source: .cache).documents.map(\.documentID)
    #expect(Set(names) == Set((0..<200).map { "nobodys-\($0)" }))
    await app.delete()
  }
}
