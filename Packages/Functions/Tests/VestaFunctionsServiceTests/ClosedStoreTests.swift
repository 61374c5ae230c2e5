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

  /// How often outcomes are settled within some minutes, or until that has happened a number of times.
  private func settlements(failingWith error: any Error, upTo limit: Int) async throws -> Int {
    let (source, clock) = (UnsettledSource(error), ManualClock())
    let events = EventFunctions(options: FunctionsServiceOptions(), clock: clock.service) { [source] }
    try events.register(
      EventFunction(
        subscription: EventSubscription(function: "f", types: [.documentCreated]), options: EventOptions()
      ) { _ in })
    try await source.base.commit("a/1")
    func count() -> Int { source.settlements.withLock { $0 } }
    while count() == 0 {
      clock.advance(by: .milliseconds(20))
      await Task.yield()
    }
    for _ in 0..<200 where count() < limit {
      clock.advance(by: .seconds(1))
      for _ in 0..<20 { await Task.yield() }
    }
    let found = count()
    await events.close()
    return found
  }

  @Test func `outcomes are settled again after a failure, and not when the store is closed`() async throws {
    let closed = StoreError(.closed, operation: "commit", message: "It is closed.")
    #expect(try await settlements(failingWith: closed, upTo: 2) == 1)
    #expect(try await settlements(failingWith: Broken(), upTo: 2) == 2)
  }
}
