import Dispatch
import Foundation
import Testing
import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseBackendFakes
import VestaTesting

@testable import VestaDatabase

/// The ends of observers, the order of callbacks, and callbacks that block.
@Suite(.timeLimit(.minutes(5)))
struct ObserverTests {
  private let world = World()

  @Test func `the removal of an observer leaves the others of its place to be removed`() {
    let (table, path) = (ObserverTable(), DatabasePath("a"))
    for id in 1...3 { table.add(.silent(id, at: path, DatabaseQuerySpec())) }
    #expect(table.take(2, at: path, DatabaseQuerySpec())?.id == 2)
    #expect(table.take(2, at: path, DatabaseQuerySpec()) == nil)
    #expect(table.hasObservers(at: path))
    #expect(table.take(1, at: path, DatabaseQuerySpec())?.id == 1)
    #expect(table.take(3, at: path, DatabaseQuerySpec())?.id == 3)
    #expect(!table.hasObservers(at: path))
  }

  @Test func `an observer that removes itself in its first call is called once`() async throws {
    let client = world.client(), list = client.reference(withPath: "list")
    try await list.setValue(["a": 1, "b": 2, "c": 3, "d": 4, "e": 5])
    for _ in 0..<20 {
      let calls = Log<String>(), handle = Locked<DatabaseHandle>(0)
      let added = list.observe(.childAdded) { snapshot in
        calls.add(snapshot.key)
        list.removeObserver(withHandle: handle.withLock { $0 })
      }
      handle.withLock { $0 = added }
      await calls.wait(for: 1)
      let isLate = calls.entries.count > 1 && handle.withLock { $0 } == added
      await world.settle(client)
      client.repo.events.drain()
      #expect(calls.entries.count <= 5 && !isLate || calls.entries.count == 1)
    }
  }

  @Test func `no call of an observer begins after it was removed, one by one or all at once`() async throws {
    let client = world.client(), list = client.reference(withPath: "list")
    try await list.setValue(Dictionary(uniqueKeysWithValues: (0..<50).map { ("k\($0)", $0) }))
    for round in 0..<20 {
      let calls = Locked(0), afterwards = Locked(0), isRemoved = Locked(false), began = Gate(), leave = Gate()
      let handle = list.observe(.childAdded) { _ in
        if isRemoved.withLock({ $0 }) { afterwards.withLock { $0 += 1 } }
        let isFirst = calls.withLock { calls in
          calls += 1
          return calls == 1
        }
        if isFirst {
          began.open()
          _ = leave.passes()
        }
      }
      await began.wait()
      if round % 2 == 0 { list.removeObserver(withHandle: handle) } else { list.removeAllObservers() }
      isRemoved.withLock { $0 = true }
      leave.open()
      await world.settle(client)
      client.repo.events.drain()
      #expect(afterwards.withLock { $0 } == 0)
      #expect(calls.withLock { $0 } == 1)
    }
  }

  @Test func `an observer is removed by its own place and query only`() async throws {
    let client = world.client(), list = client.reference(withPath: "list")
    let calls = Log<Int>()
    let handle = list.queryLimited(toFirst: 1).observe(.value) { calls.add(Int($0.childrenCount)) }
    await calls.wait(for: 1)
    client.reference(withPath: "other").removeObserver(withHandle: handle)
    list.queryLimited(toLast: 1).removeObserver(withHandle: handle)
    list.queryLimited(toLast: 1).removeAllObservers()
    try await list.child("a").setValue(1)
    await calls.wait(for: 2)
    // A reference removes observers of all queries of its place.
    list.removeObserver(withHandle: handle)
    try await list.child("b").setValue(2)
    try await list.child("a").removeValue()
    client.repo.events.drain()
    #expect(calls.entries == [0, 1])
  }

  @Test func `removing all observers of a place ends its streams`() async throws {
    let client = world.client(), list = client.reference(withPath: "list")
    let began = Gate()
    let reader = Task {
      for try await _ in list.value { began.open() }
    }
    await began.wait()
    list.removeAllObservers()
    try await reader.value
  }

  @Test func `callbacks keep their order when the callback queue changes`() async throws {
    let client = world.client(), list = client.reference(withPath: "list")
    let calls = Log<Int>()
    list.observe(.value) { if let number = $0.value as? Int { calls.add(number) } }
    for number in 0..<300 {
      sync { list.setValue(number) }
      if number % 10 == 0 { client.callbackQueue = DispatchQueue(label: "callbacks \(number)") }
    }
    await calls.wait { $0.last == 299 }
    #expect(calls.entries == calls.entries.sorted())
  }

  @Test func `callbacks run on the callback queue`() async throws {
    let client = world.client(), queue = DispatchQueue(label: "mine")
    let key = DispatchSpecificKey<Int>()
    queue.setSpecific(key: key, value: 7)
    client.callbackQueue = queue
    let found = Log<Int?>()
    client.reference(withPath: "x").observe(.value) { _ in found.add(DispatchQueue.getSpecific(key: key)) }
    #expect(await found.wait(for: 1).first == 7)
  }

  /// Observers, completions and transaction blocks of more clients than there are threads for tasks.
  @Test func `code of the program that blocks holds up no other client`() async throws {
    let count = ProcessInfo.processInfo.activeProcessorCount * 4 + 4
    let gate = Gate(), blocked = Log<Int>()
    var clients: [Database] = []
    for number in 0..<count {
      let client = world.client(), place = client.reference(withPath: "p\(number)")
      clients.append(client)
      switch number % 3 {
      case 0:
        place.observe(.value) { _ in
          blocked.add(number)
          _ = gate.passes()
        }
      case 1:
        place.setValue(1) { _, _ in
          blocked.add(number)
          _ = gate.passes()
        }
      default:
        sync {
          place.runTransactionBlock { data in
            blocked.add(number)
            _ = gate.passes()
            data.value = 1
            return .success(withValue: data)
          }
        }
      }
    }
    await blocked.wait { Set($0).count == count }
    let free = world.client()
    for number in 0..<20 { try await free.reference(withPath: "free").setValue(number) }
    #expect(try await free.reference(withPath: "free").getData().value as? Int == 19)
    gate.open()
    for client in clients { await client.shutDown() }
  }
}

/// A database that cannot be opened.
@Suite(.timeLimit(.minutes(5)))
struct FailureTests {
  private let reason = "The database cannot be opened: another process has it."
  private let backend = ScriptedDatabaseBackend()
  private let time = SimulatedTime()

  private func refuse(_ number: Int) async {
    let link = await backend.link(number)
    link.say(.failed(reason: reason))
    link.say(.closed(reason: reason))
  }

  @Test func `everything that waits for a database that cannot be opened ends with the reason`() async throws {
    let client = World.client(backend, time), place = client.reference(withPath: "a")
    let ended = Log<String>()
    let expected = reason
    @Sendable func note(_ name: String, _ error: (any Error)?) {
      let error = error as? DatabaseError
      ended.add("\(name) \(error?.code == .unavailable && error?.message == expected)")
    }
    place.setValue(1) { error, _ in note("set", error) }
    place.updateChildValues(["b": 1]) { error, _ in note("update", error) }
    place.onDisconnectSetValue(1) { error, _ in note("end", error) }
    client.reference(withPath: "t").runTransactionBlock { data in
      data.value = 1
      return .success(withValue: data)
    } andCompletionBlock: { error, isCommitted, _ in
      note(isCommitted ? "committed" : "transaction", error)
    }
    place.observe(.value, with: { _ in }, withCancel: { note("observer", $0) })
    place.queryLimited(toFirst: 1).observe(.value, with: { _ in }, withCancel: { note("query", $0) })
    let read = Task { try await client.reference(withPath: "r").getData() }
    let stream = Task { for try await _ in client.reference(withPath: "s").value {} }
    await withCheckedContinuation { continuation in client.repo.perform { _ in continuation.resume() } }
    while await gets(client) == 0 || !client.repo.table.hasObservers(at: "s") { await Task.yield() }
    await refuse(0)
    await ended.wait { $0.count == 6 }
    #expect(
      Set(ended.entries)
        == ["set true", "update true", "end true", "transaction true", "observer true", "query true"])
    let failure = await #expect(throws: UnknownValueError.self) { try await read.value }
    #expect(failure?.failureReason == reason)
    await #expect(throws: DatabaseError.self) { try await stream.value }
    // A later call has its answer soon, and the database is used again when it can be.
    let later = Log<Bool>()
    place.setValue(2) { error, _ in later.add(error != nil) }
    await withCheckedContinuation { continuation in client.repo.perform { _ in continuation.resume() } }
    time.advance(by: .seconds(1))
    await refuse(1)
    await later.wait { $0 == [true] }
    place.setValue(3) { error, _ in later.add(error != nil) }
    await withCheckedContinuation { continuation in client.repo.perform { _ in continuation.resume() } }
    time.advance(by: .seconds(1))
    let link = await backend.link(2)
    link.hello()
    await link.answer { if case .put = $0 { true } else { false } }
    await later.wait { $0 == [true, false] }
  }

  private func gets(_ client: Database) async -> Int {
    await withCheckedContinuation { continuation in
      client.repo.perform { repo in continuation.resume(returning: repo.gets.count) }
    }
  }

  @Test func `writes that the device keeps wait for a database that cannot be opened, and are sent then`() async throws
  {
    let device = FullDevice()
    var environment = Repo.Environment(backend: backend)
    environment.clock = time.clock
    environment.random = SplitMix.fractions(seed: 1)
    let client = World.client(environment, stores: device)
    client.isPersistenceEnabled = true
    let ended = Log<Bool>()
    client.reference(withPath: "a").setValue(1) { error, _ in ended.add(error == nil) }
    while try await device.writes().isEmpty { await Task.yield() }
    await refuse(0)
    await withCheckedContinuation { continuation in client.repo.enqueue { _ in continuation.resume() } }
    client.repo.events.drain()
    #expect(ended.entries.isEmpty)
    time.advance(by: .seconds(31))
    let link = await backend.link(1)
    link.hello()
    await link.answer { if case .put = $0 { true } else { false } }
    await ended.wait { $0 == [true] }
  }
}
