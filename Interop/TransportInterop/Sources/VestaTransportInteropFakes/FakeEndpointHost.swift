import VestaConcurrency
public import VestaServiceInterop
public import VestaTransportInterop

/// A server for tests of endpoints: it has the backends that it was given.
///
/// ```swift
/// let host = FakeEndpointHost(project: "demo")
/// host.add((any RemoteConfigBackend).self, fake)
/// let handler = RemoteConfigEndpoints().handler(in: host)
/// ```
public final class FakeEndpointHost: EndpointHost {
  private struct State {
    var backends: [String: any Sendable] = [:]
    var works: [@Sendable () -> Void] = []
    var isShutDown = false
  }

  /// The clock of deadlines.
  public let clock: ServiceClock

  /// The project of requests that name none.
  public let defaultProject: String

  /// Whether the server is one for development.
  public let isDevelopment: Bool

  private let state = Locked(State())

  /// A server without backends.
  public init(project: String = "demo", clock: ServiceClock = .system, isDevelopment: Bool = true) {
    defaultProject = project
    self.clock = clock
    self.isDevelopment = isDevelopment
  }

  /// Adds a backend.
  ///
  /// - Parameters:
  ///   - type: The protocol of the backend.
  ///   - backend: The backend.
  ///   - project: Its project; `nil` for the default one.
  public func add<Backend: Sendable>(_ type: Backend.Type, _ backend: Backend, project: String? = nil) {
    state.withLock { $0.backends[key(type, project ?? defaultProject)] = backend }
  }

  /// The backend that was added for a project.
  public func backend<Backend: Sendable>(_ type: Backend.Type, project: String) throws(ServiceStatus) -> Backend {
    guard let backend = state.withLock({ $0.backends[key(type, project)] as? Backend }) else {
      throw ServiceStatus(.notFound, "There is no project \(project).")
    }
    return backend
  }

  /// Keeps the work for ``shutDown()``.
  public func onShutDown(_ work: @escaping @Sendable () -> Void) {
    let isShutDown = state.withLock { state in
      if !state.isShutDown { state.works.append(work) }
      return state.isShutDown
    }
    if isShutDown { work() }
  }

  /// Begins to shut down.
  public func shutDown() {
    let works = state.withLock { state in
      state.isShutDown = true
      defer { state.works = [] }
      return state.works
    }
    for work in works { work() }
  }

  /// A way to endpoints of this server, over a network in memory: for tests of clients over the wire.
  ///
  /// - Parameters:
  ///   - provider: The endpoints.
  ///   - network: The network, on which this server is `localhost`.
  ///   - options: The identity of callers, and the limits of calls.
  public func service(
    of provider: any EndpointProvider, on network: FakeNetwork = FakeNetwork(), options: RESTOptions = RESTOptions()
  ) throws -> RESTService {
    try network.serve(provider.handler(in: self), at: .internet(host: "localhost", port: 80))
    return try RESTService(network, at: "http://localhost", options: options)
  }

  private func key(_ type: Any.Type, _ project: String) -> String { "\(type) \(project)" }
}
