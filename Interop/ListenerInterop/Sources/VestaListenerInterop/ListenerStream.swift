extension AsyncStream where Element: Sendable {
  /// The events of a listener as a stream.
  ///
  /// The listener is added here and now, so no event after this line is missed, and events wait without bound until
  /// they are read: none is dropped. Cancelling the reading task removes the listener, and so does letting go of the
  /// stream, read or not: a loop over an expression lets go when it is left, one over a variable when that goes, too.
  ///
  /// ```swift
  /// extension AuthInterop {
  ///   public var tokenChanges: AsyncStream<AuthTokenChange> { AsyncStream(listening: addTokenListener) }
  /// }
  /// ```
  ///
  /// - Parameter addListener: Adds a listener and gives its registration. It must not call the listener before it
  ///   returns, which every seam promises.
  public init(listening addListener: (@escaping @Sendable (Element) -> Void) -> InteropRegistration) {
    self.init(bufferingPolicy: .unbounded) { continuation in
      let registration = addListener { continuation.yield($0) }
      continuation.onTermination = { _ in registration.cancel() }
    }
  }
}
