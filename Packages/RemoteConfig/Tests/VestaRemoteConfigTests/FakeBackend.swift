import Foundation
import VestaConcurrency
import VestaCore
import VestaRemoteConfigBackend
import VestaServiceInterop
import VestaTesting

@testable import VestaRemoteConfig

/// A service that a test scripts.
final class FakeBackend: RemoteConfigBackend {
  struct Listener: Sendable {
    var request: InvalidationsRequest
    var end: @Sendable (RemoteConfigServiceError?) -> Void
    var receive: @Sendable (ConfigInvalidation) -> Void
  }

  struct State {
    var entries: [String: String] = [:]
    var version: Int64 = 0
    var rollouts: [ConfigRollout] = []
    var failure: RemoteConfigServiceError?
    var requests: [FetchConfigRequest] = []
    var contexts: [CallContext] = []
    var listeners: [Int: Listener] = [:]
    var connections = 0
  }

  let state = Locked(State())
  let gate = Gate(isOpen: true)
  let listenerLog = EventLog<Int>(patience: .seconds(300))

  func publish(_ entries: [String: String]) {
    let (version, listeners) = state.withLock { state in
      state.entries = entries
      state.version += 1
      return (state.version, Array(state.listeners.values))
    }
    for listener in listeners { listener.receive(ConfigInvalidation(latestVersion: version)) }
  }

  func fail(_ code: ServiceCode?) {
    state.withLock { $0.failure = code.map { RemoteConfigServiceError($0, "scripted") } }
  }

  var requests: [FetchConfigRequest] { state.withLock { $0.requests } }
  var listeners: [Listener] { state.withLock { Array($0.listeners.values) } }

  func fetch(
    _ request: FetchConfigRequest, context: CallContext
  ) async throws(RemoteConfigServiceError) -> FetchConfigResponse {
    state.withLock { state in
      state.requests.append(request)
      state.contexts.append(context)
    }
    await gate.wait()
    let (failure, entries, version, rollouts) = state.withLock { ($0.failure, $0.entries, $0.version, $0.rollouts) }
    if let failure { throw failure }
    let etag = "etag-\(version)"
    if request.etag == etag { return FetchConfigResponse(state: .noChange, templateVersion: version, etag: etag) }
    return FetchConfigResponse(
      state: entries.isEmpty ? .emptyConfig : .update, entries: entries, templateVersion: version, etag: etag,
      rollouts: rollouts)
  }

  func listenForInvalidations(
    _ request: InvalidationsRequest, context: CallContext,
    onEnd: @escaping @Sendable (RemoteConfigServiceError?) -> Void,
    _ receive: @escaping @Sendable (ConfigInvalidation) -> Void
  ) -> ListenerRegistration {
    let (id, count) = state.withLock { state in
      state.connections += 1
      state.listeners[state.connections] = Listener(request: request, end: onEnd, receive: receive)
      return (state.connections, state.listeners.count)
    }
    listenerLog.record(count)
    return ListenerRegistration { [self] in
      let count = state.withLock { state in
        state.listeners[id] = nil
        return state.listeners.count
      }
      listenerLog.record(count)
    }
  }

  /// Ends all connections.
  func endConnections(_ code: ServiceCode?) {
    let listeners = state.withLock { state in
      defer { state.listeners = [:] }
      return Array(state.listeners.values)
    }
    for listener in listeners { listener.end(code.map { RemoteConfigServiceError($0, "scripted") }) }
  }
}

/// An app with a client on a scripted service, and virtual time.
struct Bench: Sendable {
  let directory: TemporaryDirectory
  let app: VestaApp
  let backend = FakeBackend()
  let clock = ManualClock()
  let config: RemoteConfig

  init(in directory: TemporaryDirectory? = nil, random: Double = 0.9) throws {
    let directory = try directory ?? TemporaryDirectory("remote-config")
    self.directory = directory
    let options = VestaOptions(
      projectID: "p", backend: .embedded(directory: URL(filePath: directory.path, directoryHint: .isDirectory)))
    options.callbackQueue = .global()
    app = try VestaApp.configure(name: "rc-\(UUID().uuidString)", options: options, libraries: [])
    let clock = clock
    config = RemoteConfig(
      app: app, namespace: "firebase", backend: backend,
      clock: ServiceClock(now: { clock.now }, schedule: { clock.schedule(after: $0, $1) }), random: { random })
  }

  func end() async {
    config.end()
    await app.delete()
  }
}
