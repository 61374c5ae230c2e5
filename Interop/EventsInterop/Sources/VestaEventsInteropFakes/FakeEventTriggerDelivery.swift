import VestaConcurrency
public import VestaEventsInterop

/// Functions of another program in memory: the calls are recorded, and a test says how they end.
///
/// ```swift
/// let delivery = FakeEventTriggerDelivery()
/// delivery.setFailures(2)       // the next two calls fail
/// delivery.setSilent(true)      // calls wait until they are cancelled
/// delivery.calls                // what has arrived, the failed calls included
/// ```
public final class FakeEventTriggerDelivery: EventTriggerDelivery {
  /// The failure of a call that was to fail.
  public struct CallFailed: Error, Hashable {
    /// A failure.
    public init() {}
  }

  /// One call.
  public struct Call: Sendable, Hashable {
    /// The event.
    public var event: Event
    /// The function.
    public var trigger: EventTrigger
    /// The project.
    public var project: String
    /// Whether it has succeeded.
    public var hasSucceeded: Bool
  }

  private struct State {
    var calls: [Call] = []
    var failures = 0
    var isReachable = true
    var isSilent = false
  }

  /// Whether registrations are kept for the next process.
  public let keepsTriggers: Bool
  /// The triggers without a registration.
  public let standing: [EventTrigger]

  private let state = Locked(State())

  /// A delivery whose calls succeed.
  ///
  /// - Parameters:
  ///   - keepsTriggers: Whether registrations are kept for the next process.
  ///   - standing: The triggers without a registration.
  public init(keepsTriggers: Bool = true, standing: [EventTrigger] = []) {
    (self.keepsTriggers, self.standing) = (keepsTriggers, standing)
  }

  /// The calls that have arrived, in order.
  public var calls: [Call] { state.withLock { $0.calls } }

  /// Has the next calls fail.
  public func setFailures(_ count: Int) { state.withLock { $0.failures = count } }

  /// Sets whether calls arrive; the ones that do not are errors and are not recorded.
  public func setReachable(_ isReachable: Bool) { state.withLock { $0.isReachable = isReachable } }

  /// Sets whether calls have no answer.
  public func setSilent(_ isSilent: Bool) { state.withLock { $0.isSilent = isSilent } }

  /// Records a call.
  public func deliver(_ event: Event, to trigger: EventTrigger, of project: String) async throws {
    try Task.checkCancellation()
    let (fails, isSilent) = state.withLock { state in
      guard state.isReachable else { return (true, false) }
      let fails = state.failures > 0 || state.isSilent
      if state.failures > 0 { state.failures -= 1 }
      state.calls.append(Call(event: event, trigger: trigger, project: project, hasSucceeded: !fails))
      return (fails, state.isSilent)
    }
    if isSilent { try await Turn<Void>().wait { _ in } }
    if fails { throw CallFailed() }
  }
}
