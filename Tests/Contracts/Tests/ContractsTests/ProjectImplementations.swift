import Foundation
import Testing
import VestaAppCheckBackend
import VestaAppCheckService
import VestaBytes
import VestaConcurrency
import VestaCore
import VestaFunctionsBackend
import VestaFunctionsService
import VestaInstallationsBackend
import VestaInstallationsService
import VestaMessagingBackend
import VestaMessagingService
import VestaSQLite
import VestaServiceInterop
import VestaServiceInteropContracts
import VestaTesting

/// The engines that keep things for many projects in one process; the engines of documents, objects, trees, accounts
/// and parameters are checked together in `Tests/FunctionsIntegration`.
@Suite(.timeLimit(.minutes(10))) struct ProjectImplementations {
  static let all: [Implementation<ProjectsSubject>] = [
    Implementation("Messaging") {
      let apps = try Apps([MessagingServiceLibrary.self, SQLiteLibrary.self])
      return subject(apps) { app, thing in
        let request = RegisterRequest(installationID: "i\(thing)", platform: "linux", appID: "a")
        _ = try await app.require((any MessagingBackend).self).register(request, context: CallContext())
      } has: { app, thing in
        let admin = try app.require((any MessagingAdminBackend).self)
        do {
          return try await !admin.token(ofInstallation: "i\(thing)", context: .owner).isEmpty
        } catch let error as MessagingServiceError where error.reason == .unregistered {
          return false
        }
      } remove: { app, thing in
        let admin = try app.require((any MessagingAdminBackend).self)
        let token = try await admin.token(ofInstallation: "i\(thing)", context: .owner)
        try await app.require((any MessagingBackend).self).unregister(token: token, context: CallContext())
      }
    },
    Implementation("Installations") {
      let apps = try Apps([InstallationsServiceLibrary.self, SQLiteLibrary.self])
      // One secret for each installation, whichever project has made it last: it must be of no use in another one.
      let secrets = Locked<[String: CreatedInstallation]>([:])
      let known: @Sendable (ComponentContainer, Int) -> CreatedInstallation? = { app, thing in
        secrets.withLock {
          $0["\(app.options.projectID ?? "") \(thing)"] ?? $0.first { $0.key.hasSuffix(" \(thing)") }?.value
        }
      }
      return subject(apps) { app, thing in
        let backend = try app.require((any InstallationsBackend).self)
        // The same id in each project.
        let id = "c" + String(repeating: "A", count: 21 - "\(thing)".count) + "\(thing)"
        let made = try await backend.create(
          CreateInstallationRequest(id: id, appID: "1:2:ios:3"), context: CallContext())
        secrets.withLock { $0["\(app.options.projectID ?? "") \(thing)"] = made }
      } has: { app, thing in
        guard let made = known(app, thing) else { return false }
        do {
          _ = try await app.require((any InstallationsBackend).self).generateToken(
            id: made.id, refreshToken: made.refreshToken, context: CallContext())
          return true
        } catch let error as InstallationsServiceError
          where [.notFound, .unauthenticated].contains(error.status.code)
        {
          return false
        }
      } remove: { app, thing in
        guard let made = known(app, thing) else { return }
        try await app.require((any InstallationsBackend).self).delete(
          id: made.id, refreshToken: made.refreshToken, context: CallContext())
      }
    },
    Implementation("App Check") {
      let apps = try Apps([AppCheckServiceLibrary.self, KeptKeysLibrary.self, SQLiteLibrary.self])
      let secret: @Sendable (Int) -> String = { thing in
        "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - "\(thing)".count) + "\(thing)"
      }
      return subject(apps) { app, thing in
        try await app.require((any AppCheckBackend).self).addDebugSecret(
          secret(thing), appID: "1:2:web:3", context: .owner)
      } has: { app, thing in
        do {
          _ = try await app.require((any AppCheckBackend).self).exchange(
            .debug(secret(thing)), appID: "1:2:web:3", context: CallContext())
          return true
        } catch let error as AppCheckServiceError where error.code == .permissionDenied {
          return false
        }
      } remove: { app, thing in
        try await app.require((any AppCheckBackend).self).removeDebugSecret(
          secret(thing), appID: "1:2:web:3", context: .owner)
      }
    },
    Implementation("Functions") {
      let apps = try Apps([FunctionsServiceLibrary.self])
      return subject(apps, isDurable: false) { app, thing in
        try app.require(FunctionRegistry.self).onCall("f\(thing)") { $0.rawData }
      } has: { app, thing in
        do {
          let call = FunctionCall(.name("f\(thing)", region: "us-central1"), data: 1)
          return try await app.require((any FunctionsBackend).self).call(call, context: CallContext()) == 1
        } catch let error as FunctionsServiceError where error.code == .notFound {
          return false
        }
      } remove: { app, thing in
        try app.require(FunctionRegistry.self).remove("f\(thing)")
      }
    },
  ]

  @Test(arguments: all)
  func `projects in one process share nothing`(_ implementation: Implementation<ProjectsSubject>) async {
    await implementation.keeps(ProjectContracts.all)
  }

  private static func subject(
    _ apps: Apps, isDurable: Bool = true,
    add: @escaping @Sendable (ComponentContainer, Int) async throws -> Void,
    has: @escaping @Sendable (ComponentContainer, Int) async throws -> Bool,
    remove: @escaping @Sendable (ComponentContainer, Int) async throws -> Void
  ) -> ProjectsSubject {
    ProjectsSubject(
      isDurable: isDurable, add: { try await add(apps.container($0), $1) },
      has: { try await has(apps.container($0), $1) },
      remove: { try await remove(apps.container($0), $1) }, close: { await apps.close($0) })
  }

  /// The apps of the projects, on one directory.
  private final class Apps: Sendable {
    private let directory: TemporaryDirectory
    private let libraries: [any Library.Type]
    private let run = UUID().uuidString
    private let open = Locked<[Int: VestaApp]>([:])

    init(_ libraries: [any Library.Type]) throws {
      directory = try TemporaryDirectory("projects")
      self.libraries = libraries
    }

    func container(_ project: Int) throws -> ComponentContainer {
      try open.withLock { open in
        if let app = open[project] { return app.container }
        let options = VestaOptions(
          projectID: "p\(project)-\(run)",
          backend: .embedded(directory: URL(filePath: directory.path, directoryHint: .isDirectory)))
        let app = try VestaApp.configure(name: UUID().uuidString, options: options, libraries: libraries)
        open[project] = app
        return app.container
      }
    }

    func close(_ project: Int) async { await open.withLock { $0.removeValue(forKey: project) }?.delete() }
  }
}
