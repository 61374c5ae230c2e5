import Testing
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaTesting

@testable import VestaDatabase
@testable import VestaDatabaseService

@Suite(.timeLimit(.minutes(20)))
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

  @Test func `dropping an unread stream removes the observer`() async {
    let client = World().client()
    do { _ = client.reference(withPath: "a").events() }
    do { _ = client.reference(withPath: "a").value }
    #expect(await observerCount(client) == 0)
  }

  @Test func `a refused listen ends the stream with its error`() async {
    struct Closed: DatabaseAccess {
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

  @Test func `child events arrive in order and none is missing, however slow the reader`() async throws {
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

  @Test func `a reader of values that lags gets the newest, and none twice`() async throws {
    let client = World().client()
    let reference = client.reference(withPath: "n")
    var seen: [Int] = []
    do {
      let stream = reference.value
      for number in 1...200 { sync { reference.setValue(number) } }
      try await reference.setValue(201)
      for try await snapshot in stream {
        seen.append(snapshot.value as? Int ?? 0)
        if seen.last == 201 { break }
      }
    }
    #expect(seen == seen.sorted() && Set(seen).count == seen.count && seen.count < 200)
    #expect(await observerCount(client) == 0)
  }

  @Test func `a stream registers its listener when it begins, and finishes when the app is deleted`() async throws {
    let client = World().client()
    let reference = client.reference(withPath: "a")
    let (values, events) = (reference.value, reference.events())
    #expect(await observerCount(client) == 2)
    let readers = [
      Task { for try await _ in values {} }, Task { for try await _ in events {} },
      Task { for try await _ in reference.childEvents() {} },
    ]
    try await reference.child("b").setValue(1)
    await client.shutDown()
    for reader in readers { try await reader.value }
    #expect(await observerCount(client) == 0)
    // One that begins afterwards finishes at once.
    for try await _ in reference.value { Issue.record("a value of a deleted app") }
  }

  @Test func `two loops over one reference do not take each other's elements`() async throws {
    let client = World().client()
    let reference = client.reference(withPath: "list")
    func keys(_ stream: AsyncThrowingStream<DatabaseEvent, any Error>) async throws -> Set<String> {
      var seen: [String] = []
      for try await event in stream {
        if case .childAdded(let snapshot, _) = event { seen.append(snapshot.key) }
        if seen.count == 20 { break }
      }
      return Set(seen)
    }
    let (first, second) = (Task { try await keys(reference.events()) }, Task { try await keys(reference.events()) })
    for number in 0..<20 { sync { reference.child("k\(number)").setValue(number) } }
    #expect(try await first.value.count == 20)
    #expect(try await second.value.count == 20)
    #expect(await observerCount(client) == 0)
  }

  @Test func `every call keeps its caller's executor, on success and on failure`() async {
    let client = World().client()
    let reference = client.reference(withPath: "a")
    let calls: [@Sendable (DatabaseReference) async throws -> Void] = [
      { for try await _ in $0.childEvents() { break } }, { for try await _ in $0.value { break } },
      { try await $0.setValue(1) }, { try await $0.setValue(1, andPriority: 2) }, { try await $0.removeValue() },
      { try await $0.setPriority(1) }, { try await $0.updateChildValues(["x": 1]) },
      { _ = try await $0.getData() }, { _ = try await $0.runTransactionBlock { .success(withValue: $0) } },
      { try await $0.onDisconnectSetValue(1) }, { try await $0.onDisconnectSetValue(1, andPriority: 2) },
      { try await $0.onDisconnectRemoveValue() }, { try await $0.onDisconnectUpdateChildValues(["x": 1]) },
      { try await $0.cancelDisconnectOperations() },
    ]
    do { try await reference.child("x").setValue(1) } catch { Issue.record("\(error)") }
    for (number, call) in calls.enumerated() {
      for (place, fails) in [(reference, false), (reference.child("a.b"), true)] {
        let reports = [
          await ExecutorProbe.fromMainActor { try await call(place) },
          await ExecutorProbe.fromActor { try await call(place) },
        ]
        for report in reports { #expect(report.isKept && report.hasThrown == fails, "call \(number): \(report)") }
      }
    }
    let (snapshot, _) = await reference.observeSingleEventAndPreviousSiblingKey(of: .value)
    #expect(snapshot.exists())
  }
}
