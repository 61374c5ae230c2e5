public import VestaBytes

/// The triggers and the events of one product as tools and hosts of functions know them; its endpoints contribute one.
///
/// Pure: a server sends what it says.
public protocol EventTriggerForm: Sendable {
  /// Reads the definition of a trigger, as the manifest of a codebase of functions has it.
  ///
  /// - Parameters:
  ///   - key: The name of the function.
  ///   - definition: `{"eventType","resource"}` of the first generation, or `{"eventType","eventFilters",
  ///     "eventFilterPathPatterns"}` of the second one.
  ///   - project: The project.
  /// - Returns: `nil` where the type is one of another product.
  /// - Throws: `EventTriggerError` with the member that is wrong.
  func trigger(
    _ key: String, _ definition: JSONObject, project: String
  ) throws(EventTriggerError) -> EventTrigger?

  /// The messages of an event to a function.
  ///
  /// - Parameters:
  ///   - event: The event.
  ///   - trigger: The function.
  ///   - project: The project.
  /// - Returns: The messages, which are sent in their order; `nil` where the event is one of another product.
  /// - Throws: Why the event has no such form.
  func messages(of event: Event, to trigger: EventTrigger, project: String) throws -> [EventMessage]?
}

/// A message to a function: the body of a request, its type, and the attributes of the event in its fields.
public struct EventMessage: Sendable, Hashable {
  /// An attribute of the event in binary form, a field `ce-…` of the request.
  public struct Attribute: Sendable, Hashable {
    /// The name, without `ce-`.
    public var name: String
    /// The value.
    public var value: String

    /// An attribute.
    public init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
  }

  /// The type of the body.
  public var contentType: String

  /// The attributes in the fields of the request.
  public var attributes: [Attribute]

  /// The body.
  public var body: [UInt8]

  /// A message.
  public init(contentType: String, attributes: [Attribute] = [], body: [UInt8]) {
    self.contentType = contentType
    self.attributes = attributes
    self.body = body
  }

  /// A message of JSON.
  public init(json: JSONObject, contentType: String = "application/json") throws(BytesError) {
    self.init(contentType: contentType, body: try json.json())
  }
}

/// The types of one product by the names that both generations of functions have for them.
public struct EventTypeNames: Sendable {
  private let legacy: String
  private let modern: String
  private let verbs: [(legacy: String, modern: String, types: Set<EventType>)]

  /// Names.
  ///
  /// - Parameters:
  ///   - legacy: The text before the verb in the first generation, such as
  ///     `providers/cloud.firestore/eventTypes/document.`.
  ///   - modern: The text before it in the second one, such as `google.cloud.firestore.document.v1.`.
  ///   - verbs: The verbs of both, and the types that each stands for.
  public init(
    legacy: String, modern: String, verbs: [(legacy: String, modern: String, types: Set<EventType>)]
  ) {
    (self.legacy, self.modern, self.verbs) = (legacy, modern, verbs)
  }

  /// The types that a name stands for, and its generation; `nil` for a name of another product.
  public func types(named name: String) -> (types: Set<EventType>, generation: EventTrigger.Generation)? {
    for verb in verbs {
      if name == legacy + verb.legacy { return (verb.types, .legacy) }
      if name == modern + verb.modern || name == modern + verb.modern + Self.withContext {
        return (verb.types, .cloudEvent)
      }
    }
    return nil
  }

  /// The name of a type in the first generation.
  public func legacyName(of type: EventType) -> String? {
    verbs.first { $0.types == [type] }.map { legacy + $0.legacy }
  }

  /// Types whose events say who has made the change; Vesta's always do.
  public static let withContext = ".withAuthContext"
}

extension JSONObject {
  /// A filter of a definition of the second generation, of either kind.
  public func eventFilter(_ name: String) -> String? {
    self["eventFilters"]?.object?[name]?.string ?? self["eventFilterPathPatterns"]?.object?[name]?.string
  }
}
