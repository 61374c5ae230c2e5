public import VestaConcurrency

/// The events of an engine, which a library contributes to an app and Functions delivers.
///
/// A durable queue for each function that has subscribed. Events enter it in the transaction of their change, in commit
/// order. One dispatcher at a time takes a function's events out; see ``lease(_:for:duration:)``.
///
/// A row that cannot be read does not stop its queue: its entry says so in ``EventEntry/damage``, and the dispatcher
/// makes a dead letter of it, which keeps the bytes.
///
/// All members may be called from any task or thread at once. A call after the engine was closed throws.
public protocol EventSource: AnyObject, Sendable {
  /// The service, such as `firestore.googleapis.com`; no other source of the app has this name.
  var service: String { get }

  /// The types of events that the source has.
  var types: Set<EventType> { get }

  /// Replaces the subscriptions: changes that are committed from here on are recorded for these functions.
  ///
  /// Queued events stay, also for functions that are not among them.
  func subscribe(_ subscriptions: [EventSubscription])

  /// Notifies an observer after commits with events, and before the source closes.
  ///
  /// - Parameter observer: Kept until the registration is cancelled.
  /// - Returns: The registration; cancel it to get no more calls.
  func observe(_ observer: any EventSourceObserver) -> ListenerRegistration

  /// Takes or extends the right to deliver the events of functions.
  ///
  /// The time of a lease is the store's, which all processes share and which only grows: no process's clock has a say.
  ///
  /// - Parameters:
  ///   - functions: The names of the functions, each of which has a separate lease.
  ///   - owner: The name of the dispatcher; another one at each start of a process.
  ///   - duration: How long the right lasts, in microseconds.
  /// - Returns: The answer for each function.
  func lease(_ functions: Set<String>, for owner: String, duration: Int64) async throws -> [String: EventLease]

  /// Gives the right to deliver the events of functions up, where the owner has it.
  func release(_ functions: Set<String>, by owner: String) async throws

  /// A page of the queue of a function.
  ///
  /// - Parameter request: Which part of the queue.
  /// - Returns: Events in order, and how far they reach.
  func events(_ request: EventPageRequest) async throws -> EventPage

  /// The whole event of an entry.
  ///
  /// - Returns: `nil` when the entry is no longer in the queue.
  /// - Throws: `EventDamaged` when the stored bytes cannot be read: another attempt fails too. Any other error when the
  ///   store could not be read this time.
  func event(_ entry: EventEntry) async throws -> Event?

  /// Keeps the outcomes of deliveries, all or none.
  ///
  /// - Parameters:
  ///   - outcomes: The outcomes; outcomes of events that are no longer in the queue do nothing.
  ///   - owner: The owner of the lease.
  /// - Throws: `EventLeaseLost` when another owner has leased one of the functions; nothing is changed then.
  func settle(_ outcomes: [EventOutcome], by owner: String) async throws

  /// The dead letters of a function, the oldest first.
  ///
  /// - Parameters:
  ///   - function: The name of the function.
  ///   - limit: How many at the most.
  func deadLetters(of function: String, limit: Int) async throws -> [DeadLetter]

  /// Puts dead letters back to the end of the queue, with their ids and without their attempts.
  ///
  /// A letter whose row in the queue could not be read is returned with the bytes of that row, for a later version that
  /// can read it; its id changes.
  ///
  /// - Parameters:
  ///   - positions: Which.
  ///   - function: The name of the function.
  /// - Returns: How many letters were put back.
  func resend(_ positions: [EventPosition], of function: String) async throws -> Int

  /// Deletes dead letters.
  ///
  /// - Returns: How many there were.
  func discard(_ positions: [EventPosition], of function: String) async throws -> Int
}

/// An observer of a source.
public protocol EventSourceObserver: AnyObject, Sendable {
  /// Events may have been committed. Called on any thread, with no lock held; returns soon.
  func eventsWereRecorded()

  /// The store of several processes has a new commit, which may be another process's and have events. Called as
  /// ``eventsWereRecorded()`` is, and far more often.
  func othersMayHaveRecorded()

  /// The source is about to close: the last time to settle and to release the lease.
  func sourceWillClose() async
}

extension EventSourceObserver {
  /// Does nothing.
  public func othersMayHaveRecorded() {}
}

/// The answer to a request for a lease.
public enum EventLease: Sendable, Hashable {
  /// The owner has it.
  ///
  /// `isNew` says whether it had not been the last owner: then others may have delivered in the meantime.
  case held(isNew: Bool)

  /// Another owner has it, for at most the given number of microseconds unless it extends it.
  case busy(remaining: Int64)
}

/// Another owner has leased functions.
public struct EventLeaseLost: Error, Sendable, Hashable {
  /// The names of the functions.
  public let functions: Set<String>

  /// The error.
  public init(_ functions: Set<String>) { self.functions = functions }
}

/// The stored bytes of an event cannot be read.
public struct EventDamaged: Error, Sendable, Hashable, CustomStringConvertible {
  /// The mistake in the bytes.
  public let description: String

  /// The error.
  public init(_ description: String) { self.description = description }
}

/// A request for a part of a queue.
public struct EventPageRequest: Sendable, Hashable {
  /// The function whose queue it is.
  public var function: String

  /// The position before the first event; `nil` for the beginning.
  public var after: EventPosition?

  /// The last position to look at; `nil` for the end.
  public var through: EventPosition?

  /// The one lane to return events of; `nil` for all.
  public var lane: EventLane?

  /// The largest number of events.
  public var limit: Int

  /// A request.
  public init(
    function: String, after: EventPosition? = nil, through: EventPosition? = nil, lane: EventLane? = nil, limit: Int
  ) {
    self.function = function
    self.after = after
    self.through = through
    self.lane = lane
    self.limit = limit
  }
}

/// A page of a queue.
public struct EventPage: Sendable {
  /// The events, in order.
  public var entries: [EventEntry]

  /// Whether there was nothing after the last of them.
  public var isLast: Bool

  /// A sentence for each row that was passed over because its key cannot be read.
  public var unreadableKeys: [String] = []

  /// A page.
  public init(entries: [EventEntry], isLast: Bool) {
    self.entries = entries
    self.isLast = isLast
  }
}

/// The unit of order among events: one document, object, account or reference.
public struct EventLane: Sendable, Hashable {
  /// The database, bucket or tenant.
  public var scope: String

  /// The path within the scope.
  public var path: String

  /// A lane.
  public init(scope: String, path: String) {
    self.scope = scope
    self.path = path
  }
}

/// An entry of a queue: an event with the state of its delivery.
public struct EventEntry: Sendable, Hashable {
  /// The function that gets it.
  public var function: String

  /// Its place in the queue.
  public var position: EventPosition

  /// The events that it is kept in order with.
  public var lane: EventLane

  /// The number of attempts.
  public var attempts: Int

  /// The time before which it is not attempted again, in microseconds since 1970; 0 for none.
  public var retryTime: Int64

  /// The commit time of the change, in microseconds since 1970.
  public var time: Int64

  /// The stored event where it is small, so that it need not be read again; of the source's own form.
  public var record: StoredEvent?

  /// The reason why the stored event cannot be read; `nil` for an event that can be delivered.
  ///
  /// The document of such an event is unknown, so it has a separate lane.
  public var damage: String?

  /// An entry.
  public init(
    function: String, position: EventPosition, lane: EventLane, attempts: Int = 0, retryTime: Int64 = 0,
    time: Int64, record: StoredEvent? = nil
  ) {
    self.function = function
    self.position = position
    self.lane = lane
    self.attempts = attempts
    self.retryTime = retryTime
    self.time = time
    self.record = record
  }
}

/// The outcome of a delivery.
public struct EventOutcome: Sendable, Hashable {
  /// The next state of the event.
  public enum Result: Sendable, Hashable {
    /// It was delivered, and leaves the queue.
    case delivered
    /// It stays, to be attempted again at a time in microseconds since 1970.
    case retry(at: Int64, reason: String)
    /// It becomes a dead letter.
    case dead(at: Int64, reason: String)
  }

  /// The function.
  public var function: String

  /// The position of the event.
  public var position: EventPosition

  /// The number of attempts, this one included.
  public var attempts: Int

  /// The result.
  public var result: Result

  /// An outcome.
  public init(function: String, position: EventPosition, attempts: Int, result: Result) {
    self.function = function
    self.position = position
    self.attempts = attempts
    self.result = result
  }
}

/// An event that was attempted too often.
public struct DeadLetter: Sendable, Hashable {
  /// The place among the dead letters of the function.
  public var position: EventPosition

  /// The event; without data, and with what else could be read, where there is ``damage``.
  public var event: Event

  /// The number of attempts.
  public var attempts: Int

  /// The last failure.
  public var reason: String

  /// The time of the last attempt, in microseconds since 1970.
  public var time: Int64

  /// The reason why the stored event cannot be read; `nil` for an intact one.
  public var damage: String?

  /// A dead letter.
  public init(
    position: EventPosition, event: Event, attempts: Int, reason: String, time: Int64, damage: String? = nil
  ) {
    self.damage = damage
    self.position = position
    self.event = event
    self.attempts = attempts
    self.reason = reason
    self.time = time
  }
}
