/// An event before it is recorded.
public struct EventDraft: Sendable, Hashable {
  /// The type.
  public var type: EventType

  /// The database, bucket or tenant; "" where there is only one.
  public var scope: String

  /// The path of what is changed, without a slash at either end.
  public var path: String

  /// The functions that want it; see `EventInterest.functions(for:scope:path:)`.
  public var functions: [String]

  /// The source of the event's data, such as the rows before and after the change.
  public var payload: [UInt8]

  /// The caller who makes the change; `nil` where it is not known.
  public var actor: EventActor?

  /// An event.
  public init(
    _ type: EventType, scope: String = "", path: String, functions: [String], actor: EventActor? = nil, payload: [UInt8]
  ) {
    self.type = type
    self.scope = scope
    self.path = path
    self.functions = functions
    self.actor = actor
    self.payload = payload
  }
}

/// The bounds of an outbox.
public struct EventOutboxLimits: Sendable, Hashable {
  /// The largest number of events that wait for one function; changes that would add to them fail with
  /// ``EventOutboxFull``.
  public var maximumPending: Int

  /// The number of dead letters of one function that are kept; the oldest go when there are a tenth more.
  public var maximumDeadLetters: Int

  /// The number of changes that are refused without counting the events of a full queue, which would hold up every
  /// other change.
  public var uncountedRefusals = 1_000

  /// The number of outcomes of one function up to which their rows are deleted one by one.
  public var singleDeletions = 8

  /// The size up to which an event is handed out with its entry, in bytes.
  public var inlineSize = 4_096

  /// The number of latest commits whose events are numbered in memory: at least as many transactions as record events
  /// more than once at the same time.
  public var rememberedCommits = 64

  /// Bounds; a bound that is not named has its default.
  public init(maximumPending: Int = 1_000_000, maximumDeadLetters: Int = 10_000) {
    self.maximumPending = maximumPending
    self.maximumDeadLetters = maximumDeadLetters
  }
}

/// A change was refused because too many events wait for a function.
public struct EventOutboxFull: Error, Sendable, Hashable, CustomStringConvertible {
  /// The function.
  public let function: String

  /// The number of events that wait.
  public let pending: Int

  /// The limit, and what to do.
  public var description: String {
    """
    \(pending) events wait for the function "\(function)", which is the limit: changes that it would be notified of \
    are refused until it has caught up. Make the function faster, or remove it.
    """
  }
}
