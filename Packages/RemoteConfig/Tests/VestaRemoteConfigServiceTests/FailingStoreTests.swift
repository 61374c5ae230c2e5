import Testing
import VestaConcurrency
import VestaRemoteConfigBackend
import VestaServiceInterop
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaRemoteConfigService

/// A store whose reads fail while a failure is set, and that reports the commits of the store beneath it.
private final class FailingStore: CommitObservable {
  private let store: ModelStore
  let failure = Locked<StoreError.Code?>(nil)

  init(_ store: ModelStore) { self.store = store }

  private func check() throws {
    if let code = failure.withLock({ $0 }) {
      throw StoreError(code, operation: "read", path: "/data/store", message: "It failed.", hint: "Restore a backup.")
    }
  }

  func read<Result>(_ body: (any StoreReader) async throws -> Result) async throws -> Result {
    try check()
    return try await store.read(body)
  }

  func write<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) async throws -> Result
  ) async throws -> StoreCommit<Result> {
    try check()
    return try await store.write(body)
  }

  func raiseFloor(to version: StoreVersion?) async throws -> StoreVersion { try await store.raiseFloor(to: version) }
  func close() async throws {}
  func observeCommits(_ observer: @escaping @Sendable (StoreVersion) -> Void) -> ListenerRegistration {
    store.observeCommits(observer)
  }
  var commits: AsyncStream<StoreVersion> { store.commits }
}

@Suite struct FailingStoreTests {
  private let model = ModelStore()

  private func publish(_ engine: RemoteConfigEngine, _ value: String) async throws {
    let template = ConfigTemplate(parameters: ["key": ConfigParameter(defaultValue: .value(value))])
    _ = try await engine.publish(PublishRequest(template: template, precondition: .any), context: .owner)
  }

  @Test(arguments: [
    (StoreError.Code.conflict, ServiceCode.aborted), (.unknownOutcome, .deadlineExceeded), (.corrupt, .dataLoss),
    (.locked, .internal), (.diskFull, .resourceExhausted), (.readOnly, .internal), (.inputOutput, .unavailable),
  ])
  func `errors ask callers to try again only where that may help, and say what to do elsewhere`(
    _ code: StoreError.Code, _ expected: ServiceCode
  ) async throws {
    let store = FailingStore(model)
    let engine = makeEngine(store)
    store.failure.withLock { $0 = code }
    let request = FetchConfigRequest(namespace: "firebase", instance: ConfigInstance())
    let error = await #expect(throws: RemoteConfigServiceError.self) {
      try await engine.fetch(request, context: CallContext())
    }
    #expect(error?.code == expected)
    #expect(error?.message.contains("Restore a backup.") == true && error?.message.contains("/data/store") == true)
  }

  @Test(.timeLimit(.minutes(5)))
  func `connections that cannot be notified of another engine's publish end, and their clients reconnect`()
    async throws
  {
    let store = FailingStore(model)
    let (engine, other) = (makeEngine(store), makeEngine(model))
    try await publish(other, "a")
    let (heard, ended) = (Log<Int64>(), Log<ServiceCode?>())
    func connect() -> ListenerRegistration {
      engine.listenForInvalidations(
        InvalidationsRequest(namespace: "firebase", lastKnownVersion: 0), context: CallContext(),
        onEnd: { ended.add($0?.code) }
      ) { heard.add($0.latestVersion) }
    }
    var registration = connect()
    await heard.wait { $0 == [1] }
    store.failure.withLock { $0 = .inputOutput }
    try await publish(other, "b")
    await ended.wait { $0 == [.unavailable] }
    #expect(engine.hub.namespaces == [])
    store.failure.withLock { $0 = nil }
    registration = connect()
    await heard.wait { $0 == [1, 2] }
    registration.cancel()
  }
}
