import Dispatch
public import Foundation
import VestaConcurrency
import VestaCore

/// The handle of a listener that was added with `Auth.addStateDidChangeListener(_:)`.
public typealias AuthStateDidChangeListenerHandle = any NSObjectProtocol

/// The handle of a listener that was added with `Auth.addIDTokenDidChangeListener(_:)`.
public typealias IDTokenDidChangeListenerHandle = any NSObjectProtocol

extension NSNotification.Name {
  /// Posted when a user has signed in or out, or has a new token; its object is the `Auth`.
  public static let AuthStateDidChange = NSNotification.Name(rawValue: "FIRAuthStateDidChangeNotification")
}

extension Auth {
  /// Posted, on the callback queue, when a user has signed in or out, or has a new token; its object is the `Auth`.
  public static let authStateDidChangeNotification = NSNotification.Name.AuthStateDidChange

  /// Adds a listener that is called when a user signs in or out.
  ///
  /// It is called on the callback queue: first with the current user, after this method has returned, then each time
  /// when another user or none is signed in. It ends with the app.
  ///
  /// - Parameter listener: Gets this `Auth`, and the user or `nil`.
  /// - Returns: The handle for ``removeStateDidChangeListener(_:)``. Letting go of it does not remove the listener.
  @preconcurrency
  public func addStateDidChangeListener(
    _ listener: @escaping @Sendable (Auth, User?) -> Void
  ) -> any NSObjectProtocol & Sendable {
    add(listener, to: userChanges)
  }

  /// Removes a listener.
  ///
  /// When that is done on the callback queue, it is no longer called; when elsewhere, one call may be under way.
  ///
  /// - Parameter listenerHandle: The handle that adding it returned.
  public func removeStateDidChangeListener(_ listenerHandle: any NSObjectProtocol) {
    ListenerHandle.remove(listenerHandle)
  }

  /// Adds a listener that is called with the signed-in user and with each new token.
  ///
  /// It is called on the callback queue: first with the current user, after this method has returned, then each time
  /// when another user or none is signed in or the user has a new token. It ends with the app.
  ///
  /// - Parameter listener: Gets this `Auth`, and the user or `nil`.
  /// - Returns: The handle for ``removeIDTokenDidChangeListener(_:)``. Letting go of it does not remove the listener.
  @preconcurrency
  public func addIDTokenDidChangeListener(
    _ listener: @escaping @Sendable (Auth, User?) -> Void
  ) -> any NSObjectProtocol & Sendable {
    add(listener, to: tokenChanges)
  }

  /// Removes a listener.
  ///
  /// When that is done on the callback queue, it is no longer called; when elsewhere, one call may be under way.
  ///
  /// - Parameter listenerHandle: The handle that adding it returned.
  public func removeIDTokenDidChangeListener(_ listenerHandle: any NSObjectProtocol) {
    removeStateDidChangeListener(listenerHandle)
  }

  private func add(
    _ listener: @escaping @Sendable (Auth, User?) -> Void, to registry: ListenerRegistry<User?>
  ) -> ListenerHandle {
    let registration = listen(to: registry, on: listenerQueue) { [weak self] user in
      guard let self else { return }
      listener(self, user)
    }
    return ListenerHandle(registration)
  }

  /// Adds a listener that is called on a queue with the current user and then with each change.
  func listen(
    to registry: ListenerRegistry<User?>, on queue: DispatchQueue, _ receive: @escaping @Sendable (User?) -> Void
  ) -> ListenerRegistration {
    let receiver = QueuedReceiver(queue: queue, receive: receive)
    let registration = AuthActor.sync {
      receiver.post(currentUserIfReadable())
      return registry.add(onEnd: { _ in receiver.end() }, { receiver.post($0) })
    }
    return ListenerRegistration {
      receiver.silence()
      registration.cancel()
    }
  }
}
