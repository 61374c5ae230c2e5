// Registrations and streams live in VestaConcurrency; this module goes when nobody imports it any more.
@_exported public import VestaConcurrency

/// The registration of a listener.
public typealias InteropRegistration = ListenerRegistration

extension AsyncStream where Element: Sendable {
  /// The events of a listener as a stream; the same as `events`.
  public init(listening addListener: (@escaping @Sendable (Element) -> Void) -> ListenerRegistration) {
    self = .events { sink in addListener { sink.send($0) } }
  }
}
