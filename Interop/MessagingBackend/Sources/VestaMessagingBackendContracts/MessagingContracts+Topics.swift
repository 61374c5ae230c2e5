import VestaMessagingBackend
import VestaServiceInterop
import VestaTesting

/// Topics and conditions.
extension MessagingContracts {
  static let topics: [Contract<MessagingSubject>] = [
    Contract("a topic reaches its subscribers, from their subscription on") { subject in
      let (one, two) = (try await subject.register("one"), try await subject.register("two"))
      try await subject.send(to: .topic("news"), "early")
      try await subject.subscribe(one, "news")
      let (first, second) = (Inbox(subject, one), Inbox(subject, two))
      try await subject.send(to: .topic("news"), "a")
      try await first.wait(for: ["a"])
      try await subject.subscribe(two, "news")
      try await subject.send(to: .topic("news"), "b")
      try await first.wait(for: ["a", "b"])
      try await second.wait(for: ["b"])
      try await subject.backend.unsubscribe(token: one, fromTopic: "news", context: CallContext())
      try await subject.send(to: .topic("news"), "c")
      try await second.wait(for: ["b", "c"])
      try await subject.send(to: .token(one), "end")
      try await first.wait(for: ["a", "b", "end"])
      first.close()
      second.close()
    },
    Contract("a condition reaches those whose topics fulfil it") { subject in
      var inboxes: [Inbox] = []
      for (name, topics) in [("a", ["a"]), ("ab", ["a", "b"]), ("c", ["c"]), ("bc", ["b", "c"]), ("none", [])] {
        let token = try await subject.register(name)
        for topic in topics { try await subject.subscribe(token, topic) }
        inboxes.append(Inbox(subject, token))
        try await subject.send(to: .token(token), "begin")
        try await inboxes[inboxes.count - 1].wait(for: ["begin"])
      }
      // From left to right: `bc` fulfils the first test and not the last one.
      try await subject.send(to: .condition("'c' in topics || 'a' in topics && !('b' in topics)"), "hit")
      for name in ["a", "ab", "c", "bc", "none"] { try await subject.send(to: .installation(name), "end") }
      for (inbox, isHit) in zip(inboxes, [true, false, true, false, false]) {
        try await inbox.wait(for: isHit ? ["begin", "hit", "end"] : ["begin", "end"])
        inbox.close()
      }
    },
    Contract("the owner subscribes many registrations, and gets those that do not exist") { subject in
      let token = try await subject.register()
      let outcomes = try await subject.admin.subscribe(
        tokens: [token, "gone:\(String(repeating: "a", count: 30))"], toTopic: "/topics/news", context: .owner)
      try expect(outcomes.map { $0?.reason }, equals: [nil, .unregistered], "the outcomes")
      let info = try await subject.admin.registration(token: token, context: .owner)
      try expect(info.topics, equals: ["news"], "the topics")
    },
  ]
}
