public import VestaConcurrency

/// The interface of Messaging for other products: the token under which messages reach this installation.
///
/// Functions sends it along with each call when it is there.
///
/// Promises of every implementation (`VestaMessagingInteropContracts` checks them):
/// - All methods may be called from any thread at any time, also from within a listener, and none of them waits for
///   the network.
/// - Without a registration there is no token, and that is not an error.
/// - A listener never receives a token before `fcmToken` returns that token or a later one.
/// - Listeners keep the promises of `ListenerRegistration`; a new one first receives the current token.
public protocol MessagingInterop: Sendable {
  /// The registration token of this installation; `nil` before it is registered and after its token was deleted.
  var fcmToken: String? { get }

  /// Adds a listener that receives each new token.
  ///
  /// - Parameter listener: Called with the current token first, then with each new one; `nil` while there is none.
  ///   Never before this method has returned.
  /// - Returns: Removes the listener on `cancel()`.
  func addFCMTokenListener(_ listener: @escaping @Sendable (String?) -> Void) -> ListenerRegistration
}

extension MessagingInterop {
  /// The current token, then each new one; `nil` while there is none.
  ///
  /// Cancelling the reading task, leaving a loop over this property, or dropping the stream removes its listener.
  ///
  /// ```swift
  /// for await token in messaging.fcmTokenChanges {
  ///   await server.remember(token)
  /// }
  /// ```
  public var fcmTokenChanges: AsyncStream<String?> { .events { sink in addFCMTokenListener { sink.send($0) } } }
}
