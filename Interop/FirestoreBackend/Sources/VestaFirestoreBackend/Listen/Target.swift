/// Something to listen to: the results of a query, or documents by name.
public struct Target: Sendable, Hashable {
  /// The subject of a target.
  public enum Subject: Sendable, Hashable {
    /// The results of a query below a parent: `…/documents`, or a document.
    case query(parent: String, StructuredQuery)
    /// Documents by their full names.
    case documents([String])
  }

  /// From where on changes are wanted.
  public enum Resume: Sendable, Hashable {
    /// After the version of a resume token.
    case token([UInt8])
    /// After a read time.
    case readTime(Timestamp)
  }

  /// The caller's number for the target; above zero, and free in this call.
  public var id: Int32

  /// The subject of a target.
  public var subject: Subject

  /// From where on changes are wanted; `nil` for everything from the start.
  public var resume: Resume?

  /// Whether the target is removed once it is current.
  public var once: Bool

  /// The number of documents that a resuming caller has for the target; lets the backend send a bloom filter.
  public var expectedCount: Int32?

  /// A target.
  public init(
    id: Int32, _ subject: Subject, resume: Resume? = nil, once: Bool = false, expectedCount: Int32? = nil
  ) {
    self.id = id
    self.subject = subject
    self.resume = resume
    self.once = once
    self.expectedCount = expectedCount
  }
}

/// A request of a listen call.
public enum ListenRequest: Sendable, Hashable {
  /// Begins to listen; acknowledged by exactly one target change `.add`, or by `.remove` with a cause.
  case addTarget(Target)
  /// Ends listening; acknowledged by exactly one target change `.remove` without a cause.
  ///
  /// The number can be used again at once, also before the acknowledgement.
  case removeTarget(id: Int32)
}
