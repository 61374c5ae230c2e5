import VestaAnalyticsInterop
import VestaConcurrency
public import VestaTesting

/// The promises of `AnalyticsInterop` as checks.
///
/// ```swift
/// for outcome in await AnalyticsInteropContracts.all.run(against: { try await makeSubject() }) { print(outcome) }
/// ```
public enum AnalyticsInteropContracts {
  /// All promises, including the listeners'.
  public static let all: [Contract<AnalyticsInteropSubject>] = events + properties + listeners

  private static let events: [Contract<AnalyticsInteropSubject>] = [
    Contract("an event keeps its parameters") { subject in
      let parameters: [String: AnalyticsValue] = [
        "text": "Grüße", "whole": 9_007_199_254_740_993, "number": 0.1, "truth": true,
        "items": [["id": 1, "price": 2.5], []], "empty": "",
      ]
      let log = subject.listen(to: "a")
      subject.log("event", of: "a", parameters: parameters)
      try await log.wait(for: "the event") { !$0.isEmpty }
      try expect(log.events, equals: [AnalyticsEvent(origin: "a", name: "event", parameters: parameters)], "the events")
    },
    Contract("no parameters are the same as none") { subject in
      let log = subject.listen(to: "a")
      for parameters in [nil, [:]] as [[String: AnalyticsValue]?] { subject.log("e", of: "a", parameters: parameters) }
      try await log.wait(for: "two events") { $0.count == 2 }
      try expect(log.events[0], equals: log.events[1], "the event")
    },
    Contract("a listener hears its own origin only") { subject in
      let log = subject.listen(to: "a")
      for number in 1...4 {
        subject.log("other", of: "b")
        subject.log("own-\(number)", of: "a")
      }
      try await log.wait(for: "the last event") { $0.last?.name == "own-4" }
      try expect(log.events.map(\.name), equals: (1...4).map { "own-\($0)" }, "the events")
    },
    Contract("an event without a name is dropped") { subject in
      let log = subject.listen(to: "a")
      for name in ["", "named"] { subject.log(name, of: "a") }
      try await log.wait(for: "the named event") { $0.last?.name == "named" }
      try expect(log.events.count, equals: 1, "the number of events")
    },
    Contract("no event of 64 tasks is lost") { subject in
      let log = subject.listen(to: "a")
      await withTaskGroup(of: Void.self) { group in
        for task in 1...64 {
          group.addTask { for number in 1...8 { subject.log("\(task)-\(number)", of: "a") } }
        }
      }
      try await log.wait(for: "512 events") { $0.count >= 512 }
      for task in 1...64 {
        let own = log.events.map(\.name).filter { $0.hasPrefix("\(task)-") }
        try expect(own, equals: (1...8).map { "\(task)-\($0)" }, "the events of one task")
      }
    },
  ]

  private static let properties: [Contract<AnalyticsInteropSubject>] = [
    Contract("a property has the value that was set last, whoever set it") { subject in
      subject.set("level", to: 1, by: "a")
      subject.set("level", to: "two", by: "b")
      try await subject.expectProperties(["level": "two"])
    },
    Contract("nil removes a property") { subject in
      for name in ["kept", "removed"] { subject.set(name, to: true) }
      for name in ["removed", "never set"] { subject.set(name, to: nil) }
      try await subject.expectProperties(["kept": true])
    },
    Contract("internal properties are given only when asked for") { subject in
      subject.set("_internal", to: 1)
      subject.set("open", to: 2)
      try await subject.expectProperties(["open": 2])
      try await subject.expectProperties(["open": 2, "_internal": 1], includingInternal: true)
    },
    Contract("a property without a name is dropped") { subject in
      subject.set("", to: "nameless")
      try await subject.expectProperties([:], includingInternal: true)
    },
    Contract("no property of 64 tasks is lost") { subject in
      await withTaskGroup(of: Void.self) { group in
        for task in 1...64 { group.addTask { subject.set("p\(task)", to: .integer(Int64(task))) } }
      }
      let expected = (1...64).map { ("p\($0)", AnalyticsValue.integer(Int64($0))) }
      try await subject.expectProperties(Dictionary(uniqueKeysWithValues: expected))
    },
  ]

  private static let listeners: [Contract<AnalyticsInteropSubject>] = ListenerContracts.all(greets: false) { subject in
    ListenerSubject(
      patience: subject.patience,
      add: { subject.analytics.addEventListener(withOrigin: "a", $0) },
      callBack: {
        subject.log("from within", of: "b")
        subject.set("from within", to: true)
      },
      change: { number in
        subject.log("event-\(number)", of: "a")
        return AnalyticsEvent(origin: "a", name: "event-\(number)")
      }
    )
  }
}

extension AnalyticsInteropSubject {
  func log(_ name: String, of origin: String, parameters: [String: AnalyticsValue]? = nil) {
    analytics.logEvent(withOrigin: origin, name: name, parameters: parameters)
  }

  func set(_ name: String, to value: AnalyticsValue?, by origin: String = "a") {
    analytics.setUserProperty(withOrigin: origin, name: name, value: value)
  }

  func listen(to origin: String) -> EventLog<AnalyticsEvent> {
    let log = EventLog<AnalyticsEvent>(patience: patience)
    log.keep(analytics.addEventListener(withOrigin: origin) { [weak log] in log?.record($0) })
    return log
  }

  func expectProperties(_ expected: [String: AnalyticsValue], includingInternal: Bool = false) async throws {
    let found = await analytics.getUserProperties(includingInternal: includingInternal)
    try expect(found, equals: expected, "the user properties")
  }
}
