/// Something that is opened when it is first needed, once for all who ask at that moment, and closed in the end.
///
/// For what takes an `await` to open, such as a store, in something that has to be there at once, such as a component.
/// A failure to open is told to those who asked and not remembered: the next one tries again. After ``close()`` nothing
/// opens it any more; what was still being opened then is closed at once.
///
/// ```swift
/// let store = LazyResource(whenClosed: StoreError.closed) { try await provider.openStore(…) } close: { try await $0.close() }
/// try await store.get().read { … }
/// ```
public final class LazyResource<Resource: Sendable>: Sendable {
  private enum State {
    case shut
    case open(Resource)
    case ended
  }

  private let state = Locked(State.shut)
  private let opening = SingleFlight<ObjectIdentifier, Resource>()
  private let open: @Sendable () async throws -> Resource
  private let end: @Sendable (Resource) async throws -> Void
  private let closedError: any Error

  /// Describes a resource; nothing is opened yet.
  ///
  /// - Parameters:
  ///   - closedError: What ``get()`` throws after ``close()``.
  ///   - open: Opens it.
  ///   - close: Closes it; called once for what `open` has returned.
  public init(
    whenClosed closedError: any Error,
    open: @escaping @Sendable () async throws -> Resource,
    close: @escaping @Sendable (Resource) async throws -> Void
  ) {
    self.closedError = closedError
    self.open = open
    end = close
  }

  /// The open resource, opened if need be.
  ///
  /// - Returns: The same one for everybody.
  /// - Throws: What opening it threw, the error for closed resources, or `CancellationError`.
  public func get() async throws -> Resource {
    if let resource = try present() { return resource }
    return try await opening.value(for: ObjectIdentifier(self)) {
      // Somebody's flight may have landed between the look above and the start of this one.
      if let resource = try self.present() { return resource }
      return try await self.keep(try await self.open())
    }
  }

  /// Closes the resource, if it is open, and lets nobody open it any more; calling it again does nothing.
  ///
  /// - Throws: What closing it threw; it counts as closed all the same.
  public func close() async throws {
    let resource = state.withLock { state -> Resource? in
      defer { state = .ended }
      if case .open(let resource) = state { return resource }
      return nil
    }
    if let resource { try await end(resource) }
  }

  private func present() throws -> Resource? {
    try state.withLock { state in
      switch state {
      case .shut: return nil
      case .open(let resource): return resource
      case .ended: throw closedError
      }
    }
  }

  private func keep(_ resource: Resource) async throws -> Resource {
    let isKept = state.withLock { state in
      guard case .shut = state else { return false }
      state = .open(resource)
      return true
    }
    guard isKept else {
      try await end(resource)
      throw closedError
    }
    return resource
  }
}
