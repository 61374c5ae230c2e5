import Foundation
import Testing
import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseBackendFakes
import VestaDatabaseModel
import VestaTesting

@testable import VestaDatabase

/// Every call ends, whatever happens to the connection and the app.
@Suite(.timeLimit(.minutes(20)))
struct EndingTests {
  private let backend = ScriptedDatabaseBackend()
  private let time = SimulatedTime()

  private func client() -> Database { World.client(backend, time) }

  private func failure(_ body: @escaping @Sendable () async throws -> Void) -> Task<String, Never> {
    Task {
      do {
        try await body()
        return "success"
      } catch {
        return "\(error)"
      }
    }
  }

  @Test func `an operation for the end whose answer is lost with the connection fails`() async {
    let client = client()
    let call = failure { try await client.reference(withPath: "a").onDisconnectSetValue(1) }
    let link = await backend.link(0)
    link.hello()
    await link.asked.wait { $0.contains(where: \.isOnDisconnect) }
    link.say(.closed(reason: "The link broke."))
    #expect(await call.value.contains("disconnected"))
  }

  @Test func `the answer to a write follows the answers to the listens that were asked before it`() async {
    let client = client()
    let ended = Log<String>()
    client.reference(withPath: "a").observe(.value) { _ in }
    client.reference(withPath: "b").setValue(1, withCompletionBlock: { _, _ in ended.add("b") })
    client.reference(withPath: "c").setValue(1, withCompletionBlock: { _, _ in ended.add("c") })
    let link = await backend.link(0)
    link.hello()
    for path in ["b", "c"] as [DatabasePath] {
      await link.answer(.ok) { if case .put(path, _, _) = $0 { true } else { false } }
    }
    await withCheckedContinuation { continuation in client.repo.enqueue { _ in continuation.resume() } }
    client.repo.events.drain()
    #expect(ended.entries.isEmpty)
    await link.answer(.ok) { if case .listen = $0 { true } else { false } }
    await ended.wait { $0 == ["b", "c"] }
  }

  @Test func `a running read ends when the client is disconnected`() async {
    let client = client()
    let call = failure { _ = try await client.reference(withPath: "a").getData() }
    let link = await backend.link(0)
    link.hello()
    await link.asked.wait { $0.contains(where: \.isGet) }
    client.goOffline()
    await link.closed.wait()
    await withCheckedContinuation { continuation in client.repo.enqueue { _ in continuation.resume() } }
    time.advance(by: .seconds(4))
    #expect(await call.value.contains("client offline with no active listeners"))
  }

  @Test func `a read that is under way when the connection breaks is answered by the next connection`() async {
    let client = client()
    let call = failure { _ = try await client.reference(withPath: "a").getData() }
    let link = await backend.link(0)
    link.hello()
    await link.asked.wait { $0.contains(where: \.isGet) }
    link.say(.closed(reason: "The link broke."))
    await withCheckedContinuation { continuation in client.repo.enqueue { _ in continuation.resume() } }
    time.advance(by: .seconds(2))
    let second = await backend.link(1)
    second.hello()
    await second.answer { $0.isGet }
    #expect(await call.value == "success")
  }

  @Test func `what waits when the app is deleted fails instead of waiting for ever`() async {
    let client = client()
    let reference = client.reference(withPath: "a")
    let calls = [
      failure { try await reference.setValue(1) },
      failure { try await reference.child("x").updateChildValues(["b": 1]) },
      failure { _ = try await reference.child("y").getData() },
      failure { try await reference.child("z").onDisconnectSetValue(1) },
      failure { _ = try await reference.child("t").runTransactionBlock { .success(withValue: $0) } },
      failure { for try await _ in reference.child("s").value {} },
      failure { for try await _ in reference.child("s").events() {} },
    ]
    let link = await backend.link(0)
    link.hello()
    await link.asked.wait { $0.count >= 7 }
    await client.shutDown()
    for call in calls { #expect(await !call.value.isEmpty) }
    // And a later call fails, too.
    #expect(await failure { try await reference.setValue(2) }.value != "success")
    #expect(await failure { _ = try await reference.getData() }.value != "success")
    #expect(await failure { try await reference.onDisconnectSetValue(1) }.value != "success")
    #expect(
      await failure { _ = try await reference.runTransactionBlock { .success(withValue: $0) } }.value != "success")
  }

  @Test func `callbacks may call everything`() async throws {
    let world = World()
    let client = world.client(), other = world.client()
    let reference = client.reference(withPath: "room")
    let done = Log<String>()
    let handle = Locked<DatabaseHandle?>(nil)
    let first = reference.observe(.value) { snapshot in
      guard snapshot.exists() else { return }
      if let handle = handle.withLock({ $0.take() }) { reference.removeObserver(withHandle: handle) }
      reference.child("echo").setValue(1) { error, _ in
        reference.child("echo").updateChildValues(["a": 1]) { _, _ in
          reference.child("echo").runTransactionBlock { data in
            // A block that uses the database: it must not wait for it, and need not.
            reference.child("side").setValue(1)
            reference.observeSingleEvent(of: .value) { _ in }
            data.value = 3
            return .success(withValue: data)
          } andCompletionBlock: { _, _, _ in
            reference.getData { _, _ in
              reference.onDisconnectSetValue(1) { _, _ in
                reference.cancelDisconnectOperations { _, _ in
                  client.goOffline()
                  client.goOnline()
                  reference.keepSynced(true)
                  reference.keepSynced(false)
                  client.purgeOutstandingWrites()
                  reference.removeAllObservers()
                  done.add("done")
                }
              }
            }
          }
        }
      }
    }
    handle.withLock { $0 = first }
    try await other.reference(withPath: "room/start").setValue(true)
    await done.wait { !$0.isEmpty }
    #expect(try await other.reference(withPath: "room/echo").getData().value as? Int == 3)
  }

  @Test func `a device that only writes keeps a bounded number of queries`() async throws {
    let stores = KeptStores()
    let client = World().client(stores: stores)
    client.isPersistenceEnabled = true
    let list = client.reference(withPath: "log")
    for number in 0..<1500 { sync { list.child("k\(number)").setValue(number) } }
    try await list.child("last").setValue(true)
    let count = await withCheckedContinuation { continuation in
      client.repo.perform { repo in continuation.resume(returning: repo.tree.cache?.queries.count ?? 0) }
    }
    #expect(count <= 1400)
  }
}
