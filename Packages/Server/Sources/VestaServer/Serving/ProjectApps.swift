import Foundation
import Synchronization
import VestaBytes
import VestaConcurrency
import VestaCore
import VestaEventsInterop
import VestaServiceInterop

/// The apps of a server's projects, each made when it is first named.
final class ProjectApps: Sendable {
  private struct State {
    var apps: [String: VestaApp] = [:]
    var isClosed = false
  }

  private let settings: ServerSettings
  private let rules: ServerRules
  /// The directory of the data.
  ///
  /// Apps of one project in one directory share their engines, so what is in memory has one as well, and alone.
  private let directory: URL
  private let state = Locked(State())
  private let outgoing = Locked<OutgoingCalls?>(nil)

  /// Each app has its own name, as several servers may run in one process.
  private static let serials = Atomic<Int>(0)

  init(_ settings: ServerSettings, _ rules: ServerRules) {
    (self.settings, self.rules) = (settings, rules)
    let temporary = FileManager.default.temporaryDirectory.appending(path: "vesta-\(UUID().uuidString)")
    directory = settings.data.map { URL(filePath: $0, directoryHint: .isDirectory) } ?? temporary
  }

  /// Sets the ways to functions of other programs, before the first project is opened.
  func calls(_ outgoing: OutgoingCalls) { self.outgoing.withLock { $0 = outgoing } }

  /// Opens the projects whose functions have events, so that events of an earlier process are delivered.
  func openTriggered() {
    var names = outgoing.withLock { $0?.triggers.standing.isEmpty ?? true } ? [] : [settings.project]
    names += folders(with: "(engines)/triggers.json")
    for name in names {
      do throws(ServiceStatus) { _ = try app(name) } catch {
        log.error(
          "I-SRV000007", "The project \(name) cannot be opened, and its functions get no events: \(error.message)")
      }
    }
  }

  /// The projects that are open or have data of an earlier process, in the order of their names.
  var names: [String] {
    Set(state.withLock { $0.apps.keys }).union(folders(with: "(engines)")).sorted()
  }

  /// The projects whose folders have a file or a folder.
  private func folders(with content: String) -> [String] {
    guard settings.data != nil else { return [] }
    let folders = (try? FileManager.default.contentsOfDirectory(atPath: directory.path(percentEncoded: false))) ?? []
    return folders.sorted().compactMap { name in
      let file = directory.appending(path: name).appending(path: content)
      guard FileManager.default.fileExists(atPath: file.path(percentEncoded: false)) else { return nil }
      return try? PercentEncoding.decode(name)
    }
  }

  /// The number of projects that are open.
  var count: Int { state.withLock { $0.apps.count } }

  /// The apps of the projects that are open.
  var open: [VestaApp] { state.withLock { Array($0.apps.values) } }

  /// The app of a project.
  func app(_ project: String) throws(ServiceStatus) -> VestaApp {
    if let app = state.withLock({ $0.apps[project] }) { return app }
    guard Self.isProject(project) else {
      throw ServiceStatus(.invalidArgument, Self.refusal(of: project))
    }
    guard settings.isDevelopment || project == settings.project else {
      throw ServiceStatus(.notFound, "The project \(project) does not exist.")
    }
    // Configuring an app opens nothing, so others wait for it here.
    return try state.withLock { state throws(ServiceStatus) in try app(project, &state) }
  }

  private func app(_ project: String, _ state: inout State) throws(ServiceStatus) -> VestaApp {
    if let app = state.apps[project] { return app }
    if state.isClosed { throw ServiceStatus(.unavailable, "The server shuts down.") }
    guard state.apps.count < settings.projectLimit else {
      throw ServiceStatus(.resourceExhausted, "This server has \(settings.projectLimit) projects, and opens no more.")
    }
    do throws(VestaError) {
      let app = try make(project)
      state.apps[project] = app
      return app
    } catch {
      throw ServiceStatus(.internal, error.message)
    }
  }

  /// Closes all projects; their engines have written everything that they acknowledged.
  func close() async {
    let apps = state.withLock { state in
      state.isClosed = true
      defer { state.apps = [:] }
      return Array(state.apps.values)
    }
    for app in apps {
      _ = await app.delete()
      SettingsOfApps.forget(app.name)
    }
    if settings.data == nil { try? FileManager.default.removeItem(at: directory) }
  }

  private func make(_ project: String) throws(VestaError) -> VestaApp {
    let serial = Self.serials.add(1, ordering: .relaxed).newValue
    let name = "vesta-server-\(serial)"
    SettingsOfApps.set(settings, rules, outgoing.withLock { $0 }, for: name)
    if settings.isSingleProject, project != settings.project { warnOfOther(project) }
    do throws(VestaError) {
      let app = try VestaApp.configure(
        name: name, options: VestaOptions(projectID: project, backend: .embedded(directory: directory)),
        libraries: Composition.project(settings))
      // Before the first request: a change that is not recorded is lost to functions.
      try app.container.find((any EventTriggers).self)?.resume()
      return app
    } catch {
      SettingsOfApps.forget(name)
      throw error
    }
  }

  private func warnOfOther(_ project: String) {
    log.warning(
      "I-SRV000002",
      """
      A request names the project \(project), but this server is for \(settings.project): it has data of its own. \
      Start the server with --project \(project), or give the client the project \(settings.project); set emulators.singleProjectMode of firebase.json to false where several are meant.
      """)
  }

  /// The sentence about a text that cannot be a project.
  static func refusal(of text: String) -> String {
    "\"\(text.prefix(100))\" cannot be a project: use up to 100 letters, digits, - . : and _."
  }

  /// Whether a text can be the id of a project.
  static func isProject(_ text: String) -> Bool {
    (1...100).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        byte &- 48 < 10 || (byte | 32) &- 97 < 26 || "-.:_".utf8.contains(byte)
      }
  }
}

private let log = Logger(service: "VestaServer")
