import Synchronization
import Testing
import VestaAnalyticsInterop
import VestaAnalyticsInteropContracts
import VestaAnalyticsInteropFakes
import VestaConcurrency
import VestaTesting

@Suite struct AnalyticsInteropContractsTests {
  @Test func `the fake keeps every promise`() async {
    let outcomes = await AnalyticsInteropContracts.all.run { AnalyticsInteropSubject(FakeAnalytics()) }
    #expect(outcomes.filter { !$0.isKept }.map(\.description) == [])
    #expect(Set(outcomes.map(\.name)).count == outcomes.count)
  }

  @Test func `the callback form returns the properties`() async {
    let fake = FakeAnalytics()
    fake.setUserProperty(withOrigin: "a", name: "level", value: 3)
    let found = await withCheckedContinuation { done in
      fake.getUserProperties(includingInternal: false) { done.resume(returning: $0) }
    }
    #expect(found == ["level": 3])
  }

  @Test func `the stream sends every event of its origin`() async {
    let fake = FakeAnalytics()
    let events = fake.events(withOrigin: "a")
    for name in ["one", "two"] {
      fake.logEvent(withOrigin: "b", name: "other", parameters: nil)
      fake.logEvent(withOrigin: "a", name: name, parameters: nil)
    }
    var heard: [String] = []
    for await event in events {
      heard.append(event.name)
      if heard.count == 2 { break }
    }
    #expect(heard == ["one", "two"])
    #expect(fake.events.map(\.name) == ["other", "one", "other", "two"])
  }

  @Test func `values are written as literals`() {
    let value: AnalyticsValue = ["text": "a", "whole": 1, "number": 1.5, "truth": false, "list": [1, "b"]]
    #expect(
      value
        == .dictionary([
          "text": .string("a"), "whole": .integer(1), "number": .double(1.5), "truth": .boolean(false),
          "list": .array([.integer(1), .string("b")]),
        ]))
  }

  /// An implementation over `FakeAnalytics` whose methods can be replaced one by one.
  struct WrongAnalytics: AnalyticsInterop {
    let fake = FakeAnalytics()
    var logs: @Sendable (FakeAnalytics, AnalyticsEvent, _ isBare: Bool) -> Void = { fake, event, _ in
      fake.logEvent(withOrigin: event.origin, name: event.name, parameters: event.parameters)
    }
    var sets: @Sendable (FakeAnalytics, _ origin: String, _ name: String, AnalyticsValue?) -> Void = {
      $0.setUserProperty(withOrigin: $1, name: $2, value: $3)
    }
    var gets: @Sendable (FakeAnalytics, Bool) async -> [String: AnalyticsValue] = {
      await $0.getUserProperties(includingInternal: $1)
    }
    var registers: @Sendable (ListenerRegistration) -> ListenerRegistration = { $0 }

    func logEvent(withOrigin origin: String, name: String, parameters: [String: AnalyticsValue]?) {
      logs(fake, AnalyticsEvent(origin: origin, name: name, parameters: parameters ?? [:]), parameters == nil)
    }
    func setUserProperty(withOrigin origin: String, name: String, value: AnalyticsValue?) {
      sets(fake, origin, name, value)
    }
    func getUserProperties(includingInternal: Bool) async -> [String: AnalyticsValue] {
      await gets(fake, includingInternal)
    }
    func addEventListener(
      withOrigin origin: String, _ listener: @escaping @Sendable (AnalyticsEvent) -> Void
    ) -> ListenerRegistration {
      registers(fake.addEventListener(withOrigin: origin, listener))
    }
  }

  struct Fault: Sendable, CustomTestStringConvertible {
    let testDescription: String, broken: String
    let make: @Sendable () -> WrongAnalytics

    init(_ fault: String, breaks broken: String, make: @escaping @Sendable () -> WrongAnalytics) {
      (testDescription, self.broken, self.make) = (fault, broken, make)
    }
  }

  private static func forward(
    _ event: AnalyticsEvent, to fake: FakeAnalytics, parameters: [String: AnalyticsValue]? = nil
  ) {
    fake.logEvent(withOrigin: event.origin, name: event.name, parameters: parameters ?? event.parameters)
  }

  static let faults: [Fault] = [
    Fault("rounds whole numbers", breaks: "an event keeps its parameters") {
      WrongAnalytics(logs: { fake, event, _ in
        let rounded = event.parameters.mapValues { value in
          if case .integer(let whole) = value { AnalyticsValue.double(Double(whole)) } else { value }
        }
        forward(event, to: fake, parameters: rounded)
      })
    },
    Fault("adds a parameter where there is an empty list", breaks: "no parameters are the same as none") {
      WrongAnalytics(logs: { fake, event, isBare in
        forward(event, to: fake, parameters: isBare || !event.parameters.isEmpty ? nil : ["count": 0])
      })
    },
    Fault("lets events of others through", breaks: "a listener hears its own origin only") {
      WrongAnalytics(logs: { fake, event, _ in
        let origin = event.name == "other" ? "a" : event.origin
        fake.logEvent(withOrigin: origin, name: event.name, parameters: event.parameters)
      })
    },
    Fault("gives the nameless a name", breaks: "an event without a name is dropped") {
      WrongAnalytics(logs: { fake, event, _ in
        let name = event.name.isEmpty ? "(none)" : event.name
        fake.logEvent(withOrigin: event.origin, name: name, parameters: event.parameters)
      })
    },
    Fault("keeps two hundred events", breaks: "no event of 64 tasks is lost") {
      WrongAnalytics(logs: { fake, event, _ in if fake.events.count < 200 { forward(event, to: fake) } })
    },
    Fault("keeps the first value", breaks: "a property has the value that was set last, whoever set it") {
      WrongAnalytics(sets: { fake, origin, name, value in
        if origin == "a" { fake.setUserProperty(withOrigin: origin, name: name, value: value) }
      })
    },
    Fault("keeps removed properties", breaks: "nil removes a property") {
      WrongAnalytics(sets: { fake, origin, name, value in
        if let value { fake.setUserProperty(withOrigin: origin, name: name, value: value) }
      })
    },
    Fault("shows internal properties", breaks: "internal properties are given only when asked for") {
      WrongAnalytics(gets: { fake, _ in await fake.getUserProperties(includingInternal: true) })
    },
    Fault("names nameless properties", breaks: "a property without a name is dropped") {
      WrongAnalytics(sets: { fake, origin, name, value in
        fake.setUserProperty(withOrigin: origin, name: name.isEmpty ? "(none)" : name, value: value)
      })
    },
    Fault("keeps twenty-five properties", breaks: "no property of 64 tasks is lost") {
      let count = Limit()
      return WrongAnalytics(sets: { fake, origin, name, value in
        if count.takes() { fake.setUserProperty(withOrigin: origin, name: name, value: value) }
      })
    },
    Fault("ends a listener with its registration", breaks: "a dropped registration keeps its listener") {
      WrongAnalytics(registers: { registration in
        let owner = Owner(registration)
        return ListenerRegistration { owner.registration.cancel() }
      })
    },
  ]

  @Test(arguments: faults) func `a wrong implementation breaks exactly its promise`(_ fault: Fault) async {
    let outcomes = await AnalyticsInteropContracts.all.run { contract in
      AnalyticsInteropSubject(fault.make(), patience: contract.name == fault.broken ? .seconds(1) : .seconds(60))
    }
    #expect(outcomes.filter { !$0.isKept }.map(\.name) == [fault.broken], "\(outcomes.filter { !$0.isKept })")
  }

  private final class Owner: Sendable {
    let registration: ListenerRegistration
    init(_ registration: ListenerRegistration) { self.registration = registration }
    deinit { registration.cancel() }
  }

  private final class Limit: Sendable {
    private let count = Atomic(0)
    func takes() -> Bool { count.add(1, ordering: .relaxed).newValue <= 25 }
  }
}
