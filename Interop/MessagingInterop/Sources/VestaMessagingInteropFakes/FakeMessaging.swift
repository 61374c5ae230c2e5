public import VestaConcurrency
public import VestaMessagingInterop

/// A `MessagingInterop` for tests: the test sets and removes tokens.
///
/// ```swift
/// let messaging = FakeMessaging()
/// messaging.setToken("a-token")
/// messaging.fcmToken  // "a-token"
/// ```
public final class FakeMessaging: MessagingInterop {
  private let source = StateSource<String?, String?>(nil, greeting: { $0 })

  /// A fake without a token.
  public init() {}

  /// The token of the last `setToken(_:)`.
  public var fcmToken: String? { source.read { $0 } }

  /// The number of token listeners.
  public var listenerCount: Int { source.listenerCount }

  /// Adds a listener, which first receives the current token.
  ///
  /// - Parameter listener: Called on a queue of the fake.
  /// - Returns: Removes the listener on `cancel()`.
  public func addFCMTokenListener(_ listener: @escaping @Sendable (String?) -> Void) -> ListenerRegistration {
    source.add(listener)
  }

  /// Sets the token and notifies the listeners, unless it is the current one.
  ///
  /// - Parameter token: The new token; `nil` for none.
  public func setToken(_ token: String?) {
    source.change { state, announce in
      guard state != token else { return }
      state = token
      announce(token)
    }
  }
}
