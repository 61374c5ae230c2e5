import Foundation
import Testing

@testable import VestaCore

private protocol Service: Sendable { var place: String { get } }
private struct Place: Service { let place: String }

private enum EngineLibrary: TestLibrary {
  static let backends = Set<VestaOptions.Backend.Kind>.embedded
  static func components() -> [Component] {
    [Component((any Service).self, caching: .shared) { _ in Place(place: "engine") }]
  }
}

private enum RemoteLibrary: TestLibrary {
  static let backends = Set<VestaOptions.Backend.Kind>.remote
  static func components() -> [Component] {
    [
      Component((any Service).self, caching: .shared) {
        Place(place: try $0.options.backend.origin(of: "sample", firebase: "https://sample.example"))
      }
    ]
  }
}

private final class Client: Sendable {}

private enum ClientLibrary: TestLibrary {
  static func components() -> [Component] {
    [
      Component(
        Client.self, dependencies: [.required((any Service).self, providedBy: "the engine or the remote backend")]
      ) { _, _ in Client() }
    ]
  }
}

/// One list of libraries for all backends, and the option that chooses.
@Suite struct BackendTests {
  private func app(_ backend: VestaOptions.Backend, _ libraries: [any Library.Type]) throws -> VestaApp {
    try VestaApp.configure(
      name: uniqueName(), options: VestaOptions(projectID: "p", backend: backend), libraries: libraries)
  }

  @Test(arguments: [
    (VestaOptions.Backend.embedded(), "engine"),
    (.server(URL(string: "https://Vesta.example:443/")!), "https://vesta.example"),
    (.server(URL(string: "http://[::1]:8080")!), "http://[::1]:8080"),
    (.emulators(["sample": "localhost:1", "other": "localhost:2"]), "http://localhost:1"),
    (.emulator(host: "::1", port: 9), "http://[::1]:9"), (.firebase, "https://sample.example"),
  ])
  func `of an engine and a remote backend in one list the backend chooses one`(
    backend: VestaOptions.Backend, place: String
  ) async throws {
    let app = try app(backend, [ClientLibrary.self, RemoteLibrary.self, EngineLibrary.self])
    #expect(try app.container.require((any Service).self).place == place)
    await app.delete()
  }

  @Test func `what is chosen and not in the list is named while configuring`() throws {
    let remote = try #require(throws: VestaError.self) { try app(.firebase, [ClientLibrary.self, EngineLibrary.self]) }
    #expect(remote.code == .missingDependency)
    #expect(
      remote.message.contains("with the backend \"firebase\": there is only EngineLibrary, which is for embedded"))
    #expect(remote.message.contains("the engine or the remote backend"))
    let engine = try #require(throws: VestaError.self) {
      try app(.embedded(), [ClientLibrary.self, RemoteLibrary.self])
    }
    #expect(engine.message.contains("RemoteLibrary, which is for emulators, firebase, server"))
  }

  @Test func `two libraries for the same backend are a conflict`() throws {
    enum Other: TestLibrary {
      static let backends: Set<VestaOptions.Backend.Kind> = [.embedded, .firebase]
      static func components() -> [Component] { [Component((any Service).self, caching: .shared) { _ in nil }] }
    }
    let error = try #require(throws: VestaError.self) { try app(.embedded(), [EngineLibrary.self, Other.self]) }
    #expect(error.code == .duplicateProvider)
  }

  @Test(arguments: ["ftp://a", "https://", "https://a/path", "https://user@a", "https://a?b", "a"])
  func `an address that is none of a server is refused while configuring`(text: String) throws {
    let url = try #require(URL(string: text))
    let error = try #require(throws: VestaError.self) { try app(.server(url), []) }
    #expect(error.code == .invalidOption && error.message.contains(text))
  }

  @Test func `a product without an address among the emulators is named`() throws {
    let backend = VestaOptions.Backend.emulators(["auth": "localhost:9099"])
    let error = try #require(throws: VestaError.self) { try backend.origin(of: "sample", firebase: "") }
    #expect(error.message.contains("\"sample\"") && error.message.contains("emulators:auth=localhost:9099"))
  }

  @Test(arguments: [
    "embedded", "firebase", "https://vesta.example", "http://localhost:8080", "emulator:localhost:8080",
    "emulators:auth=localhost:9099,firestore=[::1]:8080", "emulators:*=localhost:1,auth=localhost:2",
  ])
  func `a backend is read as it is written`(text: String) throws {
    let options = try VestaOptions.fromEnvironment(["VESTA_BACKEND": text])
    #expect(options.backend.description == text)
  }

  @Test(arguments: ["emulators", "emulators:", "emulators:auth", "emulators:=a:1", "emulators:auth=a", "https://a/b"])
  func `what is no backend is refused`(text: String) {
    #expect(throws: VestaError.self) { try VestaOptions.fromEnvironment(["VESTA_BACKEND": text]) }
  }

  @Test func `the variables of Firebase's command line are addresses`() throws {
    let options = try VestaOptions.fromEnvironment([
      "VESTA_BACKEND": "emulators", "FIREBASE_AUTH_EMULATOR_HOST": "127.0.0.1:9099", "FIRESTORE_EMULATOR_HOST": "x",
    ])
    #expect(options.backend == .emulators(["auth": "127.0.0.1:9099"]))
  }

  @Test func `each backend has a separate folder, within the project's`() throws {
    func folder(_ backend: VestaOptions.Backend, _ environment: [String: String] = ["XDG_DATA_HOME": "/d"]) -> String {
      DataLayout(
        options: VestaOptions(projectID: "p", backend: backend), appName: "x", environment: environment
      ).appDirectory.path
    }
    let server = VestaOptions.Backend.server(URL(string: "https://a.example")!)
    #expect(folder(.embedded()) == "/d/vesta/p/x")
    #expect(folder(server) == "/d/vesta/p/(https%3A%2F%2Fa.example)/x")
    #expect(folder(server) == folder(.server(URL(string: "https://A.example:443/")!)))
    #expect(folder(.firebase) == "/d/vesta/p/(firebase)/x")
    #expect(folder(.firebase, ["XDG_DATA_HOME": "/d", "VESTA_DIRECTORY": "/named"]) == "/named/p/(firebase)/x")
    let long = { (end: String) in
      VestaOptions.Backend.server(URL(string: "https://" + String(repeating: "a", count: 300) + end)!)
    }
    #expect(folder(long("b")) != folder(long("c")))
    #expect(folder(long("b")).split(separator: "/").allSatisfy { $0.utf8.count < 200 })
  }
}
