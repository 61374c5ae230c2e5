public import VestaBytes

/// A change that a function is notified of, with the attributes of CloudEvents.
public struct Event: Sendable, Hashable {
  /// Identifies the event: a redelivery has the same id, and no other event of the app has it.
  public var id: String

  /// The kind of change.
  public var type: EventType

  /// The service that published it and its scope, such as `//firestore.googleapis.com/(default)`.
  public var source: String

  /// The database, bucket or tenant within the service; "" where there is only one.
  public var scope: String

  /// The path of what was changed within the scope, such as `rooms/a`, without a slash at either end.
  public var path: String

  /// The commit time of the change, in microseconds since 1970.
  public var time: Int64

  /// The changed value, in the form that the service's JSON has; made when it is asked for where the source can.
  public var data: JSONObject {
    get { content.object }
    set { content = EventData(newValue) }
  }

  /// The changed value, made or not.
  public var content: EventData

  /// The caller who has made the change; `nil` where it is not known, as for events that an earlier version has
  /// recorded.
  public var actor: EventActor?

  /// An event.
  public init(
    id: String, type: EventType, source: String, scope: String = "", path: String, time: Int64, data: EventData,
    actor: EventActor? = nil
  ) {
    self.id = id
    self.type = type
    self.source = source
    self.scope = scope
    self.path = path
    self.time = time
    content = data
    self.actor = actor
  }
}

/// The place of an event in the queue of its function: commit order.
public struct EventPosition: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The version of the commit.
  public let version: Int64

  /// The number within the commit.
  public let number: Int64

  /// A position.
  public init(version: Int64, number: Int64) {
    self.version = version
    self.number = number
  }

  /// Whether one event precedes another.
  public static func < (left: EventPosition, right: EventPosition) -> Bool {
    (left.version, left.number) < (right.version, right.number)
  }

  /// The version and the number.
  public var description: String { "\(version).\(number)" }
}
