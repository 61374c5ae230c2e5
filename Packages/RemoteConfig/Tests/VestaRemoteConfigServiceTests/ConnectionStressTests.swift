import Testing
import VestaConcurrency
import VestaRemoteConfigBackend
import VestaServiceInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaRemoteConfigService

@Suite struct ConnectionStressTests {
  @Test func `publishes, fetches and connections from many tasks at once keep every promise`() async throws {
    let engine = RemoteConfigEngine(projectID: "p") { ModelStore() }
    let template = ConfigTemplate(parameters: ["key": ConfigParameter(defaultValue: "a")])
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          for _ in 0..<25 {
            _ = try? await engine.publish(PublishRequest(template: template, precondition: .any), context: .owner)
          }
        }
        group.addTask {
          for _ in 0..<100 {
            let request = FetchConfigRequest(namespace: "firebase", instance: ConfigInstance())
            _ = try? await engine.fetch(request, context: CallContext())
          }
        }
        group.addTask {
          for _ in 0..<50 {
            let last = Locked<Int64>(0)
            let request = InvalidationsRequest(namespace: "firebase", lastKnownVersion: 0)
            let registration = engine.listenForInvalidations(request, context: CallContext(), onEnd: { _ in }) {
              message in
              let isAscending = last.withLock { last in
                defer { last = message.latestVersion }
                return message.latestVersion > last
              }
              #expect(isAscending)
            }
            await Task.yield()
            registration.cancel()
          }
        }
      }
    }
    #expect(engine.hub.namespaces.isEmpty)
    #expect(try await engine.listVersions(ListVersionsRequest(), context: .owner).versions.first?.versionNumber == 100)
    try await engine.close()
  }
}
