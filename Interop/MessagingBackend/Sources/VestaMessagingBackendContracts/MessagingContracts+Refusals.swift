import VestaBytes
import VestaMessagingBackend
import VestaServiceInterop
import VestaTesting

/// Refusals: of wrong messages, and of callers that may not send.
extension MessagingContracts {
  static let refusals: [Contract<MessagingSubject>] = [
    Contract("a wrong message is refused with the field that is wrong") { subject in
      let token = try await subject.register()
      var message = PushMessage(to: .token(token), data: ["google.a": "b"])
      let reserved = try await expectThrows(MessagingServiceError.self, "a reserved key") {
        try await subject.admin.send(message, isValidateOnly: false, context: .owner)
      }
      try expect(reserved.field, equals: "message.data.google.a", "the field")
      message.data = ["a": String(repeating: "b", count: 5000)]
      let big = try await expectThrows(MessagingServiceError.self, "a message that is too big") {
        try await subject.admin.send(message, isValidateOnly: false, context: .owner)
      }
      try expect(big.code, equals: .invalidArgument, "the code")
    },
    Contract("what is nested too deeply to be read again is refused, and stops nothing") { subject in
      let token = try await subject.register()
      var message = PushMessage(to: .token(token), data: ["text": "deep"])
      let deep = (0..<100).reduce(JSONValue.string("x")) { value, _ in .array([value]) }
      message.apns = ["payload": .object(["aps": [:], "a": deep])]
      let error = try await expectThrows(MessagingServiceError.self, "a deep message") {
        try await subject.admin.send(message, isValidateOnly: false, context: .owner)
      }
      try expect(error.code, equals: .invalidArgument, "the code")
      try await subject.send(to: .token(token), "a")
      let inbox = Inbox(subject, token)
      try await inbox.wait(for: ["a"])
      inbox.close()
    },
    Contract("of several messages each is accepted or refused by itself") { subject in
      let token = try await subject.register()
      let inbox = Inbox(subject, token)
      let messages = [PushMessage.Target.token(token), .token("wrong"), .token(token)].map {
        PushMessage(to: $0, data: ["text": "x"])
      }
      let outcomes = try await subject.admin.sendEach(messages, isValidateOnly: false, context: .owner)
      let isAccepted = outcomes.map { outcome in if case .success = outcome { true } else { false } }
      try expect(isAccepted, equals: [true, false, true], "the outcomes")
      try await inbox.wait(for: ["x", "x"])
      inbox.close()
    },
    Contract("only the owner sends") { subject in
      let token = try await subject.register()
      let error = try await expectThrows(MessagingServiceError.self, "a send in nobody's name") {
        try await subject.admin.send(
          PushMessage(to: .token(token), data: ["a": "b"]), isValidateOnly: false, context: CallContext())
      }
      try expect(error.code, equals: .permissionDenied, "the code")
    },
    Contract("a connection of a token that is not registered ends with that reason") { subject in
      let inbox = Inbox(subject, "gone:\(String(repeating: "a", count: 30))")
      try await inbox.ends.wait(for: "the end") { $0 == ["NOT_FOUND"] }
      // A connection that is dropped gets no end.
      withExtendedLifetime(inbox) {}
    },
  ]
}
