import Foundation
import VestaBytes
import VestaConcurrency
import VestaCore
import VestaTransport
import VestaTransportInterop

/// A server that speaks Firebase's protocols: each product at its own port, and all at one.
///
/// ```swift
/// let server = try await VestaServer.start(ServerSettings(project: "demo", data: "/var/lib/vesta"))
/// print(server.table)
/// await server.stop()
/// ```
public final class VestaServer: Sendable {
  /// A port that is open.
  public struct Port: Sendable, Hashable {
    /// The product, "hub", or "all".
    public let name: String
    /// The hosts at which it is open.
    public let hosts: [String]
    /// The number.
    public let number: Int
  }

  /// The ports, in the order in which they were opened.
  public let ports: [Port]

  /// The requested settings.
  public let settings: ServerSettings

  private let host: ServerHost
  private let transport: VestaTransportServer
  private let listeners: [any HTTPListener]
  private let routes: VestaApp
  private let exports: ExportDirectory
  private let locator: HubLocator?
  private let lock: DataLock?
  private let watch: RulesWatch?

  private init(
    _ settings: ServerSettings, _ host: ServerHost, _ transport: VestaTransportServer, _ routes: VestaApp,
    _ opened: Opened, _ exports: ExportDirectory, _ locator: HubLocator?, _ lock: DataLock?
  ) {
    self.settings = settings
    self.host = host
    self.transport = transport
    self.routes = routes
    (listeners, ports) = (opened.listeners, opened.ports)
    (self.exports, self.locator, self.lock) = (exports, locator, lock)
    watch = settings.rulesInterval.map { RulesWatch(host.allRules, every: $0, clock: host.clock) }
    if !settings.rules.isEmpty || !settings.namedRules.isEmpty { watch?.start() }
  }

  /// The number of a product's port; `nil` where it has none.
  public func port(of name: String) -> Int? { ports.first { $0.name == name }?.number }

  /// Imports an export where one is named, and then opens all ports: whoever finds a port open finds all of the data.
  ///
  /// A port that something else has is refused before the import, which may be long.
  ///
  /// - Parameters:
  ///   - settings: The settings.
  ///   - path: The directory of an export that is imported first, as ``importData(from:)`` does; `nil` for none.
  /// - Throws: ``ServerError``; nothing is open then.
  public static func start(_ settings: ServerSettings, importing path: String? = nil) async throws -> VestaServer {
    var settings = settings
    guard ProjectApps.isProject(settings.project) else { throw ServerError(ProjectApps.refusal(of: settings.project)) }
    if let data = settings.data { settings.data = try directory(data) }
    let lock = try DataLock.take(settings)
    let host = ServerHost(settings)
    try host.allRules.readFiles()
    let security = try security(settings)
    let routes = try VestaApp.configure(
      name: "vesta-routes-\(UUID().uuidString)", options: VestaOptions(projectID: settings.project),
      libraries: Composition.server)
    let outgoing = Composition.outgoing(settings, routes, host.clock)
    host.apps.calls(outgoing)
    let exports = ExportDirectory(
      parts: Composition.exportParts(routes), project: settings.project, host: host, gate: ImportGate())
    var tuning = TransportTuning()
    tuning.certificateInterval = settings.certificateInterval
    let transport = try VestaTransportServer(tuning: tuning)
    var opened = Opened(isVerbose: settings.isVerbose, clock: host.clock, security: security)
    do {
      let providers = try Self.providers(settings, routes)
      let named = providers.map(\.product).filter { settings.port(of: $0) != nil }
      try Opened.check(named + [ServerSettings.shared, ServerSettings.hub], settings)
      try await host.checkStore()
      await DeclaredIndexFiles(settings).declare(in: host)
      if let path { try await exports.read(from: path) }
      let products = providers.map { ($0, $0.handler(in: host)) }
      for (provider, handler) in products {
        if let port = settings.port(of: provider.product) {
          try await opened.open(provider.product, port, settings.hosts(of: provider.product), transport, handler)
        }
      }
      try await opened.open(
        ServerSettings.shared, settings.port(of: ServerSettings.shared) ?? 0, settings.hosts(of: ServerSettings.shared),
        transport, SharedHandler(products: products))
      let hub = Relay()
      try await opened.open(
        ServerSettings.hub, settings.port(of: ServerSettings.hub) ?? 0, settings.hosts(of: ServerSettings.hub),
        transport, hub, isEncrypted: settings.hubScheme == "https")
      let page = opened.ports.first { $0.name == "auth" } ?? opened.ports.first { $0.name == ServerSettings.shared }
      if let page { outgoing.links.lead(to: page.hosts, port: page.number, scheme: settings.scheme) }
      let secret = settings.isDevelopment ? nil : SystemRandom.alphanumeric(43)
      let handler = HubHandler(opened.ports, exports, outgoing.triggers, scheme: settings.hubScheme, secret: secret)
      // Pages find the other ports by it: test suites in browsers ask the hub first.
      hub.set(CrossOriginHandler(rules: HubHandler.pageRules, handler))
      host.apps.openTriggered()
      let locator = await HubLocator.write(handler.locator, secret: secret, project: settings.project)
      return VestaServer(settings, host, transport, routes, opened, exports, locator, lock)
    } catch {
      for listener in opened.listeners { await listener.shutDown(within: .zero) }
      await transport.stop()
      await host.apps.close()
      _ = await routes.delete()
      lock?.release()
      throw error
    }
  }

  /// Exports the project of the settings in the layout of the Firebase CLI's suite.
  ///
  /// - Parameters:
  ///   - path: The directory, which is absent, empty, or an export that is replaced.
  ///   - products: The products to export; `nil` for all.
  /// - Throws: ``ServerError``; an earlier file at the path is unchanged.
  public func exportData(to path: String, products: Set<String>? = nil) async throws(ServerError) {
    try await exports.write(to: path, products: products)
  }

  /// Imports an export of the suite, of Vesta, or of Firestore in production into the project of the settings.
  ///
  /// - Throws: ``ServerError`` with the file that is wrong; the data before the mistake is in the project.
  public func importData(from path: String) async throws(ServerError) { try await exports.read(from: path) }

  /// Ends streams with `UNAVAILABLE`, lets running exchanges end, and closes all projects.
  public func stop() async {
    await locator?.remove()
    watch?.end()
    host.beginShutDown()
    let grace = settings.grace
    await withTaskGroup(of: Void.self) { group in
      for listener in listeners { group.addTask { await listener.shutDown(within: grace) } }
    }
    await transport.stop()
    await host.apps.close()
    _ = await routes.delete()
    // Last: the next server of the directory finds every store closed.
    lock?.release()
  }

  /// The endpoints of the products that the settings name.
  private static func providers(
    _ settings: ServerSettings, _ routes: VestaApp
  ) throws(ServerError) -> [any EndpointProvider] {
    let providers = Composition.providers(routes)
    if let unknown = settings.products?.subtracting(providers.map(\.product)).sorted().first {
      throw ServerError("--only names \(unknown), which is no product of this server.")
    }
    return providers.filter { settings.products?.contains($0.product) ?? true }
  }

  private static func security(_ settings: ServerSettings) throws(ServerError) -> TLSServerSettings? {
    guard let files = settings.certificate else { return nil }
    do {
      return TLSServerSettings(try TLSCertificates([.files(chain: files.chain, key: files.key)]))
    } catch {
      throw ServerError("The certificate cannot be used: \((error as? TransportError)?.message ?? "\(error)")")
    }
  }

  private static func directory(_ path: String) throws(ServerError) -> String {
    let path = URL(filePath: path).path(percentEncoded: false)
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      return path
    } catch {
      throw ServerError("The directory \(path) cannot be made. Name another one with --data, or use --memory.")
    }
  }
}
