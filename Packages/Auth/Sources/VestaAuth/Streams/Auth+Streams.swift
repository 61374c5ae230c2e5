public import VestaConcurrency

extension Auth {
  /// The signed-in user as a sequence: the current one first, then each time when another user or none is signed in.
  ///
  /// Nothing is dropped. A listener is added when a loop begins, and removed when the loop is left, its task is
  /// cancelled or its iterator is dropped. The sequence ends with the app.
  ///
  /// ```swift
  /// for await user in auth.authStateChanges {
  ///   print(user.map { "signed in as \($0.uid)" } ?? "signed out")
  /// }
  /// ```
  public var authStateChanges: ListenerSequence<User?> { ListenerSequence { self.stream(of: self.userChanges) } }

  /// The signed-in user as a sequence, with each new token: the current one first, then each change.
  ///
  /// Keeps the promises of ``authStateChanges``.
  public var idTokenChanges: ListenerSequence<User?> { ListenerSequence { self.stream(of: self.tokenChanges) } }

  /// The sequence of ``authStateChanges``, by its name in Firebase's SDK.
  public typealias AuthStateChangesSequence = ListenerSequence<User?>

  /// The sequence of ``idTokenChanges``, by its name in Firebase's SDK.
  public typealias IDTokenChangesSequence = ListenerSequence<User?>

  /// The current user and each change, as the elements of a stream; no thread is changed for them.
  private func stream(of registry: ListenerRegistry<User?>) -> AsyncStream<User?> {
    .events { sink in
      AuthActor.sync {
        sink.send(currentUserIfReadable())
        return registry.add(onEnd: { sink.finish(throwing: $0) }, { sink.send($0) })
      }
    }
  }
}
