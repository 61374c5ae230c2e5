public import VestaEventsInterop

/// The events that an engine offers to functions; the frame makes the outbox in the engine's store of it.
public struct EventOffer: Sendable {
  /// The name of the service, such as "firestore.googleapis.com".
  public var service: String

  /// The prefix of all keys of the outbox; the engine uses no key that begins with it.
  public var keys: [UInt8]

  /// The types of events.
  public var types: Set<EventType>

  /// The bounds of the outbox.
  public var limits: EventOutboxLimits

  /// Makes the data of an event of its record, when the event is delivered; throws for damaged bytes.
  public var data: @Sendable (EventRecord) throws -> EventData

  /// An offer.
  ///
  /// - Parameters:
  ///   - service: The name of the service.
  ///   - keys: The prefix of all keys of the outbox.
  ///   - types: The types of events.
  ///   - limits: The bounds of the outbox.
  ///   - data: Makes the data of an event of its record.
  public init(
    service: String, keys: [UInt8], types: Set<EventType>, limits: EventOutboxLimits = EventOutboxLimits(),
    data: @escaping @Sendable (EventRecord) throws -> EventData
  ) {
    self.service = service
    self.keys = keys
    self.types = types
    self.limits = limits
    self.data = data
  }

  /// No events: the outbox of the frame is never subscribed to.
  public static let none = EventOffer(service: "", keys: [], types: []) { _ in [:] }
}
