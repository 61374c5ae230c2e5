import VestaConcurrency

extension Auth {
  /// Who is signed in: the present user first, then each time when somebody else or nobody is.
  ///
  /// Nothing is dropped. A listener is added when a loop begins, and removed when the loop is left, its task is
  /// cancelled or its iterator is dropped. The sequence ends with the app.
  ///
  /// ```swift
  /// for await user in auth.authStateChanges {
  ///   print(user.map { "signed in as \($0.uid)" } ?? "signed out")
  /// }
  /// ```
  public var authStateChanges: AuthStateChangesSequence { AuthStateChangesSequence(self) }

  /// Who is signed in, and each new token: the present user first, then each change.
  ///
  /// Keeps the promises of ``authStateChanges``.
  public var idTokenChanges: IDTokenChangesSequence { IDTokenChangesSequence(self) }

  /// The present user and each change, as the elements of a stream; no thread is changed for them.
  func stream(of registry: ListenerRegistry<User?>) -> AsyncStream<User?> {
    .events { sink in
      AuthActor.sync {
        sink.send(present())
        return registry.add(onEnd: { sink.finish(throwing: $0) }, { sink.send($0) })
      }
    }
  }

  /// The sequence behind ``Auth/authStateChanges``.
  public struct AuthStateChangesSequence: AsyncSequence, Sendable {
    /// A user, or `nil` when nobody is signed in.
    public typealias Element = User?
    /// It never fails.
    public typealias Failure = Never
    /// What reads it.
    public typealias AsyncIterator = Iterator

    private let auth: Auth

    /// The changes of an `Auth`.
    ///
    /// - Parameter auth: Whose users.
    public init(_ auth: Auth) { self.auth = auth }

    /// Adds a listener, which goes when the iterator goes.
    public func makeAsyncIterator() -> Iterator { Iterator(auth.stream(of: auth.userChanges)) }

    /// What reads the sequence; of one task only.
    public struct Iterator: AsyncIteratorProtocol {
      private var base: AsyncStream<User?>.Iterator

      init(_ stream: AsyncStream<User?>) { base = stream.makeAsyncIterator() }

      /// The next user, once there is one; `nil` at the end.
      public mutating func next() async -> User?? { await base.next(isolation: #isolation) }
    }
  }

  /// The sequence behind ``Auth/idTokenChanges``.
  public struct IDTokenChangesSequence: AsyncSequence, Sendable {
    /// A user, or `nil` when nobody is signed in.
    public typealias Element = User?
    /// It never fails.
    public typealias Failure = Never
    /// What reads it.
    public typealias AsyncIterator = Iterator

    private let auth: Auth

    /// The changes of an `Auth`.
    ///
    /// - Parameter auth: Whose users.
    public init(_ auth: Auth) { self.auth = auth }

    /// Adds a listener, which goes when the iterator goes.
    public func makeAsyncIterator() -> Iterator { Iterator(auth.stream(of: auth.tokenChanges)) }

    /// What reads the sequence; of one task only.
    public struct Iterator: AsyncIteratorProtocol {
      private var base: AsyncStream<User?>.Iterator

      init(_ stream: AsyncStream<User?>) { base = stream.makeAsyncIterator() }

      /// The next user, once there is one; `nil` at the end.
      public mutating func next() async -> User?? { await base.next(isolation: #isolation) }
    }
  }
}

@available(*, unavailable, message: "An iterator belongs to the task that reads it.")
extension Auth.AuthStateChangesSequence.Iterator: Sendable {}

@available(*, unavailable, message: "An iterator belongs to the task that reads it.")
extension Auth.IDTokenChangesSequence.Iterator: Sendable {}
