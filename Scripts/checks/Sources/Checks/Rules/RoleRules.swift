/// The part that a module plays in its product, told by the end of its name.
///
/// One product in its rooms:
///
///     VestaNotes            client      VestaNotesRemote      remote
///     VestaNotesService     engine      VestaNotesEndpoints   endpoints
///     VestaNotesWire        wire        VestaNotesModel       shared
///
/// The client reaches its service through the seam alone (`NotesBackend`): it cannot tell an engine from a remote, and
/// a program that links one does not carry the other. Only the composition of a program brings the parts together.
enum ModuleRole: String {
  case client, engine, remote, endpoints, wire, shared

  /// The role of a module of a product; `nil` for libraries that exist for tests, which may know every part.
  init?(module: String, product: String) {
    let endings: [(String, ModuleRole)] = [
      ("Service", .engine), ("Remote", .remote), ("Endpoints", .endpoints), ("Wire", .wire),
    ]
    if ["Testing", "Contracts", "Fakes", "Specs"].contains(where: module.hasSuffix) { return nil }
    if let ending = endings.first(where: { module.hasSuffix($0.0) }) {
      self = ending.1
    } else {
      self = module == "Vesta\(product)" ? .client : .shared
    }
  }

  /// The roles whose modules a module of this role does without.
  var forbidden: Set<ModuleRole> {
    switch self {
    case .client, .shared: [.engine, .remote, .endpoints, .wire]
    case .engine: [.wire, .remote, .endpoints, .client]
    case .remote: [.engine, .endpoints, .client]
    case .endpoints: [.engine, .remote, .client]
    case .wire: [.engine, .remote, .endpoints, .client]
    }
  }

  /// The sentence of a violation about this role.
  fileprivate var sentence: String {
    switch self {
    case .client: "a client reaches its service through the seam"
    case .shared: "a module that client and engine share knows neither a service nor a wire"
    case .engine: "an engine serves the seam and knows no wire and no client"
    case .remote: "a remote knows the seam and the wire"
    case .endpoints: "endpoints know the seam and the wire"
    case .wire: "a wire codec knows the messages of the seam"
    }
  }
}

/// The modules of one product depend on each other only as their roles allow, in their imports and in the manifest.
@Sendable func modulesKeepTheirRole(_ house: House) -> [Violation] {
  house.packages.filter { $0.room == .product }.flatMap { package -> [Violation] in
    let modules = package.manifest.targets.filter { $0.kind == "target" }.map(\.name)
    let roles = modules.reduce(into: [String: ModuleRole]()) { roles, module in
      roles[module] = ModuleRole(module: module, product: package.name)
    }
    func violation(_ path: String, _ line: Int, of module: String, using other: String) -> Violation? {
      guard let role = roles[module], let used = roles[other], role.forbidden.contains(used) else { return nil }
      return Violation(path, line, "law 1", "do not use \(other) in \(module): \(role.sentence)")
    }
    let manifest = package.manifest.targets.flatMap { target in
      target.products.compactMap { violation(package.manifest.path, target.line, of: target.name, using: $0) }
    }
    let imports = house.files.filter { $0.isSource && $0.package.folder == package.folder }.flatMap { file in
      file.source.imports.compactMap { line in
        file.module.flatMap { violation(file.path, line.line, of: $0, using: line.module) }
      }
    }
    return manifest + imports
  }
}
