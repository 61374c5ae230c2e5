import VestaConcurrency
import VestaMessagingBackend
import VestaServiceInterop

/// Acknowledges messages together, as ``AcknowledgementMachine`` decides.
final class AcknowledgementRunner: Sendable {
  private let backend: any MessagingBackend
  private let clock: ServiceClock
  private let tuning: MessagingTuning
  private let timers: ServiceTimers<AcknowledgementMachine.Timer>
  private let machine: Locked<AcknowledgementMachine>

  init(backend: any MessagingBackend, clock: ServiceClock, tuning: MessagingTuning = MessagingTuning()) {
    self.backend = backend
    self.clock = clock
    self.tuning = tuning
    timers = ServiceTimers(clock)
    machine = Locked(AcknowledgementMachine(batch: tuning.acknowledgementBatch, retry: tuning.retry))
  }

  /// Sets the token of the registration; without one there is nothing to acknowledge.
  func setToken(_ token: String?) { perform { $0.tokenChanged(token) } }

  func add(_ ids: [String]) {
    if !ids.isEmpty { perform { $0.add(ids) } }
  }

  func end() {
    machine.withLock { $0.close() }
    timers.end()
  }

  private func perform(_ event: (inout AcknowledgementMachine) -> [AcknowledgementMachine.Action]) {
    for action in machine.withLock({ event(&$0) }) {
      switch action {
      case .send(let token, let ids): Task { await send(ids, token) }
      case .wait(let timer, let pause):
        timers.start(timer, after: pause) { [weak self] in self?.perform { $0.ended(timer) } }
      }
    }
  }

  private func send(_ ids: [String], _ token: String) async {
    let outcome = await outcome(of: ids, token)
    perform { $0.answered(outcome) }
  }

  private func outcome(of ids: [String], _ token: String) async -> AcknowledgementMachine.Outcome {
    do {
      let context = CallContext().limited(to: tuning.callTimeout, by: clock)
      try await backend.acknowledge(token: token, messageIDs: ids, context: context)
      return .acknowledged
    } catch {
      // The messages of a removed registration are removed with it.
      if error.reason == .unregistered { return .unregistered }
      return error.code.isTransient ? .passing : .refused
    }
  }
}
