import Testing
import VestaBytes
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreBackendContracts
import VestaFirestoreEndpoints
import VestaFirestoreRemote
import VestaFirestoreService
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

/// The remote backend, its endpoints and an engine as one service, on a network in memory.
@Suite(.timeLimit(.minutes(10))) struct RemoteTests {
  @Test(arguments: FirestoreContracts.all)
  func `an engine behind its endpoints keeps the contract`(contract: Contract<FirestoreSubject>) async throws {
    let served = try await Served.onFakeNetwork()
    try await contract.verify(FirestoreSubject(served.remote))
    try await served.engine.close()
  }

  @Test(arguments: FirestoreContracts.all)
  func `the contract is kept with small figures`(contract: Contract<FirestoreSubject>) async throws {
    var tuning = FirestoreEndpointTuning()
    tuning.batchBytes = Int.random(in: 1...200)
    tuning.waitingBytes = Int.random(in: 1...1_000)
    tuning.pendingRequests = Int.random(in: 1...3)
    tuning.loopResponses = Int.random(in: 1...4)
    tuning.inPlaceResponses = Int.random(in: 0...2)
    let served = try await Served.onFakeNetwork(tuning: tuning)
    do {
      try await contract.verify(FirestoreSubject(served.remote))
    } catch {
      Issue.record("\(tuning): \(error)")
    }
    try await served.engine.close()
  }

  @Test(arguments: ["Listen", "Write"])
  func `a request that cannot be read ends an open call with its error`(name: String) async throws {
    let network = FakeNetwork()
    let served = try await Served { handler in
      _ = try await network.listen(at: .internet(host: "localhost", port: 80), handler: handler)
      return network
    }
    let call = GRPCChannel(network, authority: "localhost:80").open(
      "/google.firestore.v1.Firestore/\(name)", metadata: [.authorization: "Bearer owner"])
    try await call.send([0x0A, UInt8(database.utf8.count)] + database.utf8)
    try await call.send([0xFF])
    let error = await #expect(throws: GRPCError.self) { while try await call.next() != nil {} }
    #expect(error?.code == .invalidArgument)
    try await served.engine.close()
  }

  @Test(arguments: ["", database])
  func `the first request of a call that writes names the database of the call`(named: String) async throws {
    let served = try await Served.onFakeNetwork()
    let call = try await served.remote.write(database: database, context: .owner)
    call.send(WriteRequest(database: named))
    call.send(WriteRequest(writes: [.update(Document(name: database + "/documents/rooms/a"))]))
    call.finish()
    var responses: [WriteResponse] = []
    for try await batch in call.responses { responses += batch }
    #expect(responses.map(\.writeResults.count) == [0, 1])
    try await served.engine.close()
  }

  @Test func `each call has the fields of upstream's clients and its own identity`() async throws {
    let seen = Log<HTTPRequest>()
    let network = FakeNetwork()
    let handler = HTTPClosureHandler(body: .streamed) { request in
      seen.add(request)
      return .response(HTTPResponse(fields: [.contentType: "application/grpc", "grpc-status": "5"]))
    }
    _ = try await network.listen(at: .internet(host: "localhost", port: 80), handler: handler)
    let options = RESTOptions(fields: ["x-goog-api-client": "gl-swift/"])
    let remote = FirestoreRemote(on: try RESTService(network, at: "http://localhost", options: options))
    var context = CallContext(caller: .credential(.idToken("ada")))
    context.appCheck = AppCheckState("app")
    _ = await failure { try await remote.document("rooms/a", context: context) }
    _ = await failure { try await remote.set("rooms/a", [:], context: CallContext()) }
    let call = try await remote.listen(database: database, context: context)
    call.send(.removeTarget(id: 1))
    _ = await failure { for try await _ in call.responses {} }
    #expect(seen.entries.map { $0.fields[.authorization] } == ["Bearer ada", nil, "Bearer ada"])
    #expect(seen.entries.map { $0.fields["x-firebase-appcheck"] } == ["app", nil, "app"])
    for request in seen.entries {
      #expect(request.fields["google-cloud-resource-prefix"] == database)
      #expect(request.fields["x-goog-request-params"] == database)
      #expect(request.fields["x-goog-api-client"] == "gl-swift/")
      #expect(request.fields["te"] == "trailers" && request.method == .post && request.version == .http2)
    }
    // A read may take long; a call that stays open has no limit.
    #expect(seen.entries.map { $0.fields["grpc-timeout"] != nil } == [true, true, false])
  }

  @Test func `tokens are not sent in clear text to other machines`() async throws {
    let network = FakeNetwork()
    let seen = Log<HTTPRequest>()
    let handler = HTTPClosureHandler(body: .streamed) { request in
      seen.add(request)
      return .response(HTTPResponse(503))
    }
    _ = try await network.listen(at: .internet(host: "example.com", port: 80), handler: handler)
    let remote = FirestoreRemote(on: try RESTService(network, at: "http://example.com"))
    let context = CallContext(caller: .credential(.idToken("secret")))
    #expect(await failure { try await remote.document("rooms/a", context: context) }?.code == .failedPrecondition)
    #expect(await failure { try await remote.set("rooms/a", [:], context: context) }?.code == .failedPrecondition)
    #expect(
      await failure { try await remote.listen(database: database, context: context) }?.code == .failedPrecondition)
    #expect(seen.entries.isEmpty)
    // Who has no token may call.
    #expect(await failure { try await remote.document("rooms/a", context: CallContext()) }?.code == .unavailable)
    #expect(seen.entries.count == 1)
  }

  @Test func `a call whose deadline has passed is not sent, and one that waits ends at it`() async throws {
    let clock = ManualClock()
    let network = FakeNetwork(clock: clock)
    let served = try await Served.onFakeNetwork(network)
    let service = try RESTService(network, at: "http://localhost", options: .owner, clock: clock.service)
    let remote = FirestoreRemote(on: service)
    var context = CallContext.owner
    context.deadline = clock.service.now()
    #expect(await failure { try await remote.set("rooms/a", [:], context: context) }?.code == .deadlineExceeded)
    #expect(try await served.engine.document("rooms/a") == nil)
    context.deadline = clock.service.now() + Duration.seconds(10).microseconds
    let call = try await remote.listen(database: database, context: context)
    call.send(.addTarget(Target(id: 1, .documents([database + "/documents/rooms/a"]))))
    let end = Task { await failure { for try await _ in call.responses {} } }
    await clock.waitForTimers()
    clock.advance(by: .seconds(10))
    #expect(await end.value?.code == .deadlineExceeded)
    try await served.engine.close()
  }

  @Test func `a stream that the server ends with success is a failure unless the caller has finished`() async throws {
    let network = FakeNetwork()
    let handler = HTTPClosureHandler(body: .streamed) { _ in
      .response(HTTPResponse(fields: [.contentType: "application/grpc", "grpc-status": "0"]))
    }
    _ = try await network.listen(at: .internet(host: "localhost", port: 80), handler: handler)
    let remote = FirestoreRemote(on: try RESTService(network, at: "http://localhost"))
    let needed = try await remote.listen(database: database, context: CallContext())
    needed.send(.removeTarget(id: 1))
    #expect(await failure { for try await _ in needed.responses {} }?.code == .unavailable)
    let finished = try await remote.listen(database: database, context: CallContext())
    finished.finish()
    #expect(await failure { for try await _ in finished.responses {} } == nil)
  }

  @Test func `a caller that leaves a stream takes it away from the server`() async throws {
    let network = FakeNetwork()
    let served = try await Served.onFakeNetwork(network)
    for way in 0..<3 {
      let call = try await served.remote.listen(database: database, context: .owner)
      call.send(.addTarget(Target(id: 1, .documents([database + "/documents/rooms/a"]))))
      let responses = call.responses
      let reader = Task { for try await _ in responses { if way == 0 { return } } }
      if way == 0 { try await reader.value }
      if way == 1 { call.cancel() }
      if way == 2 { reader.cancel() }
      _ = try? await reader.value
    }
    while network.exchangeCount > 0 { try await served.engine.set("rooms/a", ["n": .integer(.random(in: 0...1_000))]) }
    try await served.engine.close()
  }
}

/// The failure of a call; `nil` for success.
func failure<Value>(_ body: () async throws -> Value) async -> FirestoreServiceError? {
  do {
    _ = try await body()
    return nil
  } catch {
    return error as? FirestoreServiceError ?? FirestoreServiceError(.unknown, "\(error)")
  }
}
