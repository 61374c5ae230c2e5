public import VestaConcurrency
public import VestaEventsInterop
import VestaStoreInterop
import VestaStoreInteropFakes

/// A source whose events a test commits, and whose queue a test can make unreachable.
///
/// It is an outbox in the memory of the process. The data of an event is `{"payload": …}`, the text of its draft.
///
/// ```swift
/// let source = FakeEventSource()
/// source.subscribe([EventSubscription(function: "greet", types: [.documentCreated])])
/// try await source.commit("rooms/a", "rooms/b")
/// ```
public final class FakeEventSource: EventSource {
  /// The failure of a change that was to fail.
  public struct ChangeFailed: Error {}

  private let store = ModelStore()
  private let outbox: EventOutbox
  private let failure = Locked<(any Error)?>(nil)

  /// The service.
  public var service: String { outbox.service }

  /// The types of events.
  public var types: Set<EventType> { outbox.types }

  /// A source without subscriptions.
  ///
  /// - Parameters:
  ///   - service: The name of the service.
  ///   - types: The types of events that it publishes.
  public init(
    service: String = "firestore.googleapis.com", types: Set<EventType> = [.documentCreated, .documentDeleted]
  ) {
    let store = store
    outbox = EventOutbox(service: service, keys: [9], types: types, store: { store }) { record in
      ["payload": .string(String(decoding: record.payload, as: UTF8.self))]
    }
  }

  // MARK: For tests

  /// Commits the creation of documents of the database `(default)` in one transaction.
  public func commit(_ paths: String...) async throws {
    try await commit(
      paths.map { EventDraft(.documentCreated, scope: "(default)", path: $0, functions: [], payload: Array($0.utf8)) })
  }

  /// Commits changes in one transaction; the functions of the drafts are the subscribed ones.
  ///
  /// - Parameters:
  ///   - drafts: The changes.
  ///   - fails: Whether the transaction fails at its end.
  /// - Throws: ``ChangeFailed`` for a transaction that was to fail.
  public func commit(_ drafts: [EventDraft], fails: Bool = false) async throws {
    let outbox = outbox
    _ = try await store.write { transaction in
      for draft in drafts {
        guard let interest = outbox.interest else { continue }
        var draft = draft
        draft.functions = interest.functions(for: draft.type, scope: draft.scope, path: draft.path)
        try await outbox.append([draft], in: transaction)
      }
      if fails { throw ChangeFailed() }
    }
    outbox.wake()
  }

  /// Lets every call of a dispatcher fail with an error; `nil` ends that.
  public func fail(with error: (any Error)?) { failure.withLock { $0 = error } }

  private func check() throws {
    if let error = failure.withLock({ $0 }) { throw error }
  }

  // MARK: For dispatchers

  /// Replaces the subscriptions.
  public func subscribe(_ subscriptions: [EventSubscription]) { outbox.subscribe(subscriptions) }

  /// Adds an observer.
  public func observe(_ observer: any EventSourceObserver) -> ListenerRegistration { outbox.observe(observer) }

  /// Takes leases.
  public func lease(
    _ functions: Set<String>, for owner: String, duration: Int64
  ) async throws -> [String: EventLease] {
    try check()
    return try await outbox.lease(functions, for: owner, duration: duration)
  }

  /// Returns leases.
  public func release(_ functions: Set<String>, by owner: String) async throws {
    try check()
    try await outbox.release(functions, by: owner)
  }

  /// A page of a queue.
  public func events(_ request: EventPageRequest) async throws -> EventPage {
    try check()
    return try await outbox.events(request)
  }

  /// A whole event.
  public func event(_ entry: EventEntry) async throws -> Event? {
    try check()
    return try await outbox.event(entry)
  }

  /// Keeps outcomes.
  public func settle(_ outcomes: [EventOutcome], by owner: String) async throws {
    try check()
    try await outbox.settle(outcomes, by: owner)
  }

  /// The dead letters of a function.
  public func deadLetters(of function: String, limit: Int) async throws -> [DeadLetter] {
    try check()
    return try await outbox.deadLetters(of: function, limit: limit)
  }

  /// Puts dead letters back.
  public func resend(_ positions: [EventPosition], of function: String) async throws -> Int {
    try check()
    return try await outbox.resend(positions, of: function)
  }

  /// Deletes dead letters.
  public func discard(_ positions: [EventPosition], of function: String) async throws -> Int {
    try check()
    return try await outbox.discard(positions, of: function)
  }
}
