import Testing
import VestaMemoryStore
import VestaRemoteConfigBackend
import VestaRemoteConfigBackendContracts
import VestaRemoteConfigService
import VestaTesting

@Suite struct RemoteConfigBackendImplementations {
  static let all: [Implementation<RemoteConfigSubject>] = [
    Implementation("RemoteConfigEngine") { RemoteConfigSubject(RemoteConfigEngine(projectID: "p") { MemoryStore() }) }
  ]

  @Test(arguments: all)
  func `an implementation keeps every promise`(_ implementation: Implementation<RemoteConfigSubject>) async {
    await implementation.keeps(RemoteConfigContracts.all)
  }
}
