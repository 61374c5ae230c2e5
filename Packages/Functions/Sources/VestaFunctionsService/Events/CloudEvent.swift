public import Foundation
import VestaBytes
import VestaEventsInterop

/// An event, as a function sees it.
///
/// An event may be delivered more than once: after a failure, and after a crash. Each delivery has the same ``id``.
public struct CloudEvent<Value: Sendable>: Sendable {
  /// Identifies the event: a redelivery has the same id.
  public let id: String

  /// The kind of change, such as `google.cloud.firestore.document.v1.created`.
  public let type: String

  /// The service that published it and its scope, such as `//firestore.googleapis.com/(default)`.
  public let source: String

  /// The path of the changed document, object, account or reference.
  public let subject: String

  /// The time of the change.
  public let time: Date

  /// The kind of caller who has made the change: `unauthenticated`, `app_user`, `service_account` or `system`; `nil`
  /// where it is not known.
  public let authType: String?

  /// The id of the user, or the name of the owner.
  public let authID: String?

  /// The values of the pattern's wildcards by name.
  public let params: [String: String]

  /// The changed value.
  public let data: Value

  init(_ event: Event, params: [String: String] = [:], data: Value) {
    id = event.id
    type = event.type.rawValue
    source = event.source
    subject = event.path
    time = Date(timeIntervalSince1970: Double(event.time) / 1_000_000)
    (authType, authID) = (event.actor?.authType, event.actor?.id)
    self.params = params
    self.data = data
  }
}

/// A value before and after a change.
public struct EventChange<Value: Sendable>: Sendable {
  /// The value before the change; `nil` when it did not exist.
  public let before: Value?

  /// The value after the change; `nil` when it was deleted.
  public let after: Value?
}

/// An event that a function failed on too often; see `FunctionRegistry.deadLetters(of:limit:)`.
public struct DeadEvent: Sendable {
  /// The reason why the stored event cannot be read; `nil` for an intact one.
  ///
  /// It is not delivered. `resend(_:to:)` puts its bytes back into the queue, for a later version that can read them.
  public var damage: String? { letter.damage }

  /// The id of the event.
  public var id: String { letter.event.id }

  /// The kind of change.
  public var type: String { letter.event.type.rawValue }

  /// The path of the changed document, object, account or reference.
  public var subject: String { letter.event.path }

  /// The number of attempts.
  public var attempts: Int { letter.attempts }

  /// The last failure.
  public var reason: String { letter.reason }

  /// The time of the last attempt.
  public var time: Date { Date(timeIntervalSince1970: Double(letter.time) / 1_000_000) }

  let letter: DeadLetter
}
