import VestaConcurrency
public import VestaMessagingBackend

/// A transport that records its messages: for tests, and for looking at messages while developing.
public final class RecordingPushTransport: PushTransport {
  /// One push.
  public struct Push: Sendable, Hashable {
    /// The message.
    public var delivery: PushDelivery
    /// The address.
    public var address: PushAddress
  }

  /// The platforms whose registrations it reaches.
  public let platforms: Set<String>

  private struct State {
    var pushes: [Push] = []
    var removed: Set<PushAddress> = []
  }

  private let state = Locked(State())

  /// A transport.
  ///
  /// - Parameter platforms: The platforms whose registrations it reaches.
  public init(platforms: Set<String> = ["ios", "macos", "web", "android"]) { self.platforms = platforms }

  /// The pushes, in order.
  public var pushes: [Push] { state.withLock { $0.pushes } }

  /// Removes an address.
  public func remove(address: PushAddress) { state.withLock { _ = $0.removed.insert(address) } }

  /// Records the message and reports that it was handed over.
  public func push(_ delivery: PushDelivery, to address: PushAddress) async throws(MessagingServiceError) {
    let isThere = state.withLock { state in
      guard !state.removed.contains(address) else { return false }
      state.pushes.append(Push(delivery: delivery, address: address))
      return true
    }
    guard isThere else { throw .unregistered }
  }
}
