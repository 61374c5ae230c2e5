import FirebaseCore
import FirebaseMessaging
import Foundation
import Testing

@Suite(.serialized) struct MessagingProgramTests {
  @Test func `a program with Messaging runs as it is`() async throws {
    try await withApp("messaging") { app in
      let messaging = try Messaging.instance(for: app)
      let (tokens, continuation) = AsyncStream.makeStream(of: String.self)
      let postbox = Postbox(messaging: messaging) { continuation.yield($0) }
      let token = await answer { postbox.fetchToken($0) }
      var iterator = tokens.makeAsyncIterator()
      #expect(await iterator.next() == token)
      #expect(await answer { postbox.join("weather", $0) } == nil)
      #expect(await answer { postbox.join("no topic!", $0) } == .invalidTopicName)
      #expect(await answer { postbox.leave("weather", $0) } == nil)
      let outcome1 = try await postbox.modern()
      #expect(outcome1)
      #expect(await answer { postbox.reset($0) } == nil)
      continuation.finish()
    }
  }
}
