/// An object whose end can be seen: capture it where nothing must be kept alive.
public final class Witness: Sendable {
  private let onDeinit: @Sendable () -> Void

  /// A witness.
  ///
  /// - Parameter onDeinit: Called when the last reference is released.
  public init(onDeinit: @escaping @Sendable () -> Void = {}) { self.onDeinit = onDeinit }

  deinit { onDeinit() }
}
