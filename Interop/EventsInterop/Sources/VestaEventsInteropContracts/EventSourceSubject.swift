public import VestaEventsInterop

/// A source to be held to its promises, with a way to make changes that it records.
public struct EventSourceSubject: Sendable {
  /// The source; it publishes the types `documentCreated` and `documentDeleted`.
  public let source: any EventSource

  private let commit: @Sendable (_ changes: [Change], _ fails: Bool) async throws -> Void

  /// A change that is an event if a function wants it.
  public struct Change: Sendable, Hashable {
    /// The type.
    public var type: EventType
    /// The scope.
    public var scope: String
    /// The path.
    public var path: String

    /// A change.
    public init(_ path: String, type: EventType = .documentCreated, scope: String = "(default)") {
      self.path = path
      self.type = type
      self.scope = scope
    }
  }

  /// A subject.
  ///
  /// - Parameters:
  ///   - source: A source without other users.
  ///   - commit: Commits the changes in one transaction, which fails at its end and throws when `fails` is true.
  public init(
    source: any EventSource,
    commit: @escaping @Sendable (_ changes: [Change], _ fails: Bool) async throws -> Void
  ) {
    self.source = source
    self.commit = commit
  }

  func commit(_ paths: String...) async throws { try await commit(paths.map { Change($0) }, false) }

  func commit(_ changes: [Change]) async throws { try await commit(changes, false) }

  func fail(_ paths: String...) async { try? await commit(paths.map { Change($0) }, true) }

  func subscribe(_ functions: String..., types: Set<EventType> = [.documentCreated]) {
    source.subscribe(functions.map { EventSubscription(function: $0, types: types) })
  }

  func queue(_ function: String) async throws -> [EventEntry] {
    try await source.events(EventPageRequest(function: function, limit: 1_000)).entries
  }

  func paths(_ function: String) async throws -> [String] { try await queue(function).map(\.lane.path) }
}
