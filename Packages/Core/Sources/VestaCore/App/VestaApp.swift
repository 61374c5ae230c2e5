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
  /// The name of the default app.
  public static let defaultName = "[DEFAULT]"

  /// The name under which the app was configured; `defaultName` for the default app.
  public let name: String

  /// The directory for what this app keeps on this machine.
  ///
  /// It is made by whoever first writes to it.
  public let dataDirectory: URL

  /// The path of ``dataDirectory``, without a slash at the end.
  public let dataPath: String

  /// The user-agent string of this app: the names and versions of Vesta's parts in it.
  public let userAgent: String

  /// The days on which this app was used, for servers that count them.
  public let heartbeat: Heartbeat

  let frozenOptions: VestaOptions
  private let settings: AppSettings
  private let state: Locked<State>

  private struct State {
    var container: ComponentContainer
    var deletion = Deletion.notBegun
  }

  private enum Deletion {
    case notBegun, underWay, done
  }

  private let deleted = Latch()

  private init(name: String, options: VestaOptions, libraries: [any Library.Type], graph: ComponentGraph) {
    self.name = name
    frozenOptions = options
    dataDirectory = options.dataDirectory(appName: name, environment: ProcessInfo.processInfo.environment)
    settings = AppSettings(directory: dataDirectory)
    dataPath = Self.path(of: dataDirectory)
    userAgent = UserAgent.string(libraries: libraries, others: AppRegistry.shared.namedVersions)
    heartbeat = Heartbeat(userAgent: userAgent)
    let container = ComponentContainer(graph: graph, appName: name, options: options)
    state = Locked(State(container: container))
    container.attach(self)
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

  /// Adds a library to those that `configure` uses when it is given no list; adding it again changes nothing.
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

  /// Configures the default app with the options of the environment, see `VestaOptions.fromEnvironment(_:)`.
  ///
  /// - Parameter libraries: The libraries of the app; `nil` for those that were registered with `register(_:)`.
  /// - Returns: The app.
  /// - Throws: `VestaError` with a sentence that says what to do. No app has been configured then.
  @discardableResult
  public static func configure(libraries: [any Library.Type]? = nil) throws(VestaError) -> VestaApp {
    try configure(name: defaultName, options: VestaOptions.fromEnvironment(), libraries: libraries)
  }

  /// Configures the default app.
  ///
  /// - Parameters:
  ///   - options: The options; the app takes a copy.
  ///   - libraries: The libraries of the app; `nil` for those that were registered with `register(_:)`.
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
  /// All components are checked as a whole, then those that want to be created at once are. Nothing else is created,
  /// and no file is opened.
  ///
  /// - Parameters:
  ///   - name: The name of the app: letters, digits, `-` and `_`.
  ///   - options: The options; the app takes a copy.
  ///   - libraries: The libraries of the app; `nil` for those that were registered with `register(_:)`.
  /// - Returns: The app.
  /// - Throws: `VestaError` with a sentence that says what to do. No app has been configured then.
  @discardableResult
  public static func configure(
    name: String, options: VestaOptions, libraries: [any Library.Type]? = nil
  ) throws(VestaError) -> VestaApp {
    try check(name)
    let libraries = libraries ?? AppRegistry.shared.libraries
    let graph = try ComponentGraph(libraries: libraries)
    try AppRegistry.shared.reserve(name)
    let app = VestaApp(name: name, options: options.copy(), libraries: libraries, graph: graph)
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

  /// Deletes the app: takes its instances down, the one created last first, and frees its name.
  ///
  /// Listeners end, streams finish, files close. When this has returned, an app of the same name can be configured
  /// again. Data on disk stays, but for ``isDataCollectionDefaultEnabled``, which returns to its default, as
  /// upstream's does. ``didDeleteNotification`` is posted at the end. Inside `appWillBeDeleted` this returns at once.
  ///
  /// - Returns: `true` when this call or one at the same time has deleted the app; `false` when it was deleted before.
  @discardableResult
  public func delete() async -> Bool {
    // An instance that deletes its app while the app is being deleted would wait for itself.
    if Self.appBeingTornDown == ObjectIdentifier(self) { return true }
    let before = state.withLock { state -> Deletion in
      defer { if case .notBegun = state.deletion { state.deletion = .underWay } }
      return state.deletion
    }
    switch before {
    case .done: return false
    case .underWay: await deleted.wait()
    case .notBegun: await Self.$appBeingTornDown.withValue(ObjectIdentifier(self)) { await takeDown() }
    }
    return true
  }

  /// The app whose instances the current task is taking down.
  @TaskLocal private static var appBeingTornDown: ObjectIdentifier?

  private func takeDown() async {
    AppRegistry.shared.beginRemoval(of: name)
    let container = container
    await container.tearDown(self)
    // The instances may hold the app, and the container holds the instances: letting go of it here breaks the cycle.
    state.withLock { state in
      state.deletion = .done
      state.container = .empty(appName: name, options: frozenOptions)
    }
    settings.clear()
    AppRegistry.shared.release(name)
    postDeletion(of: name)
    deleted.open()
  }

  /// Takes an app down that could not be configured.
  ///
  /// Its name is free at once, unless an instance that has been created already has something to end: that continues in
  /// the background, and frees the name afterwards.
  private func discard() {
    guard container.hasLifecycleMaintainers else { return AppRegistry.shared.release(name) }
    AppRegistry.shared.beginRemoval(of: name)
    Task { await delete() }
  }
}

extension VestaApp {
  private static func path(of directory: URL) -> String {
    let path = directory.path(percentEncoded: false)
    return path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
  }
}

private let log = Logger(service: "VestaCore")
