import VestaAuthBackend
import VestaConcurrency
import VestaCore
import VestaServiceInterop
import VestaTransport
import VestaTransportInterop

/// The server as its endpoints see it.
final class ServerHost: EndpointHost {
  private struct Ending {
    var works: [@Sendable () -> Void] = []
    var hasBegun = false
  }

  let clock = ServiceClock.system
  let apps: ProjectApps
  let allRules: ServerRules
  private let settings: ServerSettings
  private let ending = Locked(Ending())

  init(_ settings: ServerSettings) {
    self.settings = settings
    let rules = ServerRules(settings)
    let apps = ProjectApps(settings, rules)
    rules.replacesRules { [weak apps] in apps?.open ?? [] }
    (self.apps, allRules) = (apps, rules)
  }

  var defaultProject: String { settings.project }

  var projects: [String] {
    [settings.project] + (settings.isDevelopment ? apps.names.filter { $0 != settings.project } : [])
  }

  var isDevelopment: Bool { settings.isDevelopment }

  var rulesOfAllProjects: (any RulesAdministration)? { allRules }

  func project(ofDatabase namespace: String) -> String? {
    settings.namedRules["database"]?[namespace] == nil ? nil : settings.project
  }

  func project(ofBucket bucket: String) -> String? {
    settings.namedRules["storage"]?[bucket] == nil ? nil : settings.project
  }

  var compression: TransportCompression? { .gzip }

  func backend<Backend: Sendable>(_ type: Backend.Type, project: String) throws(ServiceStatus) -> Backend {
    let app = try apps.app(project)
    do throws(VestaError) {
      if let backend = try app.container.find(type) { return backend }
    } catch {
      throw ServiceStatus(.internal, error.message)
    }
    throw ServiceStatus(.unimplemented, "This server does not have the product.")
  }

  /// Opens a store where stores are on another machine: otherwise each call would fail, and the start say nothing.
  ///
  /// - Throws: ``ServerError`` with the cause.
  func checkStore() async throws(ServerError) {
    guard settings.postgres != nil else { return }
    do {
      let accounts = try backend((any AuthAdminBackend).self, project: settings.project)
      _ = try await accounts.projectConfig(context: .owner)
    } catch {
      let cause = (error as? any ServiceFailure)?.status.message ?? "\(error)"
      throw ServerError("The PostgreSQL of --store cannot be used: \(cause)")
    }
  }

  func onShutDown(_ work: @escaping @Sendable () -> Void) {
    let isLate = ending.withLock { ending in
      if !ending.hasBegun { ending.works.append(work) }
      return ending.hasBegun
    }
    if isLate { work() }
  }

  /// Has long streams end.
  func beginShutDown() {
    let works = ending.withLock { ending in
      ending.hasBegun = true
      defer { ending.works = [] }
      return ending.works
    }
    for work in works { work() }
  }
}
