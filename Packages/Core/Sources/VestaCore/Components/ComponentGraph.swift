/// All components of one app, checked: a pure function from a list of libraries to a table, or to the reason why not.
struct ComponentGraph: Sendable {
  /// A component and the library that brings it.
  struct Node: Sendable {
    let component: Component
    let library: String

    var name: String { VestaCore.name(of: component.type) }
  }

  let nodes: [Node]

  /// The graph of an app without libraries.
  static let empty = ComponentGraph(nodes: [])

  private init(nodes: [Node]) { self.nodes = nodes }

  /// Reads the components of the libraries for a backend and checks them as a whole.
  ///
  /// - Throws: `VestaError` with the code `.duplicateLibrary`, `.duplicateProvider`, `.contributionNotProvider`,
  ///   `.missingDependency` or `.dependencyCycle`, in that order of precedence.
  init(libraries: [any Library.Type], backend: VestaOptions.Backend = .embedded()) throws(VestaError) {
    try Self.checkNames(of: libraries)
    var (used, unused): ([any Library.Type], [any Library.Type]) = ([], [])
    for library in libraries {
      if library.backends.contains(backend.kind) { used.append(library) } else { unused.append(library) }
    }
    nodes = Self.nodes(of: used)
    let providers = try Self.providers(among: nodes)
    let others = OtherBackends(unused, backend)
    let unread = Self.unreadInputs(among: nodes, readByOthers: others.dependencies)
    try Self.checkRequirements(of: nodes, against: providers, others, unread) { texts in
      LibraryProposal(named: libraries, missing: texts, backend: backend)
    }
    try Self.checkCycles(among: nodes, providers: providers)
  }

  private static func nodes(of libraries: [any Library.Type]) -> [Node] {
    libraries.flatMap { library in
      library.components().map { Node(component: $0, library: library.name) }
    }
  }

  private static func checkNames(of libraries: [any Library.Type]) throws(VestaError) {
    var seen: [String: any Library.Type] = [:]
    for library in libraries {
      guard let other = seen.updateValue(library, forKey: library.name) else { continue }
      if ObjectIdentifier(other) == ObjectIdentifier(library) {
        throw VestaError(
          .duplicateLibrary, "\(library) (\"\(library.name)\") is in the list of libraries twice. Name it once.")
      }
      throw VestaError(
        .duplicateLibrary,
        "\(other) and \(library) both call themselves \"\(library.name)\". Give one of them another name.")
    }
  }

  private static func providers(among nodes: [Node]) throws(VestaError) -> [ObjectIdentifier: Node] {
    var providers: [ObjectIdentifier: Node] = [:]
    for node in nodes where node.component.role == .provider {
      guard let other = providers.updateValue(node, forKey: node.component.key) else { continue }
      throw VestaError(
        .duplicateProvider,
        """
        \(node.name) is provided by \(other.library) and by \(node.library). \
        Keep one of the two libraries in the list.
        """)
    }
    return providers
  }

  private static func checkRequirements(
    of nodes: [Node], against providers: [ObjectIdentifier: Node], _ others: OtherBackends,
    _ unread: [UnreadInput], propose: (_ texts: [String?]) -> LibraryProposal?
  ) throws(VestaError) {
    try checkContributions(among: nodes, against: providers)
    // All at once, so that a newcomer adds what is missing in one go.
    var missing: [Missing] = []
    for node in nodes {
      for dependency in node.component.dependencies where dependency.isRequired && providers[dependency.key] == nil {
        if let index = missing.firstIndex(where: { $0.dependency.key == dependency.key }) {
          missing[index].needers.append(node)
          if missing[index].dependency.providers == nil { missing[index].dependency = dependency }
        } else {
          missing.append(Missing(dependency: dependency, needers: [node]))
        }
      }
    }
    guard !missing.isEmpty || !unread.isEmpty else { return }
    var lines = missing.map { $0.sentence(others) } + unread.map(\.sentence)
    let texts = missing.map(\.dependency.providers) + unread.map(\.readBy)
    if let proposal = propose(texts) { lines.append(proposal.text) }
    throw VestaError(.missingDependency, lines.joined(separator: "\n"))
  }

  /// The libraries of the list that are for other backends than the chosen one.
  private struct OtherBackends {
    let backend: VestaOptions.Backend
    private var names: [ObjectIdentifier: String] = [:]
    /// The protocols that these libraries depend on.
    private(set) var dependencies: Set<ObjectIdentifier> = []

    init(_ libraries: [any Library.Type], _ backend: VestaOptions.Backend) {
      self.backend = backend
      for library in libraries {
        let kinds = library.backends.map(\.rawValue).sorted().joined(separator: ", ")
        for component in library.components() {
          names[component.key] = "\(library.name), which is for \(kinds)"
          dependencies.formUnion(component.dependencies.map(\.key))
        }
      }
    }

    /// The provider of a protocol with another backend, for a sentence.
    func provider(of dependency: Dependency) -> String? { names[dependency.key] }
  }

  /// A protocol that nothing provides, and who needs it.
  private struct Missing {
    var dependency: Dependency
    var needers: [Node]

    func sentence(_ others: OtherBackends) -> String {
      let needed = VestaCore.name(of: dependency.type)
      let libraries = Set(needers.map(\.library)).sorted().joined(separator: ", ")
      let advice =
        dependency.providers.map { "Add one of these and name its library in the list: \($0)." }
        ?? "Add a package that provides \(needed) and name its library in the list."
      if let other = others.provider(of: dependency) {
        return """
          \(libraries) needs \(needed), which nothing in the list provides with the backend "\(others.backend)": there \
          is only \(other). \(advice)
          """
      }
      return "\(libraries) needs \(needed), which nothing provides. \(advice)"
    }
  }

  /// Refuses contributions to a protocol that a component asks for as a dependency: they would be ignored in silence.
  private static func checkContributions(
    among nodes: [Node], against providers: [ObjectIdentifier: Node]
  ) throws(VestaError) {
    for contribution in nodes where contribution.component.role == .contribution {
      let key = contribution.component.key
      guard providers[key] == nil else { continue }
      guard let asking = nodes.first(where: { $0.component.dependencies.contains { $0.key == key } }) else { continue }
      throw VestaError(
        .contributionNotProvider,
        """
        \(contribution.library) contributes to \(contribution.name), but \(asking.library) asks for one provider of it. \
        Register it with Component(...) instead of Component.contribution(...).
        """)
    }
  }

  /// Walks the graph depth first; a component that is met again on the way down closes a cycle.
  private static func checkCycles(
    among nodes: [Node], providers: [ObjectIdentifier: Node]
  ) throws(VestaError) {
    var path: [Node] = []
    var sound: Set<ObjectIdentifier> = []

    func visit(_ node: Node) throws(VestaError) {
      let key = node.component.key
      if node.component.role == .provider {
        if sound.contains(key) { return }
        if let start = path.firstIndex(where: { $0.component.key == key && $0.component.role == .provider }) {
          let cycle = (path[start...] + [node]).map(\.name).joined(separator: " -> ")
          throw VestaError(
            .dependencyCycle,
            """
            These components need one another in a cycle: \(cycle). \
            Let one of them declare the other as `.deferred` and resolve it when it is used.
            """
          )
        }
      }
      path.append(node)
      for dependency in node.component.dependencies where !dependency.isDeferred {
        if let provider = providers[dependency.key] { try visit(provider) }
      }
      path.removeLast()
      if node.component.role == .provider { sound.insert(key) }
    }

    for node in nodes { try visit(node) }
  }
}
