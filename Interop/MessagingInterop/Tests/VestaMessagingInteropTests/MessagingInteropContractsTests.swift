import Synchronization
import Testing
import VestaConcurrency
import VestaMessagingInterop
import VestaMessagingInteropContracts
import VestaMessagingInteropFakes
import VestaTesting

@Suite struct MessagingInteropContractsTests {
  private static func subject(
    _ fake: FakeMessaging,
    as messaging: any MessagingInterop,
    patience: Duration = .seconds(60)
  ) -> MessagingInteropSubject {
    let tokens = Counter()
    return MessagingInteropSubject(
      messaging,
      patience: patience,
      renewToken: { fake.setToken("token-\(tokens.next())") },
      deleteToken: { fake.setToken(nil) }
    )
  }

  @Test func `the fake keeps every promise`() async {
    let outcomes = await MessagingInteropContracts.all.run {
      let fake = FakeMessaging()
      return Self.subject(fake, as: fake)
    }
    #expect(outcomes.filter { !$0.isKept }.map(\.description) == [])
    #expect(Set(outcomes.map(\.name)).count == outcomes.count)
  }

  @Test func `the stream gives the current token and every change`() async {
    let fake = FakeMessaging()
    var heard: [String?] = []
    for await token in fake.fcmTokenChanges {
      heard.append(token)
      if heard.count == 1 { fake.setToken("a") }
      if heard.count == 2 { fake.setToken(nil) }
      if heard.count == 3 { break }
    }
    #expect(heard == [nil, "a", nil])
    #expect(fake.listenerCount == 0)
  }

  /// An implementation over `FakeMessaging` whose methods can be replaced one by one.
  struct WrongMessaging: MessagingInterop {
    @TaskLocal static var isCallingListener = false

    let fake = FakeMessaging()
    var token: @Sendable (FakeMessaging) -> String? = { $0.fcmToken }
    var hears: @Sendable (String?) -> Bool = { _ in true }
    var registers: @Sendable (ListenerRegistration) -> ListenerRegistration = { $0 }

    var fcmToken: String? { token(fake) }
    func addFCMTokenListener(_ listener: @escaping @Sendable (String?) -> Void) -> ListenerRegistration {
      registers(
        fake.addFCMTokenListener { [hears] token in
          guard hears(token) else { return }
          Self.$isCallingListener.withValue(true) { listener(token) }
        })
    }
  }

  struct Fault: Sendable, CustomTestStringConvertible {
    let testDescription: String, broken: String
    let make: @Sendable () -> WrongMessaging

    init(_ fault: String, breaks broken: String, make: @escaping @Sendable () -> WrongMessaging) {
      (testDescription, self.broken, self.make) = (fault, broken, make)
    }
  }

  static let faults: [Fault] = [
    Fault("is registered from the start", breaks: "without a registration there is no token") {
      let wrong = WrongMessaging()
      wrong.fake.setToken("early")
      return wrong
    },
    Fault("loses its token", breaks: "a registered installation has a token that stays the same") {
      let asked = Counter()
      return WrongMessaging(token: { fake in
        fake.fcmToken == "token-1" && fake.listenerCount == 0 && asked.next() == 3 ? nil : fake.fcmToken
      })
    },
    Fault("renews once only", breaks: "a renewed token replaces the old one") {
      WrongMessaging(token: { fake in
        fake.fcmToken == "token-2" && fake.listenerCount == 0 ? "token-1" : fake.fcmToken
      })
    },
    Fault("keeps a deletion to itself", breaks: "a deleted token is gone and that is heard") {
      let heard = Counter()
      return WrongMessaging(hears: { token in
        if token == "token-1" { heard.next() }
        return token != nil || heard.count == 0
      })
    },
    Fault("announces before it has the token", breaks: "a token that is heard of is there") {
      WrongMessaging(token: { WrongMessaging.isCallingListener ? nil : $0.fcmToken })
    },
    Fault("gives the fortieth caller nothing", breaks: "64 tasks that ask at once get one and the same token") {
      let asked = Counter()
      return WrongMessaging(token: { fake in
        fake.listenerCount == 0 && fake.fcmToken == "token-3" && asked.next() == 40 ? nil : fake.fcmToken
      })
    },
    Fault("ends a listener with its registration", breaks: "a dropped registration keeps its listener") {
      WrongMessaging(registers: { registration in
        let owner = Owner(registration)
        return ListenerRegistration { owner.registration.cancel() }
      })
    },
  ]

  @Test(arguments: faults) func `a wrong implementation breaks exactly its promise`(_ fault: Fault) async {
    let outcomes = await MessagingInteropContracts.all.run { contract in
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
