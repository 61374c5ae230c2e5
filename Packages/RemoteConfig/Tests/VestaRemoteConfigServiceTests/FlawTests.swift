import Dispatch
import Testing
import VestaConcurrency
import VestaRemoteConfigBackend
import VestaRemoteConfigBackendContracts
import VestaRemoteConfigService
import VestaServiceInterop
import VestaStoreInteropFakes
import VestaTesting

/// A service with one flaw, and the promise that it breaks.
enum Flaw: String, CaseIterable, Sendable {
  case neverUnchanged = "a fetch with the last ETag answers"
  case lastConditionWins = "of the conditions that hold the first one decides"
  case publishesOverAnything = "a publish over another ETag is refused"
  case publishesChecks = "a request that only checks publishes nothing"
  case anybodyReads = "only the owner reads and publishes templates"
  case emptyInAppDefaults = "an in-app default leaves the parameter out"
  case servesPersonalizations = "a personalization is kept, and no instance gets one"
  case drawsAnew = "a percentage has the same instances at every fetch"
  case namesNoPlaces = "an invalid template is refused with the place"
  case inventsATemplate = "without a template a fetch says so"
  case fetchesLate = "a fetch after a publish has the published values"
  case publishesAll = "of 8 publishes over one ETag one succeeds"
  case rollsBackToNothing = "a rollback publishes the old template"
  case listsTheOldestFirst = "versions are listed from the newest"
  case readsEverything = "an instance with oversized attributes"
  case hearsNothing = "a listener hears of a publish"
  case hearsTwice = "a listener hears of versions in ascending order"
  case callsOneAfterTheOther = "a listener that blocks"
  case blocksThreads = "many listeners that block"
  case takesAnyCredential = "a credential that cannot be verified"
  case neverStops = "a cancelled listener hears nothing more"
}

private final class FlawedService: RemoteConfigBackend, RemoteConfigAdminBackend {
  let engine = RemoteConfigEngine(projectID: "p") { ModelStore() }
  let flaw: Flaw
  private let fetches = Locked(0)
  private let queue = DispatchQueue(label: "flaw")
  private let shared = DispatchQueue(label: "flaw.shared", attributes: .concurrent)

  init(_ flaw: Flaw) { self.flaw = flaw }

  func fetch(
    _ request: FetchConfigRequest, context: CallContext
  ) async throws(RemoteConfigServiceError) -> FetchConfigResponse {
    var request = request
    if flaw == .neverUnchanged { request.etag = nil }
    if flaw == .readsEverything { request.instance.userProperties = [:] }
    if flaw == .drawsAnew {
      request.instance.installationID = fetches.withLock { count in
        count += 1
        return "\(count)"
      }
    }
    var response = try await engine.fetch(request, context: flaw == .takesAnyCredential ? CallContext() : context)
    if flaw == .emptyInAppDefaults { response.entries["a"] = "" }
    if flaw == .servesPersonalizations, response.entries == ["a": "x", "b": "x"] { response.entries["c"] = "p1" }
    if flaw == .inventsATemplate, response.state == .noTemplate { response.state = .emptyConfig }
    if flaw == .fetchesLate {
      return FetchConfigResponse(state: .update, entries: ["key": "old"], templateVersion: 1, etag: response.etag)
    }
    return response
  }

  func listenForInvalidations(
    _ request: InvalidationsRequest, context: CallContext,
    onEnd: @escaping @Sendable (RemoteConfigServiceError?) -> Void,
    _ receive: @escaping @Sendable (ConfigInvalidation) -> Void
  ) -> ListenerRegistration {
    let registration = engine.listenForInvalidations(request, context: context, onEnd: onEnd) {
      [flaw, queue, shared] message in
      switch flaw {
      case .hearsNothing: break
      case .hearsTwice:
        receive(message)
        receive(message)
      case .callsOneAfterTheOther: queue.sync { receive(message) }
      case .blocksThreads: shared.async { receive(message) }
      default: receive(message)
      }
    }
    return flaw == .neverStops ? ListenerRegistration {} : registration
  }

  func template(
    namespace: String, version: Int64?, context: CallContext
  ) async throws(RemoteConfigServiceError) -> StoredTemplate {
    try await engine.template(
      namespace: namespace, version: version, context: flaw == .anybodyReads ? .owner : context)
  }

  func publish(
    _ request: PublishRequest, context: CallContext
  ) async throws(RemoteConfigServiceError) -> StoredTemplate {
    var request = request
    switch flaw {
    case .lastConditionWins: request.template.conditions.reverse()
    case .publishesOverAnything, .publishesAll: request.precondition = .any
    case .publishesChecks: request.isValidateOnly = false
    default: break
    }
    do {
      return try await engine.publish(request, context: context)
    } catch {
      throw flaw == .namesNoPlaces ? RemoteConfigServiceError(error.code, error.message) : error
    }
  }

  func rollback(
    namespace: String, to version: Int64, user: ConfigVersion.User?, context: CallContext
  ) async throws(RemoteConfigServiceError) -> StoredTemplate {
    if flaw == .rollsBackToNothing {
      return try await engine.publish(PublishRequest(template: ConfigTemplate(), precondition: .any), context: context)
    }
    return try await engine.rollback(namespace: namespace, to: version, user: user, context: context)
  }

  func listVersions(
    _ request: ListVersionsRequest, context: CallContext
  ) async throws(RemoteConfigServiceError) -> VersionPage {
    var page = try await engine.listVersions(request, context: context)
    if flaw == .listsTheOldestFirst { page.versions.reverse() }
    return page
  }

  func difference(
    namespace: String, from old: Int64, to new: Int64?, context: CallContext
  ) async throws(RemoteConfigServiceError) -> TemplateDifference {
    try await engine.difference(namespace: namespace, from: old, to: new, context: context)
  }

  func downloadDefaults(
    namespace: String, format: DefaultsFormat, context: CallContext
  ) async throws(RemoteConfigServiceError) -> [UInt8] {
    try await engine.downloadDefaults(namespace: namespace, format: format, context: context)
  }
}

@Suite struct FlawTests {
  @Test(arguments: Flaw.allCases)
  func `the contract finds a service that breaks a promise`(flaw: Flaw) async throws {
    let contract = try #require(RemoteConfigContracts.all.first { $0.name.hasPrefix(flaw.rawValue) })
    // The message of a listener that does not stop may come after that of the one that ends the contract.
    await #expect(throws: (any Error).self) {
      for _ in 0..<20 {
        try await contract.verify(RemoteConfigSubject(FlawedService(flaw), patience: .seconds(1)))
      }
    }
  }

  @Test func `every promise has a service that breaks it`() {
    let found = Set(
      Flaw.allCases.compactMap { flaw in
        RemoteConfigContracts.all.first { $0.name.hasPrefix(flaw.rawValue) }?.name
      })
    #expect(RemoteConfigContracts.all.map(\.name).filter { !found.contains($0) } == [])
  }
}
