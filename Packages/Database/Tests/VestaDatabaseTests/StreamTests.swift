import Testing
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaTesting

@testable import VestaDatabase
@testable import VestaDatabaseService

@Suite(.timeLimit(.minutes(1)))
struct StreamTests {
  private func observerCount(_ client: Database) async -> Int {
    await withCheckedContinuation { continuation in
      client.repo.perform { repo in continuation.resume(returning: repo.observers.count) }
    }
  }

  @Test func `leaving the loop removes the observer`() async throws {
    let client = World().client()
    let reference = client.reference(withPath: "a")
    try await reference.setValue(1)
    for try await snapshot in reference.value {
      #expect(snapshot.value as? Int == 1)
      break
    }
    #expect(await observerCount(client) == 0)
  }

  @Test func `cancelling the task removes the observer and ends the loop`() async throws {
    let client = World().client()
    let reference = client.reference(withPath: "a")
    let started = Gate()
    let task = Task {
      for try await _ in reference.childEvents() { started.open() }
    }
    try await reference.child("b").setValue(1)
    await started.wait()
    task.cancel()
    _ = await task.result
    #expect(await observerCount(client) == 0)
  }

  @Test func `dropping a stream that nobody has read removes the observer`() async {
    let client = World().client()
    do { _ = client.reference(withPath: "a").events() }
    do { _ = client.reference(withPath: "a").value }
    #expect(await observerCount(client) == 0)
  }

  @Test func `a refused listen ends the stream with its error`() async {
    struct Closed: DatabaseAccess {
      func user(token: String) async throws -> String? { nil }
      func mayRead(_ path: DatabasePath, _ spec: DatabaseQuerySpec, user: String?) -> Bool { false }
      func mayWrite(_ path: DatabasePath, _ node: DatabaseNode, user: String?) -> Bool { false }
    }
    var options = DatabaseServiceOptions()
    options.access = Closed()
    let client = World(options: options).client()
    do {
      for try await _ in client.reference(withPath: "a").value { Issue.record("a value came") }
      Issue.record("no error came")
    } catch {
      #expect((error as? DatabaseError)?.code == .permissionDenied)
    }
    await #expect(throws: DatabaseError.self) { try await client.reference(withPath: "a").setValue(1) }
    #expect(await observerCount(client) == 0)
  }

  @Test func `child events come in order and none is missing, however slow the reader`() async throws {
    let client = World().client()
    let reference = client.reference(withPath: "list")
    let stream = reference.events()
    for number in 0..<100 { sync { reference.child("k\(number)").setValue(number) } }
    var seen = 0
    for try await event in stream {
      guard case .childAdded(let snapshot, _) = event else { continue }
      #expect(snapshot.value as? Int == seen)
      seen += 1
      if seen == 100 { break }
    }
  }

  @Test func `an executor is kept on success and on failure`() async {
    let reference = World().client().reference(withPath: "a")
    let bad = reference.child("a.b")
    for reference in [reference, bad] {
      #expect(await ExecutorProbe.fromMainActor { try await reference.setValue(1) }.isKept)
      #expect(await ExecutorProbe.fromActor { try await reference.setValue(1) }.isKept)
      #expect(await ExecutorProbe.fromActor { try await reference.getData() }.isKept)
    }
  }
}
