import FirebaseCore
import FirebaseMessaging
import Foundation
import Testing

@Suite(.serialized) struct MessagingRegistrationProgramTests {
  @Test func `a program that registers its installation runs as it is`() async throws {
    try await withApp("registration") { app in
      let messaging = try Messaging.instance(for: app)
      let (changes, continuation) = AsyncStream.makeStream(of: String.self)
      let model = RegistrationModel(messaging: messaging) { continuation.yield($0) }
      #expect(await answer { model.register($0) } == "token")
      let (token, code) = await answer { done in model.token(for: "1234") { done(($0, $1)) } }
      #expect((token == nil) != (code == nil))
      #expect(!model.received([:]))
      #expect(model.received(["gcm.message_id": "id-1", "from": "1234"]))
      #expect(await model.subscribe("weather") == "subscribed")
      #expect(await model.subscribe("no topic!") == "invalid name")
      try await model.leave()
      continuation.finish()
      var seen: [String] = []
      for await change in changes { seen.append(change) }
      #expect(seen.allSatisfy { $0.contains("registered") })
    }
  }
}
