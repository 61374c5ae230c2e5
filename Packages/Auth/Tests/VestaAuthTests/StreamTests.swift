import Testing
import VestaConcurrency
import VestaTesting

@testable import VestaAuth

/// The promises of streams, for both streams.
@Suite struct StreamTests {
  enum Kind: CaseIterable { case users, tokens }

  struct Subject {
    let test: TestAuth
    let kind: Kind

    init(_ kind: Kind) throws {
      test = try TestAuth()
      self.kind = kind
    }

    /// How many listeners there are: the spy.
    var count: Int { kind == .users ? test.auth.userChanges.count : test.auth.tokenChanges.count }

    /// Reads a new iterator until the body has enough.
    func read(_ body: (User?) async -> Bool) async {
      switch kind {
      case .users: for await user in test.auth.authStateChanges where await !body(user) { return }
      case .tokens: for await user in test.auth.idTokenChanges where await !body(user) { return }
      }
    }
  }

  @Test(arguments: Kind.allCases) func `a listener is added on start and removed on break`(_ kind: Kind) async throws {
    let subject = try Subject(kind)
    #expect(subject.count == 0)
    await subject.read { user in
      #expect(user == nil && subject.count == 1)
      return false
    }
    #expect(subject.count == 0)
  }

  @Test(arguments: Kind.allCases) func `all changes arrive in order and none is dropped`(_ kind: Kind) async throws {
    let subject = try Subject(kind)
    var heard: [String?] = []
    var expected: [String?] = [nil]
    await subject.read { user in
      heard.append(user?.uid)
      if heard.count == 1 {
        for number in 0..<20 {
          let user = try? await subject.test.signIn("user\(number)@example.com")
          try? subject.test.auth.signOut()
          expected += [user?.uid, nil]
        }
      }
      return heard.count < 41
    }
    #expect(heard == expected)
  }

  @Test(arguments: Kind.allCases) func `cancelling the task removes the listener`(_ kind: Kind) async throws {
    let subject = try Subject(kind)
    let log = Log<Bool>()
    let task = Task {
      await subject.read { _ in
        log.add(true)
        return true
      }
    }
    _ = await log.wait(for: 1)
    task.cancel()
    await task.value
    #expect(subject.count == 0)
  }

  @Test(arguments: Kind.allCases) func `a task that is cancelled before it begins leaves no listener`(_ kind: Kind)
    async throws
  {
    let subject = try Subject(kind)
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      await subject.read { _ in true }
    }
    task.cancel()
    await task.value
    #expect(subject.count == 0)
  }

  @Test func `dropping an iterator removes the listener`() async throws {
    let test = try TestAuth()
    do {
      var users = test.auth.authStateChanges.makeAsyncIterator()
      let tokens = test.auth.idTokenChanges.makeAsyncIterator()
      #expect(test.auth.userChanges.count == 1 && test.auth.tokenChanges.count == 1)
      let first = await users.next().map { $0?.uid }
      #expect(first == .some(nil))
      _ = consume tokens
    }
    #expect(test.auth.userChanges.count == 0 && test.auth.tokenChanges.count == 0)
  }

  @Test(arguments: Kind.allCases) func `the end of the app ends the stream`(_ kind: Kind) async throws {
    let subject = try Subject(kind)
    let user = try await subject.test.signIn()
    var heard: [String?] = []
    await subject.read { user in
      heard.append(user?.uid)
      await subject.test.auth.appWillBeDeleted(subject.test.app)
      return true
    }
    #expect(heard == [user.uid] && subject.count == 0)
    await subject.read { _ in true }
    #expect(subject.count == 0)
  }

  @Test func `a new token is in the token stream only`() async throws {
    let test = try TestAuth()
    let user = try await test.signIn()
    var users = test.auth.authStateChanges.makeAsyncIterator()
    var tokens = test.auth.idTokenChanges.makeAsyncIterator()
    _ = try await user.getIDToken(forcingRefresh: true)
    try test.auth.signOut()
    let heard = [await tokens.next(), await tokens.next(), await tokens.next()].map { $0??.uid }
    #expect(heard == [user.uid, user.uid, nil])
    let heardUsers = [await users.next(), await users.next()].map { $0??.uid }
    #expect(heardUsers == [user.uid, nil])
  }
}
