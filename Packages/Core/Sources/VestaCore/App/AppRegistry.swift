import VestaConcurrency

/// The apps of this process by name, and the libraries that a bare `configure()` uses.
final class AppRegistry: Sendable {
  static let shared = AppRegistry()

  /// The state of a name.
  private enum Entry {
    /// Being configured: nobody can see it yet, and nobody else may take the name.
    case reserved
    case app(VestaApp)
    /// Being deleted: nobody can see it any more, but its files may still be open.
    case leaving
  }

  private struct State {
    var entries: [String: Entry] = [:]
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
  func reserve(_ name: String) throws(VestaError) {
    let taken = state.withLock { state -> Entry? in
      defer { if state.entries[name] == nil { state.entries[name] = .reserved } }
      return state.entries[name]
    }
    switch taken {
    case nil: return
    case .leaving:
      throw VestaError(
        .duplicateApp, "The app \"\(name)\" is still being deleted. Wait for delete() before you configure it again.")
    case .app, .reserved:
      throw VestaError(
        .duplicateApp, "The app \"\(name)\" is configured already. Configure it once, or give the second one a name.")
    }
  }

  func put(_ app: VestaApp) { state.withLock { $0.entries[app.name] = .app(app) } }

  func beginRemoval(of name: String) { state.withLock { $0.entries[name] = .leaving } }

  func release(_ name: String) { _ = state.withLock { $0.entries.removeValue(forKey: name) } }

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
