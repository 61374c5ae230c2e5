public import Foundation
import VestaConcurrency

/// The changes of a published template: it has been fetched, and takes effect when it is activated.
public final class RemoteConfigUpdate: NSObject, Sendable {
  /// The keys whose values differ from the active ones.
  public let updatedKeys: Set<String>

  init(updatedKeys: Set<String>) { self.updatedKeys = updatedKeys }
}

/// Removes a listener for updates.
public final class ConfigUpdateListenerRegistration: NSObject, Sendable {
  private let registration: ListenerRegistration

  init(_ registration: ListenerRegistration) { self.registration = registration }

  /// Removes the listener; only the first call has an effect.
  public func remove() { registration.cancel() }
}

extension RemoteConfig {
  /// Adds a listener for templates that are published.
  ///
  /// While there is a listener, the app is connected to the service: a published template is fetched at once, and
  /// listeners receive the keys that have changed. The listener is called on a serial queue, never before this method
  /// has returned.
  ///
  /// - Parameter listener: Gets the update, or the reason why updates fail.
  /// - Returns: The registration, which removes the listener; dropping it does not.
  @discardableResult
  @preconcurrency
  public func addOnConfigUpdateListener(
    remoteConfigUpdateCompletion listener: @escaping @Sendable (RemoteConfigUpdate?, (any Error)?) -> Void
  ) -> ConfigUpdateListenerRegistration {
    let registration = realtime.add { outcome in
      switch outcome {
      case .success(let update): listener(update, nil)
      case .failure(let error): listener(nil, error)
      }
    }
    return ConfigUpdateListenerRegistration(registration)
  }

  /// The updates from now on; the first error ends the stream.
  ///
  /// Nothing is dropped. The listener is removed when the loop is left, its task is cancelled or the stream is dropped.
  /// The stream ends with the app.
  public var updates: AsyncThrowingStream<RemoteConfigUpdate, any Error> {
    .events { sink in realtime.add(onEnd: { sink.finish() }, { sink.send($0) }) }
  }

  /// The updates from the beginning of each loop on; the first error ends the loop.
  ///
  /// Keeps the promises of ``updates``, with a listener for each loop.
  public var configUpdates: RemoteConfigUpdateSequence { RemoteConfigUpdateSequence(self) }

  /// The sequence of ``RemoteConfig/configUpdates``.
  public struct RemoteConfigUpdateSequence: AsyncSequence, Sendable {
    /// An update.
    public typealias Element = RemoteConfigUpdate
    /// The reason why updates fail.
    public typealias Failure = any Error
    /// The iterator of the sequence.
    public typealias AsyncIterator = Iterator

    private let remoteConfig: RemoteConfig

    /// The updates of a configuration.
    ///
    /// - Parameter remoteConfig: The configuration.
    public init(_ remoteConfig: RemoteConfig) { self.remoteConfig = remoteConfig }

    /// Adds a listener, which is removed with the iterator.
    public func makeAsyncIterator() -> Iterator { Iterator(remoteConfig.updates) }

    /// Reads the sequence; it belongs to one task.
    public struct Iterator: AsyncIteratorProtocol {
      /// An update.
      public typealias Element = RemoteConfigUpdate

      private var base: AsyncThrowingStream<RemoteConfigUpdate, any Error>.Iterator

      init(_ stream: AsyncThrowingStream<RemoteConfigUpdate, any Error>) { base = stream.makeAsyncIterator() }

      /// Waits for the next update; `nil` at the end.
      public mutating func next() async throws -> RemoteConfigUpdate? { try await base.next(isolation: #isolation) }
    }
  }
}

@available(*, unavailable, message: "An iterator belongs to the task that reads it.")
extension RemoteConfig.RemoteConfigUpdateSequence.Iterator: Sendable {}
