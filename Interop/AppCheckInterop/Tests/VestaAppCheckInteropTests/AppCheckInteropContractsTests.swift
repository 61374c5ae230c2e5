import Synchronization
import Testing
import VestaAppCheckInterop
import VestaAppCheckInteropContracts
import VestaAppCheckInteropFakes
import VestaConcurrency
import VestaTesting

@Suite struct AppCheckInteropContractsTests {
  private static func subject(
    _ fake: FakeAppCheck,
    as appCheck: any AppCheckInterop,
    patience: Duration = .seconds(60)
  ) -> AppCheckInteropSubject {
    AppCheckInteropSubject(
      appCheck,
      patience: patience,
      setFetchesFail: { fake.failFetches(with: $0 ? AppCheckInteropError(.unavailable, "told to fail") : nil) },
      setFetchesHeld: { if $0 { await fake.holdFetches() } else { await fake.releaseFetches() } }
    )
  }

  @Test func `the fake keeps every promise`() async {
    let outcomes = await AppCheckInteropContracts.all.run {
      let fake = FakeAppCheck()
      return Self.subject(fake, as: fake)
    }
    #expect(outcomes.filter { !$0.isKept }.map(\.description) == [])
    #expect(Set(outcomes.map(\.name)).count == outcomes.count)
  }

  @Test func `the completion forms return what the async ones return`() async {
    let fake = FakeAppCheck()
    let token = await withCheckedContinuation { done in
      fake.getToken(forcingRefresh: false) { done.resume(returning: $0.token) }
    }
    #expect(token == "token-1")
    fake.failFetches(with: AppCheckInteropError(.appRejected, "told to fail"))
    let failed = await withCheckedContinuation { done in
      fake.getLimitedUseToken { done.resume(returning: $0) }
    }
    #expect((failed.error as? AppCheckInteropError)?.code == .appRejected)
  }

  @Test func `the stream sends every new token`() async {
    let fake = FakeAppCheck()
    let changes = fake.tokenChanges
    for _ in 1...3 { _ = await fake.getToken(forcingRefresh: true) }
    var heard: [String] = []
    for await change in changes {
      heard.append(change.token)
      if heard.count == 3 { break }
    }
    #expect(heard == ["token-1", "token-2", "token-3"])
  }

  @Test func `a token never shows in a description`() {
    let values: [Any] = [AppCheckTokenResultInterop(token: "secret"), AppCheckTokenChange(token: "secret")]
    #expect("\(values)".contains("secret") == false)
  }

  /// An implementation over `FakeAppCheck` whose methods can be replaced one by one.
  struct WrongAppCheck: AppCheckInterop {
    typealias Result = AppCheckTokenResultInterop

    let fake = FakeAppCheck()
    var token: @Sendable (FakeAppCheck, Bool) async -> Result = { await $0.getToken(forcingRefresh: $1) }
    var limited: @Sendable (FakeAppCheck) async -> Result = { await $0.getLimitedUseToken() }
    var registers: @Sendable (ListenerRegistration) -> ListenerRegistration = { $0 }

    func getToken(forcingRefresh: Bool) async -> Result { await token(fake, forcingRefresh) }
    func getLimitedUseToken() async -> Result { await limited(fake) }
    func addTokenListener(_ listener: @escaping @Sendable (AppCheckTokenChange) -> Void) -> ListenerRegistration {
      registers(fake.addTokenListener(listener))
    }
  }

  struct Fault: Sendable, CustomTestStringConvertible {
    let testDescription: String, broken: String
    let make: @Sendable () -> WrongAppCheck

    init(_ fault: String, breaks broken: String, make: @escaping @Sendable () -> WrongAppCheck) {
      (testDescription, self.broken, self.make) = (fault, broken, make)
    }
  }

  static let faults: [Fault] = [
    Fault("fetches again the third time", breaks: "a token stays the same") {
      let asked = Counter()
      return WrongAppCheck(token: { fake, force in
        guard !force else { return await fake.getToken(forcingRefresh: true) }
        let result = await fake.getToken(forcingRefresh: false)
        return result.token == "token-2" && asked.next() == 3 ? .init(token: "another") : result
      })
    },
    Fault("refreshes without keeping the token", breaks: "a forced refresh gives a new token, which is kept") {
      let asked = Counter()
      return WrongAppCheck(token: { fake, force in
        let result = await fake.getToken(forcingRefresh: force)
        return result.error == nil && !force && asked.next() == 2 ? .init(token: "token-1") : result
      })
    },
    Fault("gives the current token for limited use", breaks: "limited-use tokens never come back") {
      let asked = Counter()
      return WrongAppCheck(limited: { fake in
        let result = await fake.getLimitedUseToken()
        return result.token == "limited-6" && asked.next() == 1 ? await fake.getToken(forcingRefresh: false) : result
      })
    },
    Fault(
      "keeps a limited-use token",
      breaks: "a limited-use token does not replace the current one, and listeners are not called"
    ) {
      WrongAppCheck(limited: { fake in
        guard fake.listenerCount > 0 else { return await fake.getLimitedUseToken() }
        return await fake.getToken(forcingRefresh: true)
      })
    },
    Fault(
      "sends nothing when it fails",
      breaks: "a failure gives an AppCheckInteropError and the placeholder to send"
    ) {
      WrongAppCheck(limited: { fake in
        let result = await fake.getLimitedUseToken()
        return result.error == nil ? result : .init(token: "")
      })
    },
    Fault("drops the token when a refresh fails", breaks: "a failed refresh leaves the current token as it is") {
      let failed = Counter()
      return WrongAppCheck(token: { fake, force in
        if !force, failed.count == 1 { return .init(token: "another") }
        let result = await fake.getToken(forcingRefresh: force)
        if force, result.error is AppCheckInteropError { failed.next() }
        return result
      })
    },
    Fault("gives up after three failures", breaks: "a failure is not remembered") {
      let failures = Counter()
      return WrongAppCheck(token: { fake, force in
        guard failures.count < 3 else { return .init(error: AppCheckInteropError(.unavailable, "gave up")) }
        let result = await fake.getToken(forcingRefresh: force)
        if result.error is AppCheckInteropError { failures.next() }
        return result
      })
    },
    Fault(
      "gives the fortieth caller another token",
      breaks: "64 tasks that ask for the first token at once get one and the same"
    ) {
      let asked = Counter()
      return WrongAppCheck(token: { fake, force in
        let result = await fake.getToken(forcingRefresh: force)
        return !force && asked.next() == 40 ? .init(token: "another") : result
      })
    },
    Fault(
      "shares limited-use tokens among a crowd",
      breaks: "64 tasks that ask for limited-use tokens at once get one each"
    ) {
      let asked = Counter()
      return WrongAppCheck(limited: { fake in
        let result = await fake.getLimitedUseToken()
        return asked.next() >= 40 ? .init(token: "shared") : result
      })
    },
    Fault("keeps a cancelled caller waiting", breaks: "a cancelled caller leaves at once with CancellationError") {
      WrongAppCheck(token: { fake, force in
        await Task { await fake.getToken(forcingRefresh: force) }.value
      })
    },
    Fault("cancels everybody with the first", breaks: "a cancelled caller does not disturb the others") {
      let cancelled = Counter()
      return WrongAppCheck(token: { fake, force in
        let result = await fake.getToken(forcingRefresh: force)
        if result.error is CancellationError { cancelled.next() }
        return cancelled.count > 1 ? .init(error: CancellationError()) : result
      })
    },
    Fault("ends a listener with its registration", breaks: "a dropped registration keeps its listener") {
      WrongAppCheck(registers: { registration in
        let owner = Owner(registration)
        return ListenerRegistration { owner.registration.cancel() }
      })
    },
  ]

  @Test(arguments: faults) func `a wrong implementation breaks exactly its promise`(_ fault: Fault) async {
    let outcomes = await AppCheckInteropContracts.all.run { contract in
      let wrong = fault.make()
      return Self.subject(wrong.fake, as: wrong, patience: contract.name == fault.broken ? .seconds(1) : .seconds(60))
    }
    #expect(outcomes.filter { !$0.isKept }.map(\.name) == [fault.broken], "\(outcomes.filter { !$0.isKept })")
  }

  private final class Owner: Sendable {
    let registration: ListenerRegistration
    init(_ registration: ListenerRegistration) { self.registration = registration }
    deinit { registration.cancel() }
  }

  private final class Counter: Sendable {
    private let value = Atomic(0)
    var count: Int { value.load(ordering: .sequentiallyConsistent) }
    @discardableResult func next() -> Int { value.add(1, ordering: .sequentiallyConsistent).newValue }
  }
}
