public import Foundation
import VestaConcurrency
public import VestaCore
import VestaRemoteConfigBackend
import VestaRemoteConfigInterop
import VestaServiceInterop

/// The configuration of an app: values that its owner changes while the app is in use.
///
/// ```swift
/// let remoteConfig = RemoteConfig.remoteConfig()
/// remoteConfig.setDefaults(["welcome": "Hello"])
/// try await remoteConfig.fetchAndActivate()
/// print(remoteConfig["welcome"].stringValue)
/// for try await update in remoteConfig.updates { try await remoteConfig.activate() }
/// ```
///
/// - Fetched values take effect when they are activated. A value is the active one, else the app's default,
///   else the empty value.
/// - The active values, the fetched ones and the defaults are kept in the app's data directory and are there again
///   after a restart.
/// - All members may be used from any thread. Completion handlers are called on the callback queue of the app's options
///   (the main queue unless it was set), that of `activate` on a background queue; listeners on a serial queue.
/// - Fetches at the same time are one fetch, and all of them get its result.
///
/// To read on: `Fetching/RemoteConfig+Fetch.swift`, `Fetching/FetchMachine.swift`, `Realtime/RealtimeRunner.swift`.
public final class RemoteConfig: NSObject, Sendable {
  /// The app; `nil` after its deletion.
  public weak let app: VestaApp?

  /// The namespace of the parameters.
  public let namespace: String

  let backend: any RemoteConfigBackend
  let files: ConfigFiles
  let caller: BackendCaller
  let appInfo: AppInfo
  let callbackQueue: DispatchQueue
  let flight = SingleFlight<String, RemoteConfigFetchStatus>()
  let realtime: RealtimeRunner
  /// The rollouts of the active values, and their subscribers.
  let rollouts: StateSource<RolloutsState, RolloutsState>
  let state: Locked<State>
  private let backgroundQueue = DispatchQueue(label: "vesta.remote-config.files", qos: .utility)

  struct State: Sendable {
    var contents: ConfigContents
    var settings = RemoteConfigSettings.Values()
    var machine: FetchMachine
    var isOver = false
  }

  init(
    app: VestaApp, namespace: String, backend: any RemoteConfigBackend, network: (any NetworkMonitor)? = nil,
    clock: ServiceClock = .system, tuning: RemoteConfigTuning = RemoteConfigTuning(),
    random: @escaping @Sendable () -> Double = Retry.systemRandom
  ) {
    self.app = app
    self.namespace = namespace
    self.backend = backend
    caller = BackendCaller(clock: clock, random: random)
    appInfo = AppInfo(app)
    callbackQueue = app.options.callbackQueue ?? .main
    files = ConfigFiles(directory: app.dataDirectory.appending(path: "remote-config-client/\(namespace)"))
    var contents = files.load()
    if contents.record.firstOpenTime == nil { contents.record.firstOpenTime = clock.now() }
    state = Locked(State(contents: contents, machine: FetchMachine(tuning: tuning)))
    rollouts = StateSource(contents.active.rolloutsState, greeting: { $0 })
    realtime = RealtimeRunner(
      backend: backend, namespace: namespace, caller: caller, network: network, tuning: tuning)
    super.init()
    realtime.attach(self)
  }

  var clock: ServiceClock { caller.clock }

  // MARK: Reaching it

  /// The configuration of the default app.
  ///
  /// Stops the process when no default app is configured, or when it was configured without `RemoteConfigLibrary`. Use
  /// ``instance(for:namespace:)`` where that can happen.
  public class func remoteConfig() -> RemoteConfig {
    remoteConfig(nil, call: "RemoteConfig.remoteConfig()")
  }

  /// The configuration of an app.
  ///
  /// Stops the process when the app was configured without `RemoteConfigLibrary`. Use ``instance(for:namespace:)``
  /// where that can happen.
  ///
  /// - Parameter app: The app.
  /// - Returns: Always the same object for the same app.
  public class func remoteConfig(app: VestaApp) -> RemoteConfig {
    remoteConfig(app, call: "RemoteConfig.remoteConfig(app:)")
  }

  private class func remoteConfig(_ app: VestaApp?, call: String) -> RemoteConfig {
    do {
      return try instance(for: app)
    } catch {
      VestaApp.stop("\(call): \(error)")
    }
  }

  /// The configuration of an app in a namespace, or why there is none.
  ///
  /// - Parameters:
  ///   - app: The app; `nil` for the default app.
  ///   - namespace: The namespace: letters, digits, `-`, `_`, `.` and `:`.
  /// - Returns: Always the same object for the same app and namespace.
  /// - Throws: `VestaError` with a sentence that says what to do.
  public class func instance(
    for app: VestaApp? = nil, namespace: String = NamespaceGoogleMobilePlatform
  ) throws -> RemoteConfig {
    try VestaApp.instance(
      of: RemoteConfigProvider.self, for: app,
      providedBy: "RemoteConfigLibrary of VestaRemoteConfig (Packages/RemoteConfig)"
    ).remoteConfig(namespace: namespace)
  }

  // MARK: Settings

  /// A copy of the settings; the set value is copied.
  public var configSettings: RemoteConfigSettings {
    get { RemoteConfigSettings(state.withLock { $0.settings }) }
    set {
      let values = newValue.values
      state.withLock { $0.settings = values }
    }
  }

  /// The time of the last successful fetch; 1 January 1970 when there was none.
  public var lastFetchTime: Date? {
    Date(timeIntervalSince1970: state.withLock { $0.contents.record.lastFetchTime } ?? 0)
  }

  /// The outcome of the last fetch.
  public var lastFetchStatus: RemoteConfigFetchStatus { state.withLock { $0.contents.record.lastFetchStatus } }

  /// Returns when everything kept on disk is loaded, which it is from the beginning.
  public func ensureInitialized() async throws { try checkAppIsThere() }

  // MARK: Values

  /// The value for a key: the active one, or the default, or the empty one.
  ///
  /// - Parameter key: The key; `nil` has the empty value.
  public func configValue(forKey key: String?) -> RemoteConfigValue {
    guard let key else { return .empty }
    return state.withLock { state in
      if let text = state.contents.active.entries[key] { return RemoteConfigValue(Data(text.utf8), source: .remote) }
      if let data = state.contents.defaults[key] { return RemoteConfigValue(data, source: .default) }
      return .empty
    }
  }

  /// The value for a key from one source; the empty one when that source has none.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - source: Where to look.
  public func configValue(forKey key: String?, source: RemoteConfigSource) -> RemoteConfigValue {
    guard let key else { return .empty }
    switch source {
    case .remote:
      let text = state.withLock { $0.contents.active.entries[key] }
      return text.map { RemoteConfigValue(Data($0.utf8), source: .remote) } ?? .empty
    case .default: return defaultValue(forKey: key) ?? .empty
    case .static: return .empty
    }
  }

  /// The value for a key: the active one, or the default, or the empty one.
  public subscript(key: String) -> RemoteConfigValue { configValue(forKey: key) }

  /// The keys that a source has values for, in no particular order.
  ///
  /// - Parameter source: Active values, or defaults; there are no static keys.
  public func allKeys(from source: RemoteConfigSource) -> [String] {
    state.withLock { state in
      switch source {
      case .remote: Array(state.contents.active.entries.keys)
      case .default: Array(state.contents.defaults.keys)
      case .static: []
      }
    }
  }

  /// The keys of active values that begin with a prefix.
  ///
  /// - Parameter prefix: The prefix; all keys for `nil` or an empty one.
  public func keys(withPrefix prefix: String?) -> Set<String> {
    let keys = state.withLock { Set($0.contents.active.entries.keys) }
    guard let prefix, !prefix.isEmpty else { return keys }
    return keys.filter { $0.hasPrefix(prefix) }
  }

  // MARK: Defaults

  /// Sets the default values, in place of all that were set before.
  ///
  /// They take effect at once and are saved in the background. Values are strings, numbers, `Data`, dates
  /// (`yyyy-MM-dd HH:mm:ss`), and arrays and dictionaries, which become JSON; values of other types are left out.
  ///
  /// - Parameter defaults: The values by key; `nil` removes all defaults.
  public func setDefaults(_ defaults: [String: Any]?) {
    let values = (defaults ?? [:]).compactMapValues(ValueConversion.data(ofDefault:))
    for key in (defaults ?? [:]).keys where values[key] == nil {
      log.warning("I-RCN000002", "The default for \"\(key)\" is left out: its type cannot be one.")
    }
    replaceDefaults(values)
  }

  /// Sets the default values from a property list in the program's bundle.
  ///
  /// Nothing changes when there is no such file or when it is not a dictionary; the log says why.
  ///
  /// - Parameter fileName: The name of the file without its extension.
  public func setDefaults(fromPlist fileName: String?) {
    guard let fileName, let url = Bundle.main.url(forResource: fileName, withExtension: "plist") else {
      return log.error("I-RCN000003", "There is no property list \"\(fileName ?? "nil")\" in the bundle.")
    }
    setDefaults(fromPlistAt: url)
  }

  func setDefaults(fromPlistAt url: URL) {
    do {
      let list = try PropertyListSerialization.propertyList(from: Data(contentsOf: url), format: nil)
      guard let defaults = list as? [String: Any] else {
        return log.error("I-RCN000004", "The property list \(url.path) is not a dictionary.")
      }
      setDefaults(defaults)
    } catch {
      log.error("I-RCN000004", "The property list \(url.path) could not be read: \(error)")
    }
  }

  /// The default value for a key; `nil` when there is none.
  public func defaultValue(forKey key: String?) -> RemoteConfigValue? {
    guard let key else { return nil }
    return state.withLock { $0.contents.defaults[key] }.map { RemoteConfigValue($0, source: .default) }
  }

  func replaceDefaults(_ values: [String: Data]) {
    state.withLock { $0.contents.defaults = values }
    backgroundQueue.async { self.save([.defaults]) }
  }

  // MARK: Keeping

  func save(_ parts: [ConfigFiles.Part]) {
    do {
      try files.save(parts) { state.withLock { $0.contents } }
    } catch {
      log.error("I-RCN000005", "The configuration could not be saved, and holds until the process ends: \(error)")
    }
  }

  func checkAppIsThere() throws {
    guard state.withLock({ $0.isOver }) else { return }
    throw RemoteConfigError(.internalError, "The app has been deleted. Configure it again.")
  }

  /// Ends listeners, and waits until everything is saved.
  func end() {
    state.withLock { $0.isOver = true }
    realtime.end()
    rollouts.finish()
    backgroundQueue.sync {}
  }
}

extension RemoteConfig: Sequence {
  /// Iterates over the keys of the active values.
  public func makeIterator() -> Array<String>.Iterator { allKeys(from: .remote).makeIterator() }
}

private let log = Logger(service: "VestaRemoteConfig")
