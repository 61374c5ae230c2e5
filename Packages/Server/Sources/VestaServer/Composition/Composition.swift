import VestaAppCheckEndpoints
import VestaAppCheckService
import VestaAuthEndpoints
import VestaAuthService
import VestaCore
import VestaCrypto
import VestaDatabaseEndpoints
import VestaDatabaseService
import VestaEventsInterop
import VestaFirestoreEndpoints
import VestaFirestoreService
import VestaFunctionsEndpoints
import VestaFunctionsService
import VestaInstallationsEndpoints
import VestaInstallationsService
import VestaMemoryStore
import VestaMessagingEndpoints
import VestaMessagingPush
import VestaMessagingService
import VestaPostgres
import VestaRemoteConfigEndpoints
import VestaRemoteConfigService
import VestaRulesGuards
import VestaSQLite
import VestaServiceInterop
import VestaStorageEndpoints
import VestaStorageService
import VestaTransport
import VestaTransportInterop

extension TriggerSender: TriggerSwitch {}

/// The libraries of the server: the one place that names products.
///
/// To serve a product add two lines: the library of its engine to ``engines``, and that of its routes to ``routes``.
enum Composition {
  /// The engines of each project.
  private static let engines: [any Library.Type] = [
    AppCheckServiceLibrary.self,
    AuthServiceLibrary.self,
    DatabaseServiceLibrary.self,
    FirestoreServiceLibrary.self,
    FunctionsServiceLibrary.self,
    InstallationsServiceLibrary.self,
    MessagingPushLibrary.self,
    MessagingServiceLibrary.self,
    RemoteConfigServiceLibrary.self,
    StorageServiceLibrary.self,
    CryptoLibrary.self,
    RulesLibrary.self,
  ]

  /// The endpoints of the server.
  private static let routes: [any Library.Type] = [
    AppCheckEndpointsLibrary.self,
    AuthEndpointsLibrary.self,
    DatabaseEndpointsLibrary.self,
    FirestoreEndpointsLibrary.self,
    RemoteConfigEndpointsLibrary.self,
    StorageEndpointsLibrary.self,
    InstallationsEndpointsLibrary.self,
    MessagingEndpointsLibrary.self,
    FunctionsEndpointsLibrary.self,
    TransportLibrary.self,
  ]

  /// The libraries of a project's app.
  static func project(_ settings: ServerSettings) -> [any Library.Type] {
    let store: any Library.Type =
      if settings.postgres != nil {
        PostgresLibrary.self
      } else if settings.data != nil {
        SQLiteLibrary.self
      } else {
        MemoryStoreLibrary.self
      }
    return engines + [store, ServerLibrary.self]
  }

  /// The providers of routes, in the order of their libraries.
  static func providers(_ app: VestaApp) -> [any EndpointProvider] {
    app.container.resolveAll((any EndpointProvider).self)
  }

  /// The parts of an export.
  static func exportParts(_ app: VestaApp) -> [any ExportPart] { app.container.resolveAll((any ExportPart).self) }

  /// The ways to functions of other programs and to push services, over the transport of the app that has the routes.
  ///
  /// Without that app, as in a command that only opens projects, no function is reached: events wait for the next
  /// server.
  static func outgoing(_ settings: ServerSettings, _ app: VestaApp?, _ clock: ServiceClock) -> OutgoingCalls {
    let address = settings.functionsEmulator.flatMap(url(ofEmulator:))
    let client: @Sendable () throws -> (any HTTPClient)? = { [weak app] in
      try app?.container.find((any HTTPClient).self)
    }
    return OutgoingCalls(
      triggers: TriggerSender(
        address: address, keepsTriggers: settings.data != nil,
        forms: { [weak app] in app?.container.resolveAll((any EventTriggerForm).self) ?? [] }, client: client),
      blocking: HTTPBlockingFunctions(clock: clock, client: client),
      providerKeys: HTTPProviderKeys(clock: clock, client: client), client: client)
  }

  /// The URL of an address of a functions emulator, such as `127.0.0.1:5002`; `nil` for a host without a port.
  static func url(ofEmulator address: String) -> HTTPURL? {
    if address.contains("://") { return HTTPURL(address).flatMap { $0.scheme.hasPrefix("http") ? $0 : nil } }
    return HTTPURL.split(authority: address)?.port == nil ? nil : HTTPURL("http://\(address)")
  }

  /// The libraries of the app that has the routes.
  static var server: [any Library.Type] { routes }
}
