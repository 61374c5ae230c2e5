import Testing
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaFirestoreSync
import VestaStoreInterop
import VestaTesting

/// Unusual behaviour of applications, disks and files.
@Suite(.timeLimit(.minutes(15)))
struct HostileTests {
  @Test(arguments: [false, true])
  func `a listener may write, listen, leave and end the client from its callback`(isEmbedded: Bool) async throws {
    let client = World().client(isEmbedded: isEmbedded)
    let (done, inner) = (Gate(), Received())
    let registrations = Locked<[ListenerRegistration]>([])
    let rooms = try query("rooms")
    let registration = client.listen(rooms, options: ListenOptions(includesMetadata: true)) { result in
      guard case .success(let snapshot) = result else { return }
      switch snapshot.documents.count {
      case 0: _ = client.write([set("rooms/a", [:])])
      case 1:
        let more = client.listen(rooms, options: ListenOptions()) { inner.receive($0) }
        registrations.withLock { $0.append(more) }
        _ = client.write([set("rooms/b", [:])])
      default:
        let all = registrations.withLock { all in
          defer { all = [] }
          return all
        }
        for registration in all { registration.remove() }
        Task {
          await client.shutdown()
          done.open()
        }
      }
    }
    await done.wait()
    registration.remove()
    await #expect(throws: FirestoreServiceError.self) { try await client.write([set("rooms/c", [:])]).acknowledged() }
  }

  @Test func `on a full disk a local commit fails, and the write is sent and kept once there is room`() async throws {
    let world = World()
    let disk = FullStore()
    let client = world.client(store: disk.store)
    await client.setNetworkEnabled(false)
    try await client.write([set("rooms/a", [:])]).localCommit()
    disk.isFull.withLock { $0 = true }
    let write = client.write([set("rooms/b", ["n": .integer(1)])])
    await #expect(throws: StoreError.self) { try await write.localCommit() }
    #expect(try await client.cachedDocument(path("rooms/b")).isFound)
    disk.isFull.withLock { $0 = false }
    // Changes that could not be written are written with the next one.
    try await client.write([set("rooms/c", [:])]).localCommit()
    await client.shutdown()
    let next = world.client(store: disk.store)
    try await next.waitForPendingWrites()
    #expect(try await next.lookup([path("rooms/b")])[0].fields == ["n": .integer(1)])
    await next.shutdown()
  }

  @Test func `with a full disk writes still reach the backend and listeners`() async throws {
    let world = World()
    let disk = FullStore()
    let client = world.client(store: disk.store)
    _ = try await client.cachedDocument(path("rooms/a"))
    disk.isFull.withLock { $0 = true }
    let received = Received()
    let registration = client.listen(try query("rooms"), options: ListenOptions(includesMetadata: true)) {
      received.receive($0)
    }
    for number in 0..<20 { try await client.write([set("rooms/r\(number)", [:])]).acknowledged() }
    _ = try await received.first { $0.documents.count == 20 }
    registration.remove()
    await client.shutdown()
  }

  @Test func `two thousand listeners are added and removed`() async throws {
    let client = World().client()
    let calls = Locked(0)
    var registrations: [ListenerRegistration] = []
    for number in 0..<2_000 {
      let query = try LocalQuery(database: database, path: path("rooms/r\(number % 1_000)"))
      registrations.append(
        client.listen(query, options: ListenOptions(includesMetadata: true)) { _ in calls.withLock { $0 += 1 } })
    }
    let last = Received()
    let one = client.listen(try query("rooms"), options: ListenOptions(includesMetadata: true)) { last.receive($0) }
    try await client.write([set("rooms/r1", ["n": .integer(1)])]).acknowledged()
    _ = try await last.first { $0.documents.count == 1 }
    #expect(calls.withLock { $0 } > 0)
    for registration in registrations { registration.remove() }
    one.remove()
    let before = calls.withLock { $0 }
    try await client.write([set("rooms/r2", [:])]).acknowledged()
    #expect(calls.withLock { $0 } == before)
    await client.shutdown()
  }

  private static let bundle: [UInt8] = {
    func element(_ json: String) -> String { "\(json.utf8.count)\(json)" }
    let root = "projects/demo/databases/(default)/documents"
    let time = "2020-01-01T00:00:00.000000Z"
    let query = #"{"parent":"\#(root)","structuredQuery":{"from":[{"collectionId":"c"}],"limit":{"value":3}}}"#
    let body =
      element(#"{"namedQuery":{"name":"all","readTime":"\#(time)","bundledQuery":\#(query)}}"#)
      + element(#"{"documentMetadata":{"name":"\#(root)/c/a","readTime":"\#(time)","exists":true,"queries":["all"]}}"#)
      + element(
        #"{"document":{"name":"\#(root)/c/a","updateTime":"\#(time)","fields":{"n":{"integerValue":"1"},"#
          + #""m":{"mapValue":{"fields":{"x":{"doubleValue":"NaN"}}}},"l":{"arrayValue":{"values":[{"nullValue":null}]}}}}}"#
      )
    let metadata =
      #"{"metadata":{"id":"b","createTime":"\#(time)","version":1,"totalDocuments":1,"totalBytes":\#(body.utf8.count)}}"#
    return Array((element(metadata) + body).utf8)
  }()

  @Test func `bundles with any bytes changed, cut or repeated load or are refused as a whole`() async throws {
    var random = SplitMix(seed: 7)
    let client = World().client { $0.garbagePolicy = .leastRecentlyUsed(bytes: nil) }
    await client.setNetworkEnabled(false)
    var loaded = 0
    for round in 0..<1_500 {
      var bytes = Self.bundle
      for _ in 0...random.below(3) {
        switch random.below(4) {
        case 0: bytes[random.below(bytes.count)] = UInt8(truncatingIfNeeded: random.below(256))
        case 1: bytes.removeSubrange(random.below(bytes.count)..<bytes.count)
        case 2: bytes.remove(at: random.below(bytes.count))
        default: bytes.insert(UInt8(truncatingIfNeeded: 0x30 + random.below(10)), at: random.below(bytes.count))
        }
        if bytes.isEmpty { bytes = [0x30] }
      }
      do {
        _ = try await client.loadBundle(round == 0 ? Self.bundle : bytes) { _ in }
        loaded += 1
      } catch let error as FirestoreServiceError {
        #expect(error.code == .invalidArgument)
      }
    }
    #expect(loaded > 0)
    #expect(try await client.cachedDocument(path("c/a")).isFound)
    await client.shutdown()
  }

  @Test func `deeply nested JSON in a bundle is refused`() async throws {
    let client = World().client()
    let text = String(repeating: #"{"mapValue":{"fields":{"a":"#, count: 20_000)
    let bytes = Array("\(text.utf8.count)\(text)".utf8)
    await #expect(throws: FirestoreServiceError.self) { try await client.loadBundle(bytes) { _ in } }
    await client.shutdown()
  }
}
