import VestaConcurrency

/// The apps of this process by name, and the libraries that a bare `configure()` uses.
final class AppRegistry: Sendable {
  static let shared = AppRegistry()

  /// The state of a name.
  private enum Entry {
    /// Being configured: invisible to others, with its name reserved.
    case reserved
    case app(VestaApp)
  }

  private struct State {
    var entries: [String: Entry] = [:]
    /// The apps that are being deleted: no caller can find them, but their files may still be open.
    var leaving: [String: [VestaApp]] = [:]
    var libraries: [any Library.Type] = []
    /// Names and versions that were registered without components.
    var namedVersions: [String: String] = [:]
  }

  private let state = Locked(State())

  var apps: [String: VestaApp] {
    state.withLock { state in
      state.entries.compactMapValues { entry in
        if case .app(let app) = entry { app } else { nil }
      }
    }
  }

  func app(named name: String) -> VestaApp? {
    state.withLock { state in
      if case .app(let app)? = state.entries[name] { app } else { nil }
    }
  }

  /// Takes a name for an app that is about to be configured.
  ///
  /// - Returns: The ends of the apps of that name that are being deleted.
  func reserve(_ name: String) throws(VestaError) -> [Latch] {
    let leaving = state.withLock { state -> [Latch]? in
      guard state.entries[name] == nil else { return nil }
      state.entries[name] = .reserved
      return (state.leaving[name] ?? []).map(\.deleted)
    }
    if let leaving { return leaving }
    throw VestaError(
      .duplicateApp, "The app \"\(name)\" is configured already. Configure it once, or give the second one a name.")
  }

  func put(_ app: VestaApp) { state.withLock { $0.entries[app.name] = .app(app) } }

  /// Frees the name of an app that is being deleted.
  func beginRemoval(of app: VestaApp) {
    state.withLock { state in
      if case .app(let known)? = state.entries[app.name], known === app { state.entries[app.name] = nil }
      state.leaving[app.name, default: []].append(app)
    }
  }

  /// Forgets an app that has been deleted.
  func endRemoval(of app: VestaApp) {
    state.withLock { state in
      state.leaving[app.name]?.removeAll { $0 === app }
      if state.leaving[app.name]?.isEmpty == true { state.leaving[app.name] = nil }
    }
  }

  var libraries: [any Library.Type] { state.withLock { $0.libraries } }

  var namedVersions: [String: String] { state.withLock { $0.namedVersions } }

  func register(name: String, version: String) { state.withLock { $0.namedVersions[name] = version } }

  func register(_ library: any Library.Type) {
    state.withLock { state in
      guard !state.libraries.contains(where: { ObjectIdentifier($0) == ObjectIdentifier(library) }) else { return }
      state.libraries.append(library)
    }
  }
}
