import Dispatch
import Foundation
import Testing
import VestaConcurrency
import VestaCore
import VestaFirestore
import VestaTesting

/// The end of an instance, and the next one.
@Suite(.timeLimit(.minutes(15)))
struct LifecycleTests {
  private let app: VestaApp
  private let db: Firestore

  init() throws {
    app = try makeApp()
    db = try Firestore.instance(for: app)
  }

  /// A stream of the instance, reduced to its end.
  enum Stream: CaseIterable {
    case document, query, decodedDocument, decodedQuery, inSync
  }

  private struct Note: Codable { var text: String? }

  /// Iterates a stream to its end.
  private func exhaust(_ stream: Stream, began: @escaping @Sendable () -> Void) async throws {
    let (note, notes) = (db.document("notes/a"), db.collection("notes"))
    switch stream {
    case .document: for try await _ in note.snapshots { began() }
    case .query: for try await _ in notes.snapshots { began() }
    case .decodedDocument: for try await _ in note.snapshots(as: Note.self) { began() }
    case .decodedQuery: for try await _ in notes.snapshots(as: Note.self) { began() }
    case .inSync: for await _ in db.snapshotsInSync { began() }
    }
  }

  @Test(arguments: Stream.allCases, [true, false])
  func `a stream ends with its instance and with its app`(stream: Stream, isDeleted: Bool) async throws {
    let began = Gate()
    let task = Task { try await exhaust(stream) { began.open() } }
    try await began.pass()
    if isDeleted { await app.delete() } else { try await db.terminate() }
    try await task.value
    // One that is made later ends at once, or throws.
    _ = await Task { try await exhaust(stream) {} }.result
    await app.delete()
  }

  @Test func `after the end there is a new instance, which works`() async throws {
    try await db.document("notes/a").setData(["text": "a"])
    try await db.terminate()
    let next = try Firestore.instance(for: app)
    #expect(next !== db)
    // Its settings can be changed: it was not used before.
    next.settings = next.settings
    #expect(try await next.document("notes/a").getDocument().exists)
    let ended = await #expect(throws: FirestoreErrorCode.self) { try await db.document("notes/a").getDocument() }
    #expect(ended?.message.contains("Call Firestore.firestore() again for a new instance") == true)
    try await next.terminate()
    try await db.terminate()
    #expect(try Firestore.instance(for: app) !== next)
    await app.delete()
  }

  @Test func `the new instance has what was pending in the old one`() async throws {
    try await db.disableNetwork()
    db.document("notes/a").setData(["text": "a"], completion: nil)
    // Not awaited: the next client waits for the rows of this one.
    db.terminate(completion: nil)
    let next = try Firestore.instance(for: app)
    try await next.waitForPendingWrites()
    #expect(try await next.document("notes/a").getDocument().exists)
    await app.delete()
  }

  @Test func `terminate, clear, begin anew`() async throws {
    try await db.disableNetwork()
    db.document("notes/a").setData(["text": "a"], completion: nil)
    await #expect(throws: FirestoreErrorCode.self) { try await db.clearPersistence() }
    try await db.terminate()
    try await db.clearPersistence()
    let next = try Firestore.instance(for: app)
    #expect(try await !next.document("notes/a").getDocument().exists)
    // Another client is running on the cache now.
    await #expect(throws: FirestoreErrorCode.self) { try await db.clearPersistence() }
    await app.delete()
  }

  @Test(arguments: [true, false])
  func `reads that have begun are answered before the end`(isDeleted: Bool) async throws {
    try await db.document("notes/a").setData(["text": "a"])
    let log = Log<String>()
    let done = Gate()
    let note = { @Sendable (name: String, error: (any Error)?) in log.add("\(name) \(error.map { "\($0)" } ?? "read")")
    }
    for source in [FirestoreSource.default, .cache, .server] {
      db.document("notes/a").getDocument(source: source) { note("document", $1) }
      db.collection("notes").getDocuments(source: source) { note("query", $1) }
    }
    db.collection("notes").count.getAggregation(source: .server) { note("count", $1) }
    if isDeleted {
      await app.delete()
      // The handlers are in the main queue before this.
      DispatchQueue.main.async { done.open() }
    } else {
      db.terminate { _ in
        log.add("end")
        done.open()
      }
    }
    try await done.pass()
    // A call that a network answers may fail with the end, a call that the cache or an engine in the process answers
    // does not.
    let answered = log.entries.filter { $0.hasSuffix("read") }.count
    #expect(Wire.isAsked ? (2...7).contains(answered) : answered == 7)
    #expect(log.entries.filter { $0 != "end" }.count == 7)
    if !isDeleted { #expect(log.entries.last == "end") }
    await app.delete()
  }

  @Test func `the manager of the indexes is one object`() async throws {
    let manager = try #require(db.persistentCacheIndexManager)
    #expect(manager == db.persistentCacheIndexManager && manager === db.persistentCacheIndexManager)
    await app.delete()
  }

  @Test func `an empty bundle fails with the code of the Firebase SDK`() async throws {
    await #expect { try await db.loadBundle(Data()) } throws: { ($0 as? FirestoreErrorCode)?.code == .unknown }
    await app.delete()
  }
}
