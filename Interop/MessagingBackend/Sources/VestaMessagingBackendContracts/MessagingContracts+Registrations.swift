import VestaConcurrency
import VestaMessagingBackend
import VestaServiceInterop
import VestaTesting

/// Registrations and their tokens.
extension MessagingContracts {
  static let registrations: [Contract<MessagingSubject>] = [
    Contract("a credential that cannot be verified is refused in every call") { subject in
      let forged = CallContext(caller: .credential(.idToken("a.b.c")))
      let token = try await subject.register()
      let request = RegisterRequest(installationID: "other", platform: "linux", appID: "app")
      let refused = try await expectThrows(MessagingServiceError.self, "a registration") {
        try await subject.backend.register(request, context: forged)
      }
      try expect(refused.code, equals: .unauthenticated, "the code of a registration")
      let unsent = try await expectThrows(MessagingServiceError.self, "a message") {
        try await subject.admin.send(PushMessage(to: .token(token)), isValidateOnly: false, context: forged)
      }
      try expect(unsent.code, equals: .unauthenticated, "the code of a message")
      let ends = EventLog<String>(patience: subject.patience)
      let connection = subject.backend.connect(token: token, context: forged) {
        ends.record($0.map(\.code.name) ?? "in order")
      } _: { _ in
      }
      defer { connection.cancel() }
      try await ends.wait(for: "the end of the connection") { $0 == [ServiceCode.unauthenticated.name] }
    },
    Contract("a registration keeps its token, and only for those who know it") { subject in
      let token = try await subject.register()
      try expect(try await subject.register(currentToken: token), equals: token, "the token of the second registration")
      let other = try await subject.register()
      try expect(other != token, "somebody else has got the token")
      let error = try await expectThrows(MessagingServiceError.self, "a send to the replaced token") {
        try await subject.send(to: .token(token), "a")
      }
      try expect(error.reason, equals: .unregistered, "the reason")
    },
    Contract("the owner, and nobody else, finds the token of an installation") { subject in
      let token = try await subject.register("ada")
      let found = try await subject.admin.token(ofInstallation: "ada", context: .owner)
      try expect(found, equals: token, "the token")
      let unknown = try await expectThrows(MessagingServiceError.self, "an unknown installation") {
        try await subject.admin.token(ofInstallation: "bob", context: .owner)
      }
      try expect(unknown.code, equals: .notFound, "the code for an unknown one")
      let refused = try await expectThrows(MessagingServiceError.self, "a call of somebody else") {
        try await subject.admin.token(ofInstallation: "ada", context: CallContext())
      }
      try expect(refused.code, equals: .permissionDenied, "the code for somebody else")
    },
    Contract("an installation that was unregistered receives nothing and can be registered again") { subject in
      let token = try await subject.register()
      try await subject.send(to: .token(token), "lost")
      try await subject.backend.unregister(token: token, context: CallContext())
      try await subject.backend.unregister(token: token, context: CallContext())
      let error = try await expectThrows(MessagingServiceError.self, "a send") {
        try await subject.send(to: .token(token), "a")
      }
      try expect(error.reason, equals: .unregistered, "the reason")
      let again = try await subject.register()
      let inbox = Inbox(subject, again)
      try await subject.send(to: .token(again), "b")
      try await inbox.wait(for: ["b"])
      inbox.close()
    },
  ]
}
