import Testing
import VestaConcurrency
import VestaRemoteConfigBackend
import VestaServiceInterop
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaRemoteConfigService

@Suite struct FailingStoreTests {
  private let model = ModelStore()

  /// A process's access to the model, whose calls fail with a code until it is `nil` again.
  private func fail(_ store: HookedStore, _ code: StoreError.Code?) {
    guard let code else { return store.hook(nil) }
    store.hook { step in
      guard step == .read || step == .write else { return }
      throw StoreError(code, operation: "read", path: "/data/store", message: "It failed.", hint: "Restore a backup.")
    }
  }

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
    let store = HookedStore(model, closesBase: false, isShared: true)
    let engine = makeEngine(store)
    fail(store, code)
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
    let store = HookedStore(model, closesBase: false, isShared: true)
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
    fail(store, .inputOutput)
    try await publish(other, "b")
    await ended.wait { $0 == [.unavailable] }
    #expect(engine.hub.namespaces == [])
    fail(store, nil)
    registration = connect()
    await heard.wait { $0 == [1, 2] }
    registration.cancel()
  }
}
