import Testing
import VestaConcurrency
import VestaRemoteConfigBackend
import VestaRemoteConfigBackendFakes
import VestaServiceInterop
import VestaTesting

@Suite struct ScriptedBackendTests {
  private let backend = ScriptedRemoteConfigBackend()

  private func listen(_ log: Log<Int64>) -> ListenerRegistration {
    let request = InvalidationsRequest(namespace: "firebase", lastKnownVersion: 0)
    return backend.listenForInvalidations(request, context: CallContext(), onEnd: { _ in log.add(-1) }) {
      log.add($0.latestVersion)
    }
  }

  @Test func `listeners get the version of each publish until they end`() {
    let log = Log<Int64>()
    let registration = listen(log)
    backend.publish(["a": "1"])
    registration.cancel()
    backend.publish(["a": "2"])
    #expect(log.entries == [1])
    #expect(backend.state.withLock { $0.entries } == ["a": "2"])
  }

  @Test func `connections that end are told, and forgotten`() {
    let log = Log<Int64>()
    let registration = listen(log)
    backend.endConnections(.unavailable)
    #expect(log.entries == [-1])
    #expect(backend.listeners.isEmpty)
    registration.cancel()
  }
}
