public import Foundation
public import VestaConcurrency

/// The handle that Firebase's APIs return for a listener: an object that removes it, typed as `any NSObjectProtocol`
/// there.
///
/// ```swift
/// public func addStateDidChangeListener(_ listener: …) -> any NSObjectProtocol & Sendable {
///   ListenerHandle(registry.add(listener))
/// }
/// public func removeStateDidChangeListener(_ handle: any NSObjectProtocol) { ListenerHandle.remove(handle) }
/// ```
public final class ListenerHandle: NSObject, Sendable {
  /// The registration of the listener.
  public let registration: ListenerRegistration

  /// A handle.
  ///
  /// - Parameter registration: The registration of the listener.
  public init(_ registration: ListenerRegistration) { self.registration = registration }

  /// Removes the listener; only the first call has an effect.
  public func remove() { registration.cancel() }

  /// Removes the listener of a handle; an object of another kind is ignored.
  ///
  /// - Parameter handle: The handle that adding the listener returned.
  public static func remove(_ handle: any NSObjectProtocol) { (handle as? ListenerHandle)?.remove() }
}
