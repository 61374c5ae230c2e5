import VestaConcurrency
import VestaRemoteConfigBackend
import VestaServiceInterop

/// Keeps the realtime connection open while there are listeners for updates, and fetches what it announces.
///
/// When it is open is decided by a `LinkMachine`: after a failure there is a pause of 120 s, twice the last pause after
/// another one, each half as long or half as long again at random; after eight failures without a message in between
/// listeners get an error. A pause outlasts the listeners: removing the last one and adding another does not shorten
/// it. A change of the network ends it, and opens the connection again.
final class RealtimeRunner: Sendable {
  typealias Outcome = Result<RemoteConfigUpdate, any Error>

  private let backend: any RemoteConfigBackend
  private let namespace: String
  private let caller: BackendCaller
  private let listeners = StateSource<Void, Outcome>(())
  private let tuning: RemoteConfigTuning
  private let state = Locked(State())
  private let link = Locked<LinkRunner?>(nil)
  private let networkChanges = Locked<ListenerRegistration?>(nil)

  private struct State {
    weak var owner: RemoteConfig?
    /// Whether the service has switched updates off.
    var isDisabled = false
    var isFetching = false
    var wantedVersion: Int64 = 0
    var isOver = false
  }

  init(
    backend: any RemoteConfigBackend, namespace: String, caller: BackendCaller,
    network: (any NetworkMonitor)? = nil, tuning: RemoteConfigTuning = RemoteConfigTuning()
  ) {
    self.backend = backend
    self.namespace = namespace
    self.caller = caller
    self.tuning = tuning
    let runner = LinkRunner(tuning.link, clock: caller.clock, random: caller.random) { [weak self] in
      self?.connect($0) ?? ListenerRegistration {}
    } onFailure: { [weak self] _ in
      self?.announce(.failure(RemoteConfigUpdateError(.streamError)))
    }
    link.withLock { $0 = runner }
    let changes = network?.addChangeListener { [weak runner] in
      // The connection of before may lead nowhere, and a pause has lost its reason.
      runner?.networkChanged(isThere: false)
      runner?.networkChanged(isThere: true)
    }
    networkChanges.withLock { $0 = changes }
  }

  func attach(_ owner: RemoteConfig) { state.withLock { $0.owner = owner } }

  /// The number of listeners.
  var listenerCount: Int { listeners.listenerCount }

  /// Adds a listener; the first one opens the connection, and removing the last one closes it.
  func add(
    onEnd: (@Sendable () -> Void)? = nil, _ listener: @escaping @Sendable (Outcome) -> Void
  ) -> ListenerRegistration {
    let registration = listeners.add(onEnd: onEnd, listener)
    if state.withLock({ $0.isDisabled && !$0.isOver }) {
      announce(.failure(RemoteConfigUpdateError(.unavailable)))
    } else {
      listenersChanged()
    }
    return ListenerRegistration { [weak self] in
      registration.cancel()
      self?.listenersChanged()
    }
  }

  private func listenersChanged() {
    link.withLock { $0 }?.setOpen { !self.state.withLock { $0.isDisabled } && self.listeners.listenerCount > 0 }
  }

  /// Closes the connection and ends the listeners.
  func end() {
    state.withLock { $0.isOver = true }
    networkChanges.withLock { $0.take() }?.cancel()
    link.withLock { $0 }?.end()
    listeners.finish()
  }

  // MARK: The connection

  private func connect(_ connection: LinkRunner.Connection) -> ListenerRegistration {
    guard let owner = state.withLock({ $0.owner }) else { return ListenerRegistration {} }
    let request = InvalidationsRequest(namespace: namespace, lastKnownVersion: owner.fetchedVersion)
    return backend.listenForInvalidations(request, context: caller.context) { error in
      connection.ended(error?.code)
    } _: { [weak self] message in
      self?.received(message, connection)
    }
  }

  private func received(_ message: ConfigInvalidation, _ connection: LinkRunner.Connection) {
    let pause = message.retryInterval.map { Duration.seconds($0) }
    guard connection.received(requestedPause: pause), let owner = state.withLock({ $0.owner }) else { return }
    if message.isFeatureDisabled {
      state.withLock { $0.isDisabled = true }
      listenersChanged()
      announce(.failure(RemoteConfigUpdateError(.unavailable)))
    } else if message.latestVersion > owner.fetchedVersion {
      fetch(message.latestVersion)
    }
  }

  // MARK: Fetching

  /// Fetches a version; of versions that are announced while another is fetched, the newest follows.
  private func fetch(_ version: Int64) {
    let begins = state.withLock { state in
      state.wantedVersion = max(state.wantedVersion, version)
      defer { state.isFetching = true }
      return !state.isFetching
    }
    guard begins else { return }
    Task { await fetchWanted() }
  }

  private func fetchWanted() async {
    while true {
      let (owner, version) = state.withLock { ($0.owner, $0.wantedVersion) }
      guard let owner else { return }
      announce(await update(of: owner, to: version))
      let isDone = state.withLock { state in
        guard state.wantedVersion == version || state.isOver else { return false }
        state.isFetching = false
        return true
      }
      if isDone { return }
    }
  }

  /// Fetches a version in some attempts.
  private func update(of owner: RemoteConfig, to version: Int64) async -> Outcome? {
    for _ in 0..<max(1, tuning.fetchAttempts) {
      do {
        guard let keys = try await owner.fetchAnnounced(version) else { continue }
        return keys.isEmpty ? nil : .success(RemoteConfigUpdate(updatedKeys: keys))
      } catch {
        return .failure(error)
      }
    }
    return .failure(RemoteConfigUpdateError(.notFetched))
  }

  private func announce(_ outcome: Outcome?) {
    guard let outcome else { return }
    listeners.change { _, announce in announce(outcome) }
  }
}
