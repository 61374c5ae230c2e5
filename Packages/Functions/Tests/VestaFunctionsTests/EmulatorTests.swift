import Foundation
import Testing
import VestaBytes
import VestaConcurrency
import VestaCore
import VestaFunctionsBackend
import VestaFunctionsBackendFakes
import VestaServiceInterop
import VestaTesting

@testable import VestaFunctions

/// Calls go to the emulator that a program names, whatever the backend of its app is.
@Suite struct EmulatorTests {
  /// A backend whose function says where it is.
  private static func backend(_ place: String) -> any FunctionsBackend {
    let backend = ScriptedFunctionsBackend(region: "us-central1")
    backend.set("where") { _, _ in .string(place) }
    return backend
  }

  private enum PartsLibrary: Library {
    static let name = "emulator-parts"
    static let version = "1"

    static func components() -> [Component] {
      [
        Component((any FunctionsBackend).self, caching: .shared) { _ in backend("app") },
        Component(EmulatorConnection<any FunctionsBackend>.self, caching: .shared) { container in
          switch container.options.projectID {
          case "connected": return EmulatorConnection { backend($0) }
          case "refused": return EmulatorConnection { _ in throw CancellationError() }
          default: return nil
          }
        },
      ]
    }
  }

  private func functions(_ project: String) throws -> (VestaApp, Functions) {
    let directory = FileManager.default.temporaryDirectory.appending(path: "emulator-\(UUID().uuidString)")
    let app = try VestaApp.configure(
      name: "emulator-\(UUID().uuidString)",
      options: VestaOptions(projectID: project, backend: .embedded(directory: directory)),
      libraries: [FunctionsLibrary.self, PartsLibrary.self])
    return (app, try Functions.instance(for: app))
  }

  private func place(_ functions: Functions) async throws -> String? {
    try await functions.httpsCallable("where").call().data as? String
  }

  @Test func `a library that connects takes the calls to the emulator, from the next call on`() async throws {
    let (app, functions) = try functions("connected")
    #expect(try await place(functions) == "app" && functions.emulatorOrigin == nil)
    functions.useEmulator(withHost: "localhost", port: 5001)
    #expect(try await place(functions) == "http://localhost:5001")
    #expect(functions.emulatorOrigin == "http://localhost:5001")
    functions.useEmulator(withHost: "https://dev.example", port: 443)
    #expect(try await place(functions) == "https://dev.example:443")
    let other = try Functions.instance(for: app, region: "us-central1", customDomain: "https://api.example.com")
    other.useEmulator(withHost: "::1", port: 1)
    #expect(try await place(other) == "http://[::1]:1")
    _ = await app.delete()
  }

  @Test func `without such a library the URLs alone are the emulator's`() async throws {
    let (app, functions) = try functions("alone")
    functions.useEmulator(withHost: "localhost", port: 5001)
    #expect(try await place(functions) == "app" && functions.emulatorOrigin == "http://localhost:5001")
    _ = await app.delete()
  }

  private struct Sink: LogSink {
    let warnings = Log<String>()

    func write(_ entry: LogEntry) { if entry.code == "I-FUN000002" { warnings.add(entry.message) } }
  }

  @Test func `without such a library a warning says where the calls go`() async throws {
    let sink = Sink()
    VestaConfiguration.shared.setLogSink(sink)
    defer { VestaConfiguration.shared.setLogSink(StandardErrorSink()) }
    for (project, host) in [("connected", "reached.example"), ("alone", "missed.example")] {
      let (app, functions) = try functions(project)
      functions.useEmulator(withHost: host, port: 5001)
      _ = await app.delete()
    }
    #expect(!sink.warnings.entries.contains { $0.contains("reached.example") })
    #expect(sink.warnings.entries.count { $0.contains("missed.example") } == 1)
  }

  #if os(Linux) || os(macOS) || os(Windows)
    @Test func `an emulator that cannot be used stops the process, instead of calls of the app's backend`() async {
      await #expect(processExitsWith: .failure) {
        let (_, functions) = try EmulatorTests().functions("refused")
        functions.useEmulator(withHost: "localhost", port: 5001)
      }
    }
  #endif
}
