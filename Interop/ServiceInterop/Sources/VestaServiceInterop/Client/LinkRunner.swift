public import VestaConcurrency

/// Keeps a link to a service open, as a ``LinkMachine`` decides.
///
/// The owner says how a link is opened; the runner opens it, opens it again after pauses, and drops it. Reports of an
/// earlier link are ignored.
///
/// ```swift
/// let link = LinkRunner(policy, clock: clock) { connection in
///   backend.listen(request, context: context) { error in
///     connection.ended(error?.code)
///   } _: { message in
///     if connection.received() { apply(message) }
///   }
/// } onFailure: { code in report(code) }
/// link.open()
/// ```
public final class LinkRunner: Sendable {
  /// One link, as its owner reports about it.
  public struct Connection: Sendable {
    private weak let runner: LinkRunner?
    private let generation: Int

    /// Whether this attempt follows a refused credential, and is to be made with a refreshed one.
    public let refreshesCredential: Bool

    init(_ runner: LinkRunner, _ generation: Int, refreshesCredential: Bool) {
      (self.runner, self.generation, self.refreshesCredential) = (runner, generation, refreshesCredential)
    }

    /// Whether this is the link of the runner now.
    public var isCurrent: Bool { runner?.isCurrent(generation) ?? false }

    /// Notes a message.
    ///
    /// - Parameter requestedPause: The pause that the service asks for after this link.
    /// - Returns: Whether this is the link of the runner now; the message of another one is to be ignored.
    @discardableResult
    public func received(requestedPause: Duration? = nil) -> Bool {
      runner?.received(generation, requestedPause) ?? false
    }

    /// Notes the end of the link.
    ///
    /// - Parameter code: The code of the failure; `nil` for an end in order.
    public func ended(_ code: ServiceCode?) { runner?.ended(generation, code) }
  }

  private struct State {
    var machine: LinkMachine
    var link: ListenerRegistration?
    var timer: ListenerRegistration?
    /// The number of the link or the pause; reports of an earlier one are ignored.
    var generation = 0
    var isOver = false
  }

  /// An effect, decided while the state was locked: the order in which several threads perform theirs makes no
  /// difference, because only the newest link or timer is kept.
  private enum Action {
    case connect(generation: Int, refreshesCredential: Bool)
    case cancel([ListenerRegistration])
    case wait(Duration, generation: Int)
    case fail(ServiceCode)
  }

  private let clock: ServiceClock
  private let random: @Sendable () -> Double
  private let connect: @Sendable (Connection) -> ListenerRegistration
  private let onFailure: @Sendable (ServiceCode) -> Void
  private let state: Locked<State>

  /// A closed link.
  ///
  /// - Parameters:
  ///   - policy: The rules.
  ///   - clock: Drives the pauses.
  ///   - random: Returns random numbers from 0 up to 1.
  ///   - connect: Opens a link and returns what drops it. Called with no lock held.
  ///   - onFailure: Called when the link is closed for good, until ``open()`` is called again.
  public init(
    _ policy: LinkPolicy, clock: ServiceClock, random: @escaping @Sendable () -> Double = Retry.systemRandom,
    connect: @escaping @Sendable (Connection) -> ListenerRegistration,
    onFailure: @escaping @Sendable (ServiceCode) -> Void = { _ in }
  ) {
    self.clock = clock
    self.random = random
    self.connect = connect
    self.onFailure = onFailure
    state = Locked(State(machine: LinkMachine(policy)))
  }

  /// The state of the link.
  public var phase: LinkMachine.Phase { state.withLock { $0.machine.phase } }

  /// Wants the link; it opens at once, or after the pause that is under way.
  public func open() { setOpen { true } }

  /// Drops the link.
  public func close() { setOpen { false } }

  /// Opens or closes the link, as a condition says that is read under the runner's lock: of two changes at the same
  /// time the later one sees the condition after both.
  ///
  /// - Parameter isWanted: Whether the link is wanted; it must not call the runner.
  public func setOpen(_ isWanted: () -> Bool) {
    let now = clock.now()
    step { isWanted() ? $0.open(now: now) : $0.close() }
  }

  /// Drops the link for good.
  public func end() {
    let dropped = state.withLock { state in
      state.isOver = true
      return Self.takeLink(&state)
    }
    for registration in dropped { registration.cancel() }
  }

  /// Notes that the network is there, or not.
  ///
  /// - Parameter isThere: Whether the network is there.
  public func networkChanged(isThere: Bool) {
    let now = clock.now()
    step { isThere ? $0.networkFound(now: now) : $0.networkLost() }
  }

  /// Notes that the app is in the foreground again.
  public func cameToForeground() {
    let now = clock.now()
    step { $0.cameToForeground(now: now) }
  }

  // MARK: Reports of links

  fileprivate func isCurrent(_ generation: Int) -> Bool {
    state.withLock { $0.generation == generation && !$0.isOver }
  }

  fileprivate func received(_ generation: Int, _ requestedPause: Duration?) -> Bool {
    state.withLock { state in
      guard state.generation == generation, !state.isOver else { return false }
      state.machine.received(requestedPause: requestedPause)
      return true
    }
  }

  fileprivate func ended(_ generation: Int, _ code: ServiceCode?) {
    let now = clock.now()
    step(of: generation) { $0.ended(code, now: now, random: self.random) }
  }

  // MARK: Acting

  private func step(of generation: Int? = nil, _ event: (inout LinkMachine) -> [LinkMachine.Effect]) {
    let actions = state.withLock { state -> [Action] in
      guard !state.isOver, generation == nil || state.generation == generation else { return [] }
      return event(&state.machine).map { Self.action($0, &state) }
    }
    for action in actions { perform(action) }
  }

  private static func action(_ effect: LinkMachine.Effect, _ state: inout State) -> Action {
    switch effect {
    case .connect(let refreshesCredential):
      state.generation += 1
      return .connect(generation: state.generation, refreshesCredential: refreshesCredential)
    case .disconnect: return .cancel(takeLink(&state))
    case .wait(let pause):
      state.generation += 1
      return .wait(pause, generation: state.generation)
    case .fail(let code): return .fail(code)
    }
  }

  private static func takeLink(_ state: inout State) -> [ListenerRegistration] {
    state.generation += 1
    defer { (state.link, state.timer) = (nil, nil) }
    return [state.link, state.timer].compactMap { $0 }
  }

  private func perform(_ action: Action) {
    switch action {
    case .connect(let generation, let refreshesCredential):
      guard isCurrent(generation) else { return }
      keep(link: connect(Connection(self, generation, refreshesCredential: refreshesCredential)), generation)
    case .cancel(let registrations): for registration in registrations { registration.cancel() }
    case .wait(let pause, let generation):
      let timer = clock.schedule(after: pause) { [weak self] in
        guard let self else { return }
        let now = self.clock.now()
        self.step(of: generation) { $0.pauseEnded(now: now) }
      }
      keep(timer: timer, generation)
    case .fail(let code): onFailure(code)
    }
  }

  /// Keeps a link or a timer, unless it was superseded while it was being made.
  private func keep(link: ListenerRegistration? = nil, timer: ListenerRegistration? = nil, _ generation: Int) {
    let superseded = state.withLock { state in
      guard state.generation == generation, !state.isOver else { return [link, timer] }
      defer { (state.link, state.timer) = (link, timer) }
      return [state.link, state.timer]
    }
    for registration in superseded { registration?.cancel() }
  }
}
