import Testing
import VestaConcurrency
import VestaEventsInterop
import VestaEventsInteropFakes
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStoreInterop
import VestaTesting

@testable import VestaFunctionsService

@Suite struct ClosedStoreTests {
  /// A source that keeps no outcome.
  private final class UnsettledSource: EventSource {
    let base = FakeEventSource()
    let settlements = Locked(0)
    private let error: any Error

    init(_ error: any Error) { self.error = error }

    var service: String { base.service }
    var types: Set<EventType> { base.types }

    func subscribe(_ subscriptions: [EventSubscription]) { base.subscribe(subscriptions) }
    func observe(_ observer: any EventSourceObserver) -> ListenerRegistration { base.observe(observer) }

    func lease(
      _ functions: Set<String>, for owner: String, duration: Int64
    ) async throws -> [String: EventLease] { try await base.lease(functions, for: owner, duration: duration) }

    func release(_ functions: Set<String>, by owner: String) async throws {
      try await base.release(functions, by: owner)
    }

    func events(_ request: EventPageRequest) async throws -> EventPage { try await base.events(request) }
    func event(_ entry: EventEntry) async throws -> Event? { try await base.event(entry) }

    func settle(_ outcomes: [EventOutcome], by owner: String) async throws {
      settlements.withLock { $0 += 1 }
      throw error
    }

    func deadLetters(of function: String, limit: Int) async throws -> [DeadLetter] { [] }
    func resend(_ positions: [EventPosition], of function: String) async throws -> Int { 0 }
    func discard(_ positions: [EventPosition], of function: String) async throws -> Int { 0 }
  }

  private func begin(_ source: UnsettledSource, _ clock: ManualClock) async throws -> EventFunctions {
    let events = EventFunctions(options: FunctionsServiceOptions(), clock: clock.service) { [source] }
    try events.register(
      EventFunction(
        subscription: EventSubscription(function: "f", types: [.documentCreated]), options: EventOptions()
      ) { _ in })
    try await source.base.commit("a/1")
    return events
  }

  @Test func `outcomes are settled again after a failure, and not when the store is closed`() async throws {
    let clock = ManualClock()
    let closed = UnsettledSource(StoreError(.closed, operation: "commit", message: "It is closed."))
    let failing = UnsettledSource(Broken())
    let events = [try await begin(closed, clock), try await begin(failing, clock)]
    while closed.settlements.withLock({ $0 }) == 0 || failing.settlements.withLock({ $0 }) < 9 {
      clock.advance(by: .milliseconds(20))
      await Task.yield()
    }
    // A second attempt would have been made meanwhile.
    #expect(closed.settlements.withLock { $0 } == 1)
    for functions in events { await functions.close() }
  }
}
