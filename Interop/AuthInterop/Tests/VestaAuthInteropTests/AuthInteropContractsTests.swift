import Synchronization
import Testing
import VestaAuthInterop
import VestaAuthInteropContracts
import VestaAuthInteropFakes
import VestaConcurrency
import VestaTesting

@Suite struct AuthInteropContractsTests {
  @Test func `the fake keeps every promise`() async {
    let outcomes = await AuthInteropContracts.all.run {
      let fake = FakeAuth()
      return .driving(fake, as: fake)
    }
    #expect(outcomes.filter { !$0.isKept }.map(\.description) == [])
    #expect(Set(outcomes.map(\.name)).count == outcomes.count)
  }

  struct Fault: Sendable, CustomTestStringConvertible {
    let testDescription: String, broken: String
    let make: @Sendable () -> WrongAuth

    init(_ fault: String, breaks broken: String, make: @escaping @Sendable () -> WrongAuth) {
      (testDescription, self.broken, self.make) = (fault, broken, make)
    }
  }

  static let faults: [Fault] = [
    Fault(
      "throws for nobody",
      breaks: "with nobody signed in there is no user, no token and no error"
    ) {
      WrongAuth(token: { fake, force in
        if force, fake.getUserID() == nil { throw AuthInteropError(.userRejected, "nobody") }
        return try await fake.getToken(forcingRefresh: force)
      })
    },
    Fault("loses the id after a while", breaks: "a signed-in user has an id and a token that stays the same") {
      let asked = Counter()
      return WrongAuth(userID: { fake in
        fake.getUserID() == "ada" && asked.next() == 3 ? nil : fake.getUserID()
      })
    },
    Fault("keeps a sign-out to itself", breaks: "a sign-out ends user and token and is heard") {
      let heard = Counter()
      return WrongAuth(hears: { $0 != .signedOut || heard.next() == 1 })
    },
    Fault("gives a user's token to the next", breaks: "another user gets another token") {
      let kept = EventLog<String>(patience: .zero)
      return WrongAuth(token: { fake, force in
        let token = try await fake.getToken(forcingRefresh: force)
        guard let token, ["ada", "grace"].contains(fake.getUserID()) else { return token }
        if fake.getUserID() == "ada" { kept.record(token) }
        return fake.getUserID() == "grace" ? kept.events.last : token
      })
    },
    Fault("refreshes without keeping the token", breaks: "a forced refresh gives a new token, which is kept") {
      let forced = Counter()
      return WrongAuth(token: { fake, force in
        let token = try await fake.getToken(forcingRefresh: force)
        if force { forced.next() }
        return !force && forced.count == 1 && fake.getUserID() == "ada" ? token.map { $0 + "-old" } : token
      })
    },
    Fault("is silent about refreshed tokens", breaks: "a new token of the same user is heard") {
      let known = Counter()
      return WrongAuth(hears: { change in
        guard change.userID == "ada" else { return true }
        return known.next() == 1 || change.token != "token-2-of-ada"
      })
    },
    Fault("throws errors of its own", breaks: "a refresh that fails throws AuthInteropError") {
      WrongAuth(token: { fake, force in
        do {
          return try await fake.getToken(forcingRefresh: force)
        } catch is AuthInteropError {
          throw OwnError()
        }
      })
    },
    Fault("signs out when a refresh fails", breaks: "a refresh that fails leaves user and token as they are") {
      WrongAuth(token: { fake, force in
        do {
          return try await fake.getToken(forcingRefresh: force)
        } catch let error as AuthInteropError {
          fake.signOut()
          fake.signIn("ada")
          throw error
        }
      })
    },
    Fault("remembers three failures", breaks: "a failure is not remembered") {
      let failures = Counter()
      return WrongAuth(token: { fake, force in
        do {
          if force, failures.count >= 3 { throw AuthInteropError(.unavailable, "gave up") }
          return try await fake.getToken(forcingRefresh: force)
        } catch let error as AuthInteropError {
          failures.next()
          throw error
        }
      })
    },
    Fault("gives the fortieth caller nothing", breaks: "64 tasks that ask at once get one and the same token") {
      let asked = Counter()
      return WrongAuth(token: { fake, force in
        let token = try await fake.getToken(forcingRefresh: force)
        return !force && fake.getUserID() == "ada" && asked.next() == 40 ? "another" : token
      })
    },
    Fault("serves a busy hour from its cache", breaks: "64 tasks that force a refresh at once all get a new token") {
      let forced = Counter()
      return WrongAuth(token: { fake, force in
        if force, forced.next() > 20 { return "token-1-of-ada" }
        return try await fake.getToken(forcingRefresh: force)
      })
    },
    Fault("keeps a cancelled caller waiting", breaks: "a cancelled caller leaves at once with CancellationError") {
      WrongAuth(token: { fake, force in
        try await Task { try await fake.getToken(forcingRefresh: force) }.value
      })
    },
    Fault("cancels everybody with the first", breaks: "a cancelled caller does not disturb the others") {
      let cancelled = Counter()
      return WrongAuth(token: { fake, force in
        do {
          let token = try await fake.getToken(forcingRefresh: force)
          if force, cancelled.count > 1 { throw CancellationError() }
          return token
        } catch let error as CancellationError {
          cancelled.next()
          throw error
        }
      })
    },
    Fault("ends a listener with its registration", breaks: "a dropped registration keeps its listener") {
      WrongAuth(registers: { registration in
        let owner = Owner(registration)
        return ListenerRegistration { owner.registration.cancel() }
      })
    },
  ]

  @Test(arguments: faults) func `a wrong implementation breaks exactly its promise`(_ fault: Fault) async {
    let outcomes = await AuthInteropContracts.all.run { contract in
      let wrong = fault.make()
      return .driving(wrong.fake, as: wrong, patience: contract.name == fault.broken ? .seconds(1) : .seconds(60))
    }
    #expect(outcomes.filter { !$0.isKept }.map(\.name) == [fault.broken], "\(outcomes.filter { !$0.isKept })")
  }

  private final class Owner: Sendable {
    let registration: ListenerRegistration
    init(_ registration: ListenerRegistration) { self.registration = registration }
    deinit { registration.cancel() }
  }

  private struct OwnError: Error {}

  final class Counter: Sendable {
    private let value = Atomic(0)
    var count: Int { value.load(ordering: .sequentiallyConsistent) }
    @discardableResult func next() -> Int { value.add(1, ordering: .sequentiallyConsistent).newValue }
  }
}
