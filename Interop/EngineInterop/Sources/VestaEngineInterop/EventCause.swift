public import VestaEventsInterop
public import VestaServiceInterop

/// The part of a call that the events of its changes have: whether there are any, and who has called.
///
/// ```swift
/// guard let interest = engine.events.interest(in: EventCause(context)) else { return }
/// ```
public struct EventCause: Sendable, Hashable {
  /// Whether the change has no events.
  public let isSilent: Bool

  /// The caller who makes the change; `nil` where it is not known.
  public let actor: EventActor?

  /// The cause that a call is.
  ///
  /// - Parameters:
  ///   - context: The verified context of the call.
  ///   - starter: Who has begun what this call ends, such as an upload; `nil` for the caller.
  public init(_ context: CallContext, startedBy starter: CallContext.Caller? = nil) {
    isSilent = context.suppressesEvents
    switch starter ?? context.caller {
    case .nobody: actor = .unauthenticated
    case .owner(let owner): actor = .owner(owner.name)
    case .user(let user): actor = .user(user.uid)
    case .credential: actor = nil
    }
  }

  private init(isSilent: Bool, actor: EventActor?) { (self.isSilent, self.actor) = (isSilent, actor) }

  /// A change of which it is not known who has asked for it.
  public static let unknown = EventCause(isSilent: false, actor: nil)
}

extension EventOutbox {
  /// The subscriptions that count for a change; `nil` where there are none, or the change has no events.
  public func interest(in cause: EventCause) -> EventInterest? { cause.isSilent ? nil : interest }
}
