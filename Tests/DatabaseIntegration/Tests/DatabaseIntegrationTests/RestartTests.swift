import Testing
import VestaCore
import VestaDatabase
import VestaTesting

@testable import DatabaseCrashWorker

@Suite(.serialized, .timeLimit(.minutes(10))) struct RestartTests {
  @Test func `data, pending writes and kept data survive a restart of the app`() async throws {
    let directory = try TemporaryDirectory()
    let first = try Worker.app(in: directory.path, name: "restart")
    let database = Database.database(app: first)
    database.isPersistenceEnabled = true
    try await database.reference(withPath: "a").setValue(["x": 1], andPriority: "p")
    database.goOffline()
    let done = Gate()
    database.reference(withPath: "b").observe(.value) { if $0.exists() { done.open() } }
    later { database.reference(withPath: "b").setValue(2) }
    await done.wait()
    await first.delete()
    let second = try Worker.app(in: directory.path, name: "restart")
    let again = Database.database(app: second)
    again.isPersistenceEnabled = true
    let snapshot = try await again.reference(withPath: "a").getData()
    #expect(snapshot.value as? [String: Int] == ["x": 1] && snapshot.priority as? String == "p")
    #expect(try await again.reference(withPath: "b").getData().value as? Int == 2)
    await second.delete()
  }

  /// Runs code in which the forms with and without `async` are not to be confused.
  private func later(_ body: () -> Void) { body() }
}
