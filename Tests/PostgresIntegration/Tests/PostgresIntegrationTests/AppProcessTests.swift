import Foundation
import Testing
import VestaStoreInteropCrashTesting
import VestaTesting

extension OnOneServer {
  /// Two processes of an app with the set-up of the README of Packages/Postgres and nothing else.
  @Suite struct AppProcessTests {
    @Test func `what one process sends, publishes and writes reaches the other, also after a kill`() async throws {
      let space = UUID().uuidString
      let directories = [try TemporaryDirectory("peer-one"), try TemporaryDirectory("peer-two")]
      let one = try WorkerProcess("PostgresAppPeer", directories[0].path, space)
      try await one.wait(for: "ready")
      let two = try WorkerProcess("PostgresAppPeer", directories[1].path, space)
      try await two.wait(for: "ready")

      one.say("send a")
      two.say("send b")
      for peer in [one, two] { for text in ["a", "b"] { try await peer.wait(for: "message \(text)") } }
      two.say("publish x")
      for peer in [one, two] { try await peer.wait(for: "value x") }
      one.say("increment 5")
      try await two.wait(for: "document 5 there")
      two.say("increment 2")
      for peer in [one, two] { try await peer.wait(for: "document 7 there") }

      await one.killNow()
      two.say("send c")
      try await two.wait(for: "done send c")
      // The one that was killed finds everything again, in its own data directory and in the stores.
      let again = try WorkerProcess("PostgresAppPeer", directories[0].path, space)
      try await again.wait(for: "message c")
      try await again.wait(for: "document 7 there")
      again.say("increment 1")
      try await two.wait(for: "document 8 there")
      for peer in [again, two] {
        peer.endInput()
        let rest = await peer.finish()
        #expect(!rest.contains { $0.hasPrefix("failed") }, "\(rest)")
      }
    }
  }
}
