import VestaConcurrency
public import VestaEventsInterop
public import VestaServiceInterop
public import VestaTransportInterop

/// Calls functions of another program with events, by the paths that the functions emulator of the Firebase CLI has.
///
/// | trigger | request |
/// |---|---|
/// | of one function | `POST /functions/projects/P/triggers/KEY` |
/// | of the host as a whole | `POST /functions/projects/P/trigger_multicast`, once in each form |
///
/// A program that is not reached, or is not ready by its answer (404, 408, 425, 429, 502 to 504), is a reason to send
/// the event again after a pause, with the same id. Every other response but a success says that the function has
/// failed, `INTERNAL`.
public final class TriggerSender: EventTriggerDelivery {
  /// Whether registrations are kept for the next process.
  public let keepsTriggers: Bool

  private let address: HTTPURL?
  private let tuning: FunctionsEndpointsTuning
  private let clock: ServiceClock
  private let forms: @Sendable () -> [any EventTriggerForm]
  private let client: @Sendable () throws -> (any HTTPClient)?
  private let isOn = Locked(true)

  /// A sender.
  ///
  /// - Parameters:
  ///   - address: The URL of the program; `nil` where there is none: all triggers are refused then.
  ///   - keepsTriggers: Whether registrations are kept for the next process.
  ///   - tuning: The figures at which the behaviour changes.
  ///   - clock: The clock of time-outs.
  ///   - forms: The forms of the events of all products.
  ///   - client: The client of HTTP.
  public init(
    address: HTTPURL?, keepsTriggers: Bool, tuning: FunctionsEndpointsTuning = FunctionsEndpointsTuning(),
    clock: ServiceClock = .system, forms: @escaping @Sendable () -> [any EventTriggerForm],
    client: @escaping @Sendable () throws -> (any HTTPClient)?
  ) {
    (self.address, self.keepsTriggers, self.tuning) = (address, keepsTriggers, tuning)
    (self.clock, self.forms, self.client) = (clock, forms, client)
  }

  /// Whether there is a program to call.
  public var hasAddress: Bool { address != nil }

  /// Whether functions are called; while they are not, their events are dropped when they are due, as the functions
  /// emulator drops them.
  public var isEnabled: Bool {
    get { isOn.withLock { $0 } }
    set { isOn.withLock { $0 = newValue } }
  }

  /// The events that the functions emulator gets without a registration, because it knows by itself which of its
  /// functions want them: events of accounts and objects.
  public var standing: [EventTrigger] {
    guard address != nil else { return [] }
    return [
      EventTrigger(
        key: "multicast/auth", eventType: "", generation: .multicast, types: [.userCreated, .userDeleted]),
      EventTrigger(
        key: "multicast/storage", eventType: "", generation: .multicast,
        types: [.objectFinalized, .objectDeleted, .objectMetadataUpdated]),
    ]
  }

  /// Sends an event.
  public func deliver(_ event: Event, to trigger: EventTrigger, of project: String) async throws {
    guard isEnabled else { return }
    guard let address, let client = try client() else {
      throw ServiceStatus(.failedPrecondition, "This server has no address of functions: set --functions-emulator.")
    }
    guard let messages = try Self.messages(of: event, to: trigger, of: project, in: forms()) else {
      throw ServiceStatus(.unimplemented, "Events \(event.type.rawValue) have no form for functions elsewhere.")
    }
    // Each form is for other functions: one that fails does not keep the event from those of the other form.
    var failure: ServiceStatus?
    for message in messages {
      var request = HTTPRequest(.post, address, fields: Self.fields(of: message), body: .bytes(message.body))
      request.target = Self.target(of: trigger, of: project, below: address.target)
      let response = try await client.send(request, timeout: tuning.triggerTimeout)
      // Read to its end, so that the connection can be used again.
      _ = try? await response.body.collect(
        upTo: tuning.triggerResponseLimit, within: tuning.triggerTimeout, by: clock)
      if response.status.isSuccess { continue }
      let sentence = "\(address.authority)\(request.target) has answered \(response.status)."
      guard !Self.notReady.contains(response.status.code) else { throw ServiceStatus(.unavailable, sentence) }
      failure = failure ?? ServiceStatus(.internal, sentence)
    }
    if let failure { throw failure }
  }

  /// The answers of a program that starts, is reloading its functions, or has too much to do.
  private static let notReady: Set<Int> = [404, 408, 425, 429, 502, 503, 504]

  private static func messages(
    of event: Event, to trigger: EventTrigger, of project: String, in forms: [any EventTriggerForm]
  ) throws -> [EventMessage]? {
    for form in forms {
      if let messages = try form.messages(of: event, to: trigger, project: project) { return messages }
    }
    return nil
  }

  private static func target(of trigger: EventTrigger, of project: String, below base: String) -> String {
    let base = base.hasSuffix("/") ? String(base.dropLast()) : base
    let path = TriggerPath(project: project, key: trigger.generation == .multicast ? nil : trigger.key)
    return base + path.target
  }

  private static func fields(of message: EventMessage) -> HTTPFields {
    var fields: HTTPFields = [.contentType: message.contentType]
    for attribute in message.attributes {
      guard let name = HTTPFieldName("ce-\(attribute.name)") else { continue }
      // Paths may have any characters, and fields may not.
      fields.append(
        name,
        attribute.value.unicodeScalars.allSatisfy { $0.value > 31 && $0.value < 127 }
          ? attribute.value : TriggerPath.encoded(attribute.value, keeping: "/ "))
    }
    return fields
  }
}
