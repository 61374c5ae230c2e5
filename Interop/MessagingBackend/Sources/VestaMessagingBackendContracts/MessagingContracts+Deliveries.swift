import VestaMessagingBackend
import VestaServiceInterop
import VestaTesting

/// Deliveries: order, acknowledgements, times to live, receivers that block.
extension MessagingContracts {
  static let deliveries: [Contract<MessagingSubject>] = [
    Contract("a connected registration receives messages at once and in order") { subject in
      let token = try await subject.register()
      let inbox = Inbox(subject, token)
      for number in 1...20 { try await subject.send(to: .token(token), "\(number)") }
      try await inbox.wait(for: (1...20).map { "\($0)" })
      inbox.close()
    },
    Contract("messages wait for a registration that is away") { subject in
      let token = try await subject.register()
      for number in 1...5 { try await subject.send(to: .token(token), "\(number)") }
      let inbox = Inbox(subject, token)
      try await inbox.wait(for: ["1", "2", "3", "4", "5"])
      inbox.close()
    },
    Contract("unacknowledged messages come again with the same id, acknowledged ones do not") { subject in
      let token = try await subject.register()
      try await subject.subscribe(token, "news")
      try await subject.send(to: .token(token), "a")
      try await subject.send(to: .topic("news"), "b")
      let first = Inbox(subject, token)
      try await first.wait(for: ["a", "b"])
      first.close()
      let second = Inbox(subject, token)
      try await second.wait(for: ["a", "b"])
      try expect(second.log.events.map(\.messageID), equals: first.log.events.map(\.messageID), "the ids")
      try await subject.acknowledge(token, second)
      second.close()
      try await subject.send(to: .token(token), "c")
      let third = Inbox(subject, token)
      try await third.wait(for: ["c"])
      third.close()
    },
    Contract("of waiting messages those of high priority come first") { subject in
      let token = try await subject.register()
      try await subject.send(to: .token(token), "normal")
      try await subject.send(to: .token(token), "high", isHigh: true)
      let inbox = Inbox(subject, token)
      try await inbox.wait(for: ["high", "normal"])
      inbox.close()
    },
    Contract("of waiting messages with one collapse key the last one is delivered") { subject in
      let token = try await subject.register()
      for text in ["1", "2", "3"] { try await subject.send(to: .token(token), text, collapseKey: "score") }
      try await subject.send(to: .token(token), "other", collapseKey: "mail")
      let inbox = Inbox(subject, token)
      try await inbox.wait(for: ["3", "other"])
      inbox.close()
    },
    Contract("an immediate message (time to live 0) does not wait") { subject in
      let token = try await subject.register()
      try await subject.send(to: .token(token), "never", ttl: "0s")
      try await subject.send(to: .token(token), "later")
      let inbox = Inbox(subject, token)
      try await inbox.wait(for: ["later"])
      inbox.close()
    },
    Contract("messages to a topic wait by the same rules: high priority first, the last one of a collapse key") {
      subject in
      let token = try await subject.register()
      try await subject.subscribe(token, "news")
      try await subject.send(to: .topic("news"), "score 1", collapseKey: "score")
      try await subject.send(to: .topic("news"), "normal")
      try await subject.send(to: .topic("news"), "high", isHigh: true)
      try await subject.send(to: .topic("news"), "score 2", collapseKey: "score")
      let inbox = Inbox(subject, token)
      try await inbox.wait(for: ["high", "normal", "score 2"])
      inbox.close()
    },
    Contract("an immediate message (time to live 0) reaches a connection, though others wait for acknowledgements") {
      subject in
      let token = try await subject.register()
      for number in 1...250 { try await subject.send(to: .token(token), "\(number)") }
      let inbox = Inbox(subject, token)
      try await inbox.log.wait(for: "a message") { !$0.isEmpty }
      try await subject.send(to: .token(token), "now", ttl: "0s")
      while !inbox.texts.contains("now"), inbox.texts.count < 251 {
        let count = inbox.texts.count
        try await subject.acknowledge(token, inbox)
        try await inbox.log.wait(for: "more messages") { $0.count > count || $0.count >= 251 }
      }
      try expect(inbox.texts.filter { $0 == "now" }.count, equals: 1, "the immediate messages")
      inbox.close()
    },
    Contract("a receiver that blocks delays nobody else") { subject in
      let (slow, quick) = (try await subject.register("slow"), try await subject.register("quick"))
      let gate = Gate()
      let patience = subject.patience
      let calls = EventLog<Void>(patience: patience)
      let blocked = Inbox(subject, slow) { delivery in
        if delivery.message.data["text"] == "begin" { return }
        calls.record(())
        _ = gate.passes(within: patience)
      }
      let inbox = Inbox(subject, quick)
      try await subject.send(to: .token(slow), "begin")
      try await blocked.wait(for: ["begin"])
      try await subject.send(to: .token(slow), "0")
      try await calls.wait(for: "the call that blocks") { !$0.isEmpty }
      for number in 1...5 {
        try await subject.send(to: .token(slow), "\(number)")
        try await subject.send(to: .token(quick), "\(number)")
      }
      try await inbox.wait(for: ["1", "2", "3", "4", "5"])
      let isBlocked = blocked.texts == ["begin"]
      gate.open()
      try expect(isBlocked, "the receiver that blocks was called again")
      try await blocked.wait(for: ["begin", "0", "1", "2", "3", "4", "5"])
      blocked.close()
      inbox.close()
    },
    Contract("many receivers that block, more than there are cores, delay nobody else") { subject in
      let (gate, patience) = (Gate(), subject.patience)
      let calls = EventLog<Void>(patience: patience)
      var blocked: [Inbox] = []
      for number in 0..<24 {
        let token = try await subject.register("slow\(number)")
        try await subject.subscribe(token, "all")
        blocked.append(
          Inbox(subject, token) { _ in
            calls.record(())
            _ = gate.passes(within: patience)
          })
        try await subject.send(to: .token(token), "\(number)")
      }
      try await calls.wait(for: "the calls that block") { $0.count == 24 }
      let quick = try await subject.register("quick")
      let inbox = Inbox(subject, quick)
      try await subject.send(to: .token(quick), "now")
      try await inbox.wait(for: ["now"])
      gate.open()
      for (number, inbox) in blocked.enumerated() {
        try await inbox.wait(for: ["\(number)"])
        inbox.close()
      }
      inbox.close()
    },
    Contract("a message to a topic is for who is subscribed when it is sent, also when the topic is left") { subject in
      let token = try await subject.register()
      try await subject.subscribe(token, "news")
      try await subject.send(to: .topic("news"), "a")
      try await subject.backend.unsubscribe(token: token, fromTopic: "news", context: CallContext())
      try await subject.send(to: .topic("news"), "b")
      try await subject.subscribe(token, "news")
      try await subject.send(to: .topic("news"), "c")
      let inbox = Inbox(subject, token)
      try await inbox.wait(for: ["a", "c"])
      inbox.close()
    },
    Contract("a connection ends with its registration") { subject in
      for isReplaced in [true, false] {
        let token = try await subject.register()
        let inbox = Inbox(subject, token)
        // A message that the replaced registration did not acknowledge arrives again before it.
        let text = isReplaced ? "a" : "b"
        try await subject.send(to: .token(token), text)
        try await inbox.log.wait(for: "the message \(text)") { $0.last?.message.data["text"] == text }
        if isReplaced {
          _ = try await subject.register()
        } else {
          try await subject.backend.unregister(token: token, context: CallContext())
        }
        try await inbox.ends.wait(for: "the end") { $0 == ["NOT_FOUND"] }
      }
    },
    Contract("a second connection ends the first one") { subject in
      let token = try await subject.register()
      let first = Inbox(subject, token)
      try await subject.send(to: .token(token), "a")
      try await first.wait(for: ["a"])
      let second = Inbox(subject, token)
      try await first.ends.wait(for: "the end") { $0 == ["ABORTED"] }
      try await second.wait(for: ["a"])
      second.close()
    },
    Contract("more messages than a connection may have unacknowledged arrive all the same") { subject in
      let token = try await subject.register()
      for number in 1...250 { try await subject.send(to: .token(token), "\(number)") }
      let inbox = Inbox(subject, token)
      // As many rounds as it takes: a slow machine receives one message at a time.
      var heard = 0
      while heard < 250 {
        let count = heard
        try await inbox.log.wait(for: "more than \(count) messages") { Set($0.map(\.messageID)).count > count }
        heard = Set(inbox.log.events.map(\.messageID)).count
        try await subject.acknowledge(token, inbox)
      }
      inbox.close()
    },
  ]
}
