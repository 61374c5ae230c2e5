import Foundation
import Testing
import VestaAuthInterop
import VestaConcurrency
import VestaCore
import VestaFirestore
import VestaFirestoreBackend
import VestaTesting

/// Users in quick turns while instances end and begin, and while code of the app calls Firestore from a listener of
/// Auth, and Auth from a listener of Firestore.
@Suite(.timeLimit(.minutes(15)))
struct UserLifecycleTests {
  /// Brings an Auth whose notifications are late, and a backend that notes who sends.
  private enum SenderLibrary: Library {
    static let name = "test-sender"
    static let version = "1"

    static func components() -> [Component] {
      [
        Component((any AuthInterop).self) { _, isCacheable in
          isCacheable = true
          return LateAuth()
        },
        Component((any FirestoreBackend).self) { _, isCacheable in
          isCacheable = true
          return SenderBackend()
        },
      ]
    }
  }

  /// The app, and the model: the owner of each note.
  private struct Scene: Sendable {
    let app: VestaApp
    let auth: LateAuth
    let backend: SenderBackend
    let owners = Locked<[String: String?]>([:])
    let refused = Log<String>()

    init(_ name: String) throws {
      let directory = URL(filePath: NSTemporaryDirectory()).appending(path: "firestore-\(name)-\(getpid())")
      app = try VestaApp.configure(
        name: name, options: VestaOptions(projectID: name, backend: .embedded(directory: directory)),
        libraries: [FirestoreLibrary.self, MemoryStoresLibrary.self, SenderLibrary.self])
      auth = try #require(try app.container.require((any AuthInterop).self) as? LateAuth)
      backend = try #require(try app.container.require((any FirestoreBackend).self) as? SenderBackend)
    }

    /// Signs a user in: not between the look at the user and the write of another thread.
    func sign(in user: String?) { owners.withLock { _ in auth.sign(in: user) } }

    /// Writes a note of the user who is signed in, without waiting.
    func write() throws {
      let db = try Firestore.instance(for: app)
      owners.withLock { [refused] owners in
        let note = "note-\(owners.count)"
        owners[note] = .some(auth.getUserID())
        let once = ["n": FieldValue.increment(Int64(1))]
        db.document("notes/\(note)").setData(once, merge: true) { error in
          // Its instance had ended.
          if (error as? FirestoreErrorCode)?.code == .failedPrecondition { refused.add(note) }
        }
      }
    }

    /// Has the app write from a listener of Auth, and ask Auth from a listener of Firestore.
    func listen() throws -> [any VestaFirestore.ListenerRegistration] {
      let notes = try Firestore.instance(for: app).collection("notes")
      return [
        auth.addTokenListener { _ in try? write() },
        notes.addSnapshotListener(includeMetadataChanges: true) { _, _ in
          auth.deliver()
          _ = auth.getUserID()
        },
      ]
    }

    func verify(isWhole: Bool, _ name: Comment) async throws {
      let owners = owners.withLock { $0 }
      for sent in backend.sent.entries { #expect(owners[sent.document] == .some(sent.user), name) }
      let found = try await Firestore.instance(for: app).collection("notes").getDocuments(source: .server).documents
      #expect(found.allSatisfy { $0.get("n") as? Int64 == 1 }, name)
      if isWhole { #expect(Set(found.map(\.documentID)) == Set(owners.keys).subtracting(refused.entries), name) }
    }
  }

  private static func end(_ scene: Scene, clears: Bool) throws -> Task<Void, Never> {
    let db = try Firestore.instance(for: scene.app)
    return Task {
      try? await db.terminate()
      if clears { try? await db.clearPersistence() }
    }
  }

  @Test(arguments: [false, true])
  func `instances end and begin among the turns of users`(clears: Bool) async throws {
    for seed: UInt64 in 0..<20 {
      var random = SplitMix(seed: seed)
      let scene = try Scene("turns-\(clears)-\(seed)")
      var (listeners, ends) = (try scene.listen(), [Task<Void, Never>]())
      for _ in 0..<60 {
        switch random.below(12) {
        case 0..<3: scene.sign(in: random.pick(["alice", "bob", nil]))
        case 3..<7: try scene.write()
        case 7, 8: scene.auth.deliver(random.below(4), isKept: random.oneIn(4))
        case 9:
          ends.append(try Self.end(scene, clears: clears))
          if random.oneIn(2) { await ends.last?.value }
        case 10: listeners += try scene.listen()
        default: try await Firestore.instance(for: scene.app).enableNetwork()
        }
      }
      for listener in listeners { listener.remove() }
      for end in ends { await end.value }
      for user in ["alice", "bob", nil] {
        scene.sign(in: user)
        try await Firestore.instance(for: scene.app).waitForPendingWrites()
      }
      try await scene.verify(isWhole: !clears, "seed \(seed)")
      await scene.app.delete()
    }
  }
}
