import VestaAppCheckInterop
import VestaAuthInterop
public import VestaCore
import VestaFunctionsBackend
import VestaMessagingInterop
import VestaServiceInterop

/// The library that registers Functions.
///
/// It needs a `FunctionsBackend`, and uses Auth, App Check and Messaging where they are there.
///
/// ```swift
/// try VestaApp.configure(options: options, libraries: [FunctionsLibrary.self, FunctionsServiceLibrary.self])
/// ```
public enum FunctionsLibrary: Library {
  /// The name of the library.
  public static let name = "vesta-functions"

  /// The version of the library.
  public static let version = VestaVersion()

  /// The instances of `Functions`, one for each region and custom domain.
  public static func components() -> [Component] {
    [
      Component(
        FunctionsInstances.self,
        dependencies: [
          .required((any FunctionsBackend).self, providedBy: backendLibraries),
          .optional((any AuthInterop).self),
          .optional((any AppCheckInterop).self),
          .optional((any MessagingInterop).self),
          .optional(EmulatorConnection<any FunctionsBackend>.self),
        ]
      ) { container, isCacheable in
        isCacheable = true
        return FunctionsInstances(try caller(container))
      }
    ]
  }

  private static let backendLibraries = """
    FunctionsServiceLibrary of VestaFunctionsService (the embedded engine; Packages/Functions) or \
    FunctionsRemoteLibrary of VestaFunctionsRemote (a server, emulators or Firebase; Packages/Functions) \
    with TransportLibrary of VestaTransport (Packages/Transport)
    """

  private static func caller(_ container: ComponentContainer) throws -> FunctionsCaller {
    FunctionsCaller(
      backend: try container.require((any FunctionsBackend).self),
      auth: try container.find((any AuthInterop).self),
      appCheck: try container.find((any AppCheckInterop).self),
      messaging: try container.find((any MessagingInterop).self),
      emulators: try container.find(EmulatorConnection<any FunctionsBackend>.self)
    )
  }
}

/// The instances of an app, which end with it.
final class FunctionsInstances: ComponentLifecycleMaintainer {
  struct Key: Hashable, Sendable {
    let region: String
    let customDomain: String?
  }

  private let caller: FunctionsCaller
  private let table = InstanceTable<Key, Functions>()

  init(_ caller: FunctionsCaller) { self.caller = caller }

  func functions(of app: VestaApp, _ key: Key) throws(VestaError) -> Functions {
    do {
      return try table.instance(for: key) {
        Functions(app: app, region: key.region, customDomain: key.customDomain, caller: caller)
      }
    } catch let error as VestaError {
      throw error
    } catch {
      throw VestaError(.creationFailed, "The Functions for \(key.region) could not be made.", underlying: error)
    }
  }

  func appWillBeDeleted(_ app: VestaApp) async { _ = await table.removeAll() }
}
