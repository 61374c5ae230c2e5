public import VestaBytes

/// A function of another program that wants events, as a tool has registered it over the wire.
public struct EventTrigger: Sendable, Hashable {
  /// The form in which a function gets its events.
  public enum Generation: String, Sendable, Hashable, CaseIterable {
    /// An event with its context, the form of the first generation of functions.
    case legacy
    /// A CloudEvent, the form of the second generation.
    case cloudEvent
    /// Both forms, for the host of functions as a whole, which knows by itself which of its functions want the event.
    case multicast
  }

  /// The name of the function at its host, such as `us-central1-greet-0`.
  public var key: String

  /// The type of events as it was registered, such as `providers/cloud.firestore/eventTypes/document.write`.
  public var eventType: String

  /// The form of the events.
  public var generation: Generation

  /// The types that the function wants.
  public var types: Set<EventType>

  /// The database, bucket or tenant, in which `*` stands for any characters; `nil` for all.
  public var scope: String?

  /// The paths; `nil` for all.
  public var pattern: EventPattern?

  /// A trigger.
  public init(
    key: String, eventType: String, generation: Generation, types: Set<EventType>, scope: String? = nil,
    pattern: EventPattern? = nil
  ) {
    self.key = key
    self.eventType = eventType
    self.generation = generation
    self.types = types
    self.scope = scope == "*" ? nil : scope
    self.pattern = pattern
  }

  /// The subscription that records the events of the function.
  ///
  /// A subscription has one scope or all: with wildcards in the scope it has all, and ``wants(_:)`` distinguishes the
  /// events apart.
  public var subscription: EventSubscription {
    let hasWildcard = scope?.contains("*") ?? false
    return EventSubscription(
      function: "trigger/\(key)", types: types, scope: hasWildcard ? nil : scope, pattern: pattern)
  }

  /// Whether the scope of an event is one of the function's.
  public func wants(_ event: Event) -> Bool {
    scope.map { Self.matches(Array(event.scope.utf8), Array($0.utf8)) } ?? true
  }

  /// Whether a text is what a pattern says, in which `*` stands for any characters.
  private static func matches(_ text: [UInt8], _ pattern: [UInt8]) -> Bool {
    var (index, place) = (0, 0)
    // Where the last wildcard is, and the text that it is tried to end at.
    var retry: (index: Int, place: Int)?
    while index < text.count {
      if place < pattern.count, pattern[place] == UInt8(ascii: "*") {
        retry = (index, place)
        place += 1
      } else if place < pattern.count, pattern[place] == text[index] {
        (index, place) = (index + 1, place + 1)
      } else if let last = retry {
        retry = (last.index + 1, last.place)
        (index, place) = (last.index + 1, last.place + 1)
      } else {
        return false
      }
    }
    return pattern[place...].allSatisfy { $0 == UInt8(ascii: "*") }
  }
}

extension EventTrigger {
  /// The trigger as an object of JSON, as a registration is kept.
  public var json: JSONObject {
    var object: JSONObject = [
      "key": .string(key), "eventType": .string(eventType), "generation": .string(generation.rawValue),
      "types": .array(types.map(\.rawValue).sorted().map { .string($0) }),
    ]
    object["scope"] = scope.map { .string($0) }
    object["pattern"] = pattern.map { .string($0.description) }
    return object
  }

  /// Reads a trigger that was kept.
  ///
  /// - Throws: `EventTriggerError` for an object that is none.
  public init(json: JSONObject) throws(EventTriggerError) {
    guard let key = json["key"]?.string, let eventType = json["eventType"]?.string,
      let generation = json["generation"]?.string.flatMap(Generation.init),
      let types = json["types"]?.array?.compactMap(\.string), !types.isEmpty
    else { throw EventTriggerError("This is no trigger: it needs key, eventType, generation and types.") }
    let pattern: EventPattern?
    do throws(EventPatternError) {
      pattern = try json["pattern"]?.string.map { text throws(EventPatternError) in try EventPattern(text) }
    } catch {
      throw EventTriggerError(error.description)
    }
    self.init(
      key: key, eventType: eventType, generation: generation, types: Set(types.map(EventType.init)),
      scope: json["scope"]?.string, pattern: pattern)
  }
}

/// The reason why a trigger is refused.
public struct EventTriggerError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The mistake, and what to write instead.
  public let description: String

  /// An error.
  public init(_ description: String) { self.description = description }
}
