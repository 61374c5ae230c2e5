import VestaConcurrency
import VestaRemoteConfigBackend
import VestaServiceInterop

/// Keeps the realtime connection that a ``RealtimeMachine`` asks for, and the listeners for updates.
final class RealtimeRunner: Sendable {
  typealias Outcome = Result<RemoteConfigUpdate, any Error>

  private let backend: any RemoteConfigBackend
  private let namespace: String
  private let clock: ServiceClock
  private let random: @Sendable () -> Double
  private let listeners = StateSource<Void, Outcome>(())
  private let tuning: RemoteConfigTuning
  private let state: Locked<State>

  private struct State {
    weak var owner: RemoteConfig?
    var machine: RealtimeMachine
    var connection: ListenerRegistration?
    var timer: ListenerRegistration?
    /// The number of the connection: what an earlier one still reports is ignored.
    var generation = 0
    var isFetching = false
    var wantedVersion: Int64 = 0
    var isOver = false
  }

  init(
    backend: any RemoteConfigBackend, namespace: String, clock: ServiceClock,
    tuning: RemoteConfigTuning = RemoteConfigTuning(), random: @escaping @Sendable () -> Double
  ) {
    self.backend = backend
    self.namespace = namespace
    self.clock = clock
    self.tuning = tuning
    self.random = random
    state = Locked(State(machine: RealtimeMachine(tuning: tuning)))
  }

  func attach(_ owner: RemoteConfig) { state.withLock { $0.owner = owner } }

  /// The number of listeners.
  var listenerCount: Int { listeners.listenerCount }

  /// Adds a listener; the first one opens the connection, and removing the last one closes it.
  func add(
    onEnd: (@Sendable () -> Void)? = nil, _ listener: @escaping @Sendable (Outcome) -> Void
  ) -> ListenerRegistration {
    let registration = listeners.add(onEnd: onEnd, listener)
    listenersChanged()
    return ListenerRegistration { [weak self] in
      registration.cancel()
      self?.listenersChanged()
    }
  }

  private func listenersChanged() {
    let now = seconds
    // Counted under the lock: of two changes at the same time the later one sees the count after both.
    step { $0.listenersChanged(to: self.listeners.listenerCount, now: now) }
  }

  private var seconds: Double { Double(clock.now()) / 1_000_000 }

  /// Closes the connection and ends the listeners.
  func end() {
    let link = state.withLock { state in
      state.isOver = true
      return Self.takeLink(&state)
    }
    close(link)
    listeners.finish()
  }

  // MARK: Acting

  /// An action, decided while the state was locked, so that the order in which several threads carry out
  /// theirs makes no difference: only the newest connection or timer is kept.
  private enum Effect {
    case connect(generation: Int)
    case close([ListenerRegistration])
    case wait(seconds: Double, generation: Int)
    case fetch(version: Int64)
    case fail(RemoteConfigUpdateError.Code)
  }

  private func step(_ event: (inout RealtimeMachine) -> [RealtimeMachine.Action]) {
    let effects = state.withLock { state -> [Effect] in
      guard !state.isOver else { return [] }
      return event(&state.machine).map { Self.effect($0, &state) }
    }
    for effect in effects { perform(effect) }
  }

  private static func effect(_ action: RealtimeMachine.Action, _ state: inout State) -> Effect {
    switch action {
    case .connect:
      state.generation += 1
      return .connect(generation: state.generation)
    case .disconnect: return .close(takeLink(&state))
    case .wait(let seconds):
      state.generation += 1
      return .wait(seconds: seconds, generation: state.generation)
    case .fetch(let version): return .fetch(version: version)
    case .fail(let code): return .fail(code)
    }
  }

  private static func takeLink(_ state: inout State) -> [ListenerRegistration] {
    state.generation += 1
    defer { (state.connection, state.timer) = (nil, nil) }
    return [state.connection, state.timer].compactMap { $0 }
  }

  private func perform(_ effect: Effect) {
    switch effect {
    case .connect(let generation): connect(generation)
    case .close(let link): close(link)
    case .wait(let seconds, let generation): wait(seconds, generation)
    case .fetch(let version): fetch(version)
    case .fail(let code): announce(.failure(RemoteConfigUpdateError(code)))
    }
  }

  private func close(_ link: [ListenerRegistration]) { for registration in link { registration.cancel() } }

  private func connect(_ generation: Int) {
    guard let owner = state.withLock({ $0.generation == generation ? $0.owner : nil }) else { return }
    let request = InvalidationsRequest(namespace: namespace, lastKnownVersion: owner.fetchedVersion)
    let connection = backend.listenForInvalidations(request, context: CallContext()) { [weak self] error in
      self?.connectionEnded(error, generation)
    } _: { [weak self] message in
      self?.received(message, generation)
    }
    keep(connection: connection, generation)
  }

  private func wait(_ seconds: Double, _ generation: Int) {
    let timer = clock.schedule(after: .milliseconds(Int64(seconds * 1000))) { [weak self] in
      guard let self else { return }
      let now = self.seconds
      self.step { $0.pauseEnded(now: now) }
    }
    keep(timer: timer, generation)
  }

  /// Keeps a connection or a timer, unless it was superseded while it was being made.
  private func keep(
    connection: ListenerRegistration? = nil, timer: ListenerRegistration? = nil, _ generation: Int
  ) {
    let superseded = state.withLock { state in
      guard state.generation == generation, !state.isOver else { return [connection, timer] }
      defer { (state.connection, state.timer) = (connection, timer) }
      return [state.connection, state.timer]
    }
    close(superseded.compactMap { $0 })
  }

  private func connectionEnded(_ error: RemoteConfigServiceError?, _ generation: Int) {
    guard state.withLock({ $0.generation == generation }) else { return }
    let factor = random() < 0.5 ? 0.5 : 1.5
    let now = seconds
    step { $0.ended(error?.code, now: now, factor: factor) }
  }

  private func received(_ message: ConfigInvalidation, _ generation: Int) {
    let owner = state.withLock { $0.generation == generation ? $0.owner : nil }
    guard let owner else { return }
    let known = owner.fetchedVersion
    step {
      $0.received(
        version: message.latestVersion, known: known, isDisabled: message.isFeatureDisabled,
        retryInterval: message.retryInterval)
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
