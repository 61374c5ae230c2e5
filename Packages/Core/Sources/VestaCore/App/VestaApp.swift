import Dispatch
import VestaConcurrency

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// One app: options, and the components that work with them.
///
/// Most programs have one, the default app. A program names the libraries it uses when it configures the app; products
/// are then reached through their own entry points, such as `Auth.auth()`.
///
/// ```swift
/// try VestaApp.configure(libraries: [AuthLibrary.self, SQLiteLibrary.self])
/// …
/// await VestaApp.app()?.delete()
/// ```
///
/// All members may be used from any thread.
public final class VestaApp: Sendable {
  /// The name of the default app, which is upstream's.
  public static let defaultName = AppName.defaultApp

  /// The name under which the app was configured; `defaultName` for the default app.
  public let name: String

  /// The directory for what this app, and no other app of its project, keeps on this machine: its session, its caches.
  ///
  /// It is made by the first that writes to it. Files that an earlier version kept elsewhere are moved when this is
  /// first asked for.
  public var dataDirectory: URL { folder.url }

  /// The path of ``dataDirectory``, without a slash at the end.
  public var dataPath: String { DataLayout.path(of: dataDirectory) }

  /// Waits until an app of this name that is still being deleted has let go of its files.
  ///
  /// For clients that open a store in their app's directory: the name of a deleted app is free at once.
  ///
  /// - Returns: ``dataPath``.
  public func dataPathWhenFree() async -> String {
    if Self.appsBeingTornDown.isEmpty { for latch in predecessors { await latch.wait() } }
    return dataPath
  }

  /// The user-agent string of this app: the names and versions of Vesta's parts in it.
  public let userAgent: String

  /// The days on which this app was used, for servers that count them.
  public let heartbeat: Heartbeat

  let frozenOptions: VestaOptions
  let project: Project
  private let folder: AppFolder
  private let settings: AppSettings
  /// The ends of the apps of this name that were being deleted when this one was configured.
  private let predecessors: [Latch]
  private let state: Locked<State>

  private struct State {
    var container: ComponentContainer
    var deletion = Deletion.notBegun
  }

  /// The progress of the deletion of an app.
  enum Deletion {
    case notBegun, underWay, done
  }

  let deleted = Latch()

  private init(
    name: String, options: VestaOptions, libraries: [any Library.Type], graph: ComponentGraph,
    after predecessors: [Latch]
  ) {
    self.name = name
    frozenOptions = options
    self.predecessors = predecessors
    let layout = DataLayout(options: options, appName: name, environment: ProcessInfo.processInfo.environment)
    let folder = AppFolder(layout)
    self.folder = folder
    project = ProjectRegistry.shared.join(layout)
    settings = AppSettings(directory: folder.url)
    userAgent = UserAgent.string(libraries: libraries, others: AppRegistry.shared.namedVersions)
    heartbeat = Heartbeat(userAgent: userAgent, file: folder.url.appending(path: "heartbeats.json"))
    let container = ComponentContainer(graph: graph, appName: name, options: options)
    state = Locked(State(container: container))
    container.attach(self)
    project.add(self)
  }

  // MARK: Apps by name

  /// The default app; `nil` until it is configured, and the log then says what to do.
  public static func app() -> VestaApp? {
    if let app = AppRegistry.shared.app(named: defaultName) { return app }
    log.error(
      "I-COR000003",
      "The default app has not been configured yet. Call VestaApp.configure(libraries:) when your program starts.")
    return nil
  }

  /// Whether the default app is configured; the log stays silent.
  public static var isDefaultAppConfigured: Bool { AppRegistry.shared.app(named: defaultName) != nil }

  /// An app by its name; `nil` when there is none, and the log then says what to do.
  ///
  /// - Parameter name: The name under which it was configured.
  public static func app(name: String) -> VestaApp? {
    if let app = AppRegistry.shared.app(named: name) { return app }
    log.error("I-COR000007", "No app with the name \"\(name)\" is configured. Call VestaApp.configure(name:options:).")
    return nil
  }

  /// All apps by name; `nil` when there are none.
  public static var allApps: [String: VestaApp]? {
    let apps = AppRegistry.shared.apps
    return apps.isEmpty ? nil : apps
  }

  // MARK: Configuring

  /// Adds a library to the ones that `configure` uses when it is given no list; adding it again changes nothing.
  ///
  /// - Parameter library: The library.
  public static func register(_ library: any Library.Type) { AppRegistry.shared.register(library) }

  /// Adds a name and a version to the user agents of the apps that are configured from now on.
  ///
  /// - Parameters:
  ///   - name: Such as "my-framework".
  ///   - version: A semantic version.
  public static func registerLibrary(_ name: String, withVersion version: String) {
    AppRegistry.shared.register(name: name, version: version)
  }

  /// Deletes all apps, for tests.
  @_spi(VestaTesting)
  public static func resetApps(where isMeant: (VestaApp) -> Bool = { _ in true }) async {
    for app in AppRegistry.shared.apps.values where isMeant(app) { await app.delete() }
  }

  /// Configures the default app with the options of a file and of the environment, see `VestaOptions.defaultOptions()`.
  ///
  /// - Parameter libraries: The libraries of the app; `nil` for the ones registered with `register(_:)`.
  /// - Returns: The app.
  /// - Throws: `VestaError` with a sentence that says what to do. No app has been configured then.
  @discardableResult
  public static func configure(libraries: [any Library.Type]? = nil) throws(VestaError) -> VestaApp {
    try configure(name: defaultName, options: VestaOptions.found(), libraries: libraries)
  }

  /// Configures the default app.
  ///
  /// - Parameters:
  ///   - options: The options; the app takes a copy.
  ///   - libraries: The libraries of the app; `nil` for the ones registered with `register(_:)`.
  /// - Returns: The app.
  /// - Throws: `VestaError` with a sentence that says what to do. No app has been configured then.
  @discardableResult
  public static func configure(
    options: VestaOptions, libraries: [any Library.Type]? = nil
  ) throws(VestaError) -> VestaApp {
    try configure(name: defaultName, options: options, libraries: libraries)
  }

  /// Configures an app.
  ///
  /// All components are checked as a whole, then the eager ones are created. Nothing else is created,
  /// and no file is opened.
  ///
  /// - Parameters:
  ///   - name: The name of the app: letters, digits, `-` and `_`.
  ///   - options: The options; the app takes a copy.
  ///   - libraries: The libraries of the app; `nil` for the ones registered with `register(_:)`.
  /// - Returns: The app.
  /// - Throws: `VestaError` with a sentence that says what to do. No app has been configured then.
  @discardableResult
  public static func configure(
    name: String, options: VestaOptions, libraries: [any Library.Type]? = nil
  ) throws(VestaError) -> VestaApp {
    try check(name)
    let libraries = libraries ?? AppRegistry.shared.libraries
    let options = options.copy()
    try options.backend.check()
    let graph = try ComponentGraph(libraries: libraries, backend: options.backend)
    let predecessors = try AppRegistry.shared.reserve(name)
    let app = VestaApp(
      name: name, options: options, libraries: libraries, graph: graph, after: predecessors)
    // Before the eager components, which may look for their app.
    AppRegistry.shared.put(app)
    do {
      try app.container.createEager(isDefaultApp: name == defaultName)
    } catch {
      app.discard()
      throw error
    }
    log.debug("I-COR000006", "The app \"\(name)\" is configured: \(app.userAgent)")
    return app
  }

  private static func check(_ name: String) throws(VestaError) {
    guard name != defaultName else { return }
    guard !name.isEmpty else {
      throw VestaError(.invalidAppName, "The name of an app is empty. Give it a name, or none for the default app.")
    }
    let allowed = name.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
        true
      default: false
      }
    }
    guard allowed, name.utf8.count <= 100 else {
      throw VestaError(
        .invalidAppName, "\"\(name)\" cannot be the name of an app. Use up to 100 letters, digits, \"-\" and \"_\".")
    }
  }

  // MARK: Using

  /// The components of this app.
  ///
  /// After `delete()` it provides nothing.
  public var container: ComponentContainer { state.withLock { $0.container } }

  /// A copy of the options that the app was configured with.
  public var options: VestaOptions { frozenOptions.copy() }

  /// Whether this is the default app.
  public var isDefaultApp: Bool { name == Self.defaultName }

  /// Whether products may collect data where the user has not said otherwise; `true` unless it was set.
  ///
  /// The value outlives the process. Where it cannot be saved it holds until the process ends, and the log says so.
  public var isDataCollectionDefaultEnabled: Bool {
    get { settings.isDataCollectionDefaultEnabled }
    set { settings.isDataCollectionDefaultEnabled = newValue }
  }

  // MARK: Deleting

  /// Deletes the app: takes its instances down, the one created last first.
  ///
  /// The app is deleted when this is called: its name is free, and an app of that name may be configured at once. When
  /// this has returned, listeners have ended, streams have finished and files are closed; the engines of its project
  /// are closed too, unless another app of this process uses that project. Data on disk stays, but for
  /// ``isDataCollectionDefaultEnabled``, which returns to its default, as upstream's does. ``didDeleteNotification`` is
  /// posted at the end.
  ///
  /// Within `appWillBeDeleted` this returns at once for an app that waits for the one being taken down, and so for that
  /// app itself. A task that `appWillBeDeleted` detaches and waits for must not delete its app: it would wait for
  /// itself, and the log says so.
  ///
  /// - Returns: `true` when this call or one at the same time has deleted the app; `false` when it was deleted before.
  @discardableResult
  public func delete() async -> Bool { await finishDeletion(beginDeletion()) }

  /// Takes the app out of the list of apps.
  ///
  /// - Returns: The state of before, for ``finishDeletion(_:)``.
  func beginDeletion() -> Deletion {
    let before = state.withLock { state -> Deletion in
      defer { if case .notBegun = state.deletion { state.deletion = .underWay } }
      return state.deletion
    }
    guard case .notBegun = before else { return before }
    AppRegistry.shared.beginRemoval(of: self)
    settings.clear()
    return before
  }

  func finishDeletion(_ before: Deletion) async -> Bool {
    switch before {
    case .done: return false
    case .underWay: await DeletionWaits.wait(for: self, within: Self.appsBeingTornDown)
    case .notBegun:
      let apps = Self.appsBeingTornDown
      DeletionWaits.begin(self, within: apps)
      await Self.$appsBeingTornDown.withValue(apps + [ObjectIdentifier(self)]) { await takeDown() }
      DeletionWaits.end(self, within: apps)
    }
    return true
  }

  /// The apps whose instances the current task is taking down, the outermost first.
  @TaskLocal static var appsBeingTornDown: [ObjectIdentifier] = []

  private func takeDown() async {
    let container = container
    await container.tearDown(self)
    project.remove(self)
    await ProjectRegistry.shared.leave(project)
    // The instances may hold the app, and the container holds the instances: letting go of it here breaks the cycle.
    state.withLock { state in
      state.deletion = .done
      state.container = .empty(appName: name, options: frozenOptions)
    }
    AppRegistry.shared.endRemoval(of: self)
    postDeletion(of: name)
    deleted.open()
  }

  /// Takes an app down that could not be configured.
  ///
  /// Its name is free at once; what an instance that has been created
  /// already has to end continues in the background.
  private func discard() {
    let before = beginDeletion()
    Task { await finishDeletion(before) }
  }
}

private let log = Logger(service: "VestaCore")
