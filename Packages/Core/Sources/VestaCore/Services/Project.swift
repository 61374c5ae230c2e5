import VestaConcurrency

/// A project in a directory: its engines, which all apps of this process that name it share.
///
/// An engine is made when an app first needs it, and lives until the last of the apps has been deleted: then all are
/// closed, the one made last first. An app that is configured in the meantime begins a new project, whose engines open
/// their files when this one's are closed.
final class Project: Sendable {
  /// The type of an engine.
  private struct Key: Hashable, Sendable, CustomStringConvertible {
    let type: ObjectIdentifier
    let product: String

    var description: String { "the \(product) service" }

    static func == (left: Self, right: Self) -> Bool { left.type == right.type }
    func hash(into hasher: inout Hasher) { hasher.combine(type) }
  }

  private struct Engine: Sendable {
    let product: String
    let value: any Sendable
    let close: @Sendable () async throws -> Void
  }

  private struct State {
    var apps: [WeakApp] = []
  }

  private struct WeakApp: Sendable {
    weak var app: VestaApp?
  }

  let layout: DataLayout
  /// Opened when the engines are closed.
  let closed = Latch()
  /// The ends of what had the directory before.
  private let earlier: [Latch]
  private let engines = InstanceTable<Key, Engine>()
  private let state = Locked(State())
  private let adopted = Locked<Set<String>>([])

  init(_ layout: DataLayout, after earlier: [Latch]) { (self.layout, self.earlier) = (layout, earlier) }

  func add(_ app: VestaApp) {
    state.withLock { state in
      state.apps.removeAll { $0.app == nil }
      state.apps.append(WeakApp(app: app))
    }
  }

  func remove(_ app: VestaApp) { state.withLock { $0.apps.removeAll { $0.app == nil || $0.app === app } } }

  /// The containers of the apps that are there, that of the oldest first.
  var containers: [ComponentContainer] { state.withLock { $0.apps }.compactMap { $0.app?.container } }

  /// The engine of a type, made if there is none yet.
  func engine<Value: Sendable>(
    _ product: String, make: () throws -> Value, close: @escaping @Sendable (Value) async throws -> Void
  ) throws -> Value {
    let engine = try engines.instance(for: Key(type: ObjectIdentifier(Value.self), product: product)) {
      let value = try make()
      return Engine(product: product, value: value) { try await close(value) }
    }
    guard let value = engine.value as? Value else {
      throw VestaError(.wrongInstanceType, "The \(product) service of the project is a \(type(of: engine.value)).")
    }
    return value
  }

  /// Waits until the directory is free, and moves what an earlier version has left elsewhere.
  func ready(_ names: [String]) async throws -> String {
    if VestaApp.appsBeingTornDown.isEmpty { for latch in earlier { await latch.wait() } }
    let note = try adopted.withLock { adopted -> String? in
      guard let main = names.last, !adopted.contains(main) else { return nil }
      let note = try layout.adoptEngine(names)
      adopted.insert(main)
      return note
    }
    if let note { log.warning("I-COR000012", note) }
    return layout.enginesPath
  }

  /// Closes the engines; failures are logged, because no caller waits for them.
  func close() async {
    for engine in await engines.removeAll() {
      do {
        try await engine.close()
      } catch {
        log.error(
          "I-COR000010",
          "The \(engine.product) service of the project \"\(layout.project)\" could not be closed: \(error)")
      }
    }
    for latch in earlier { await latch.wait() }
    closed.open()
  }
}

/// The projects of this process, by their directories.
final class ProjectRegistry: Sendable {
  static let shared = ProjectRegistry()

  private struct State {
    var projects: [String: (project: Project, apps: Int)] = [:]
    /// Projects whose engines are being closed.
    var closing: [String: [Latch]] = [:]
  }

  private let state = Locked(State())

  /// Counts an app in.
  func join(_ layout: DataLayout) -> Project {
    let path = layout.enginesPath
    return state.withLock { state in
      if let known = state.projects[path] {
        state.projects[path]?.apps += 1
        return known.project
      }
      let project = Project(layout, after: state.closing[path] ?? [])
      state.projects[path] = (project, 1)
      return project
    }
  }

  /// Counts an app out; closes the engines when it was the last one.
  func leave(_ project: Project) async {
    let path = project.layout.enginesPath
    let isLast = state.withLock { state -> Bool in
      guard let known = state.projects[path], known.project === project else { return false }
      guard known.apps == 1 else {
        state.projects[path]?.apps -= 1
        return false
      }
      state.projects[path] = nil
      state.closing[path, default: []].append(project.closed)
      return true
    }
    guard isLast else { return }
    await project.close()
    state.withLock { state in
      state.closing[path]?.removeAll { $0 === project.closed }
      if state.closing[path]?.isEmpty == true { state.closing[path] = nil }
    }
  }
}

private let log = Logger(service: "VestaCore")
