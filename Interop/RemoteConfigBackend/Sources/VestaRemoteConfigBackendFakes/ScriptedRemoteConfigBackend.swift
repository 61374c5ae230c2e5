public import VestaConcurrency
public import VestaRemoteConfigBackend
public import VestaServiceInterop
public import VestaTesting

/// A service that answers as a test has scripted it, and notes its calls.
///
/// Every instance gets the published entries as they are: there are no conditions and no versions but the current one.
///
/// ```swift
/// let backend = ScriptedRemoteConfigBackend()
/// backend.publish(["color": "red"])
/// backend.fail(.unavailable)  // until `backend.fail(nil)`
/// ```
public final class ScriptedRemoteConfigBackend: RemoteConfigBackend {
  /// A listener as the service sees it.
  public struct Listener: Sendable {
    /// The request that it began with.
    public var request: InvalidationsRequest
    /// Ends the connection, with an error or without.
    public var end: @Sendable (RemoteConfigServiceError?) -> Void
    /// Sends a version.
    public var receive: @Sendable (ConfigInvalidation) -> Void
  }

  /// The script, and the calls so far.
  public struct State: Sendable {
    /// The published values by key.
    public var entries: [String: String] = [:]
    /// The number of the published version; 0 before the first one.
    public var version: Int64 = 0
    /// The rollouts of each fetched configuration.
    public var rollouts: [ConfigRollout] = []
    /// The failure of each fetch; `nil` for success.
    public var failure: RemoteConfigServiceError?
    /// The fetches, also failed ones.
    public var requests: [FetchConfigRequest] = []
    /// The contexts of the fetches.
    public var contexts: [CallContext] = []
    /// The open connections.
    public var listeners: [Int: Listener] = [:]
    /// The number of connections so far.
    public var connections = 0
  }

  /// The script, and the calls so far.
  public let state = Locked(State())
  /// Closed by a test to hold up every fetch.
  public let gate = Gate(isOpen: true)
  /// The number of listeners after each change of it.
  public let listenerLog = EventLog<Int>(patience: .seconds(300))

  /// A service without a published version.
  public init() {}

  /// Publishes the next version, and sends its number to the listeners.
  public func publish(_ entries: [String: String]) {
    let (version, listeners) = state.withLock { state in
      state.entries = entries
      state.version += 1
      return (state.version, Array(state.listeners.values))
    }
    for listener in listeners { listener.receive(ConfigInvalidation(latestVersion: version)) }
  }

  /// Lets all fetches fail with a code, or succeed for `nil`.
  public func fail(_ code: ServiceCode?) {
    state.withLock { $0.failure = code.map { RemoteConfigServiceError($0, "scripted") } }
  }

  /// The fetches, also failed ones.
  public var requests: [FetchConfigRequest] { state.withLock { $0.requests } }

  /// The open connections.
  public var listeners: [Listener] { state.withLock { Array($0.listeners.values) } }

  /// Returns the published values.
  public func fetch(
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

  /// Opens a connection that stays until one side ends it.
  public func listenForInvalidations(
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

  /// Ends all connections, with an error or without.
  public func endConnections(_ code: ServiceCode?) {
    let listeners = state.withLock { state in
      defer { state.listeners = [:] }
      return Array(state.listeners.values)
    }
    for listener in listeners { listener.end(code.map { RemoteConfigServiceError($0, "scripted") }) }
  }
}
