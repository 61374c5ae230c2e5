import FirebaseCore
import FirebaseRemoteConfig
import Foundation
import Testing
import VestaRemoteConfigBackend

@Suite(.serialized) struct RemoteConfigProgramTests {
  @Test func `a program with Remote Config runs as it is`() async throws {
    try await withApp("config") { app in
      let admin = try app.container.require((any RemoteConfigAdminBackend).self)
      func publish(_ parameters: [String: ConfigParameter]) async throws {
        let template = ConfigTemplate(parameters: parameters)
        _ = try await admin.publish(PublishRequest(template: template, precondition: .any), context: .owner)
      }
      let model = WelcomeModel(remoteConfig: RemoteConfig.remoteConfig(app: app))
      #expect(model.displayed() == "Welcome")
      let outcome1 = try await model.modern()
      #expect(outcome1 == (3, .default))
      try await publish(["welcome_message": ConfigParameter(defaultValue: "Bonjour")])
      #expect(await answer { model.fetchThenActivate($0) } == "Bonjour")
      #expect(await answer { model.both($0) } == .successFetchedFromRemote)

      let (updates, continuation) = AsyncStream.makeStream(of: Set<String>.self)
      model.listen { continuation.yield($0) }
      var iterator = updates.makeAsyncIterator()
      try await publish(["attempts": ConfigParameter(defaultValue: "5")])
      #expect(await iterator.next() == ["attempts", "welcome_message"])
      let outcome2 = try await model.modern()
      #expect(outcome2 == (5, .remote))
      model.stop()
      continuation.finish()
    }
  }
}
