import FirebaseCore
import FirebaseFirestore
import Foundation
import Testing

/// Runs the sample program against an app that was configured as the Firebase SDK's users configure theirs.
@Suite(.serialized) struct FirestoreProgramTests {
  @Test func `a program written for the Firebase SDK runs as it is`() async throws {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("vesta-compat-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }
    let options = FirebaseOptions(projectID: "compat", backend: .embedded(directory: directory))
    let name = "firestore-\(UUID().uuidString)"
    FirebaseApp.configure(name: name, options: options)
    let app = try #require(FirebaseApp.app(name: name))
    let db = Firestore.firestore(app: app)
    let settings = db.settings
    settings.dispatchQueue = DispatchQueue(label: "compat")
    db.settings = settings
    let book = CityBook(db: db)

    book.fireAndForget()
    try await db.waitForPendingWrites()
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, Error>) in
      book.batch { error in
        if let error = error { continuation.resume(throwing: error) } else { continuation.resume() }
      }
    }
    let sanFrancisco = await withCheckedContinuation { continuation in
      book.read("SF") { continuation.resume(returning: ($0?["population"] as? Int) ?? -1) }
    }
    #expect(sanFrancisco == 860_000)
    let largest = await withCheckedContinuation { continuation in book.largest { continuation.resume(returning: $0) } }
    #expect(largest == ["New York", "San Francisco"])
    let moved: Int? = try await withCheckedThrowingContinuation { continuation in
      book.transfer { count, error in
        if let error = error { continuation.resume(throwing: error) } else { continuation.resume(returning: count) }
      }
    }
    #expect(moved == 860_001)
    #expect(try await book.increments() == 860_002)
    let code = await withCheckedContinuation { continuation in
      book.updateMissing { continuation.resume(returning: $0) }
    }
    #expect(code == .notFound)
    let cities = try await book.modern()
    #expect(cities.map(\.name).sorted() == ["Berlin", "New York"])
    #expect(try await book.pages().count == 3)
    _ = await app.delete()
  }

  @Test func `a listener receives additions and changes, and nothing after it was removed`() async throws {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("vesta-compat-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }
    let options = FirebaseOptions(projectID: "compat", backend: .embedded(directory: directory))
    let name = "listener-\(UUID().uuidString)"
    FirebaseApp.configure(name: name, options: options)
    let app = try #require(FirebaseApp.app(name: name))
    let db = Firestore.firestore(app: app)
    let settings = db.settings
    settings.dispatchQueue = DispatchQueue(label: "compat")
    db.settings = settings
    let book = CityBook(db: db)
    let (changes, continuation) = AsyncStream.makeStream(of: String.self)
    book.listen { type, id in continuation.yield("\(type) \(id)") }
    var iterator = changes.makeAsyncIterator()
    try await book.cities.document("A").setData(["population": 1])
    #expect(await iterator.next() == "added A")
    try await book.cities.document("A").updateData(["population": 2])
    #expect(await iterator.next() == "modified A")
    book.stop()
    try await book.cities.document("A").delete()
    continuation.finish()
    #expect(await iterator.next() == nil)
    _ = await app.delete()
  }
}
