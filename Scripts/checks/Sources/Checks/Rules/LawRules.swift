/// Law 1: a product depends on Core and Interop only, in its manifest and in its imports.
@Sendable func productsDependOnCoreAndInterop(_ house: House) -> [Violation] {
  house.packages.filter { $0.room == .product }.flatMap { package -> [Violation] in
    let manifest = package.manifest.dependencies.compactMap { dependency -> Violation? in
      let target = house.package(at: dependency.path, from: package.folder)
      if let target, target.room == .core || target.room == .interop { return nil }
      let what = dependency.path ?? "a package from elsewhere"
      return Violation(
        package.manifest.path, dependency.line, "law 1",
        "drop the dependency on \(what): a product depends on Packages/Core and Interop/* only "
          + "(a program says `// A composition root: …` in its manifest)")
    }
    return manifest
      + foreignImports(house, of: package, rule: "law 1", allowed: [.core, .interop]) { module, owner in
        "do not import \(module) of \(owner.folder): products meet in an Interop package"
      }
  }
}

/// The libraries of Core that a seam may use; the last one only in contracts, fakes and tests.
private let groundFloor: Set = ["VestaConcurrency", "VestaBytes", "VestaTesting"]

/// Law 2: an Interop package depends on the ground floor of Core, or on another Interop that its README names.
///
/// ServiceInterop is the vocabulary of all backends: it need not be named.
@Sendable func interopDependsOnTheGroundFloor(_ house: House) -> [Violation] {
  house.packages.filter { $0.room == .interop }.flatMap { package -> [Violation] in
    let manifest = package.manifest.dependencies.compactMap { dependency -> Violation? in
      func broken(_ message: String) -> Violation {
        Violation(package.manifest.path, dependency.line, "law 2", message)
      }
      let target = house.package(at: dependency.path, from: package.folder)
      if target?.room == .core { return nil }
      guard let target, target.room == .interop else {
        let what = dependency.path ?? "a package from elsewhere"
        return broken("drop the dependency on \(what): an Interop package depends on Packages/Core and Interop/* only")
      }
      let readme = house.tree.files[package.folder + "/README.md"] ?? ""
      guard target.name != "ServiceInterop", !readme.hasWord(target.name) else { return nil }
      return broken("say in \(package.folder)/README.md which types of \(target.name) are shared, and why")
    }
    let products = package.manifest.targets.flatMap { target in
      target.products.filter { house.owners[$0]?.room == .core && !groundFloor.contains($0) }.map {
        Violation(package.manifest.path, target.line, "law 2", "drop \($0) from \(target.name): \(groundFloorHint)")
      }
    }
    let imports = foreignImports(house, of: package, rule: "law 2", allowed: [.core, .interop]) { module, owner in
      "do not import \(module) of \(owner.folder): an Interop package uses \(groundFloorHint)"
    }
    let above = house.files.filter { $0.package.folder == package.folder }.flatMap { file in
      file.source.imports.filter { house.owners[$0.module]?.room == .core && !groundFloor.contains($0.module) }.map {
        Violation(file.path, $0.line, "law 2", "do not import \($0.module): \(groundFloorHint)")
      }
    }
    return manifest + products + imports + above
  }
}

private let groundFloorHint = "seams use VestaConcurrency and VestaBytes, and VestaTesting in contracts and fakes"

/// Shipped code does not import what is made for tests; contracts, fakes and testing libraries do.
@Sendable func testingStaysInTests(_ house: House) -> [Violation] {
  let suffixes = ["Contracts", "Fakes", "Testing"]
  return house.files.filter { $0.isSource && $0.isHouse }.flatMap { file -> [Violation] in
    if file.module.map({ module in suffixes.contains { module.hasSuffix($0) } }) ?? true { return [] }
    return file.source.imports.filter { $0.module == "VestaTesting" }.map {
      let message =
        "do not import VestaTesting in shipped code: move this to a library named …Contracts, …Fakes or …Testing"
      return Violation(file.path, $0.line, "law 2", message)
    }
  }
}

/// Each target names the products whose modules it imports: an import that works by accident breaks with the next edit.
@Sendable func targetsNameTheirProducts(_ house: House) -> [Violation] {
  house.packages.filter { $0.room != .other }.flatMap { package in
    package.manifest.targets.flatMap { target -> [Violation] in
      let folder = package.manifest.sources(of: target) + "/"
      let named = Set(target.products)
      return house.files.filter { $0.path.hasPrefix(folder) }.flatMap { file in
        file.source.imports.compactMap { line -> Violation? in
          guard let owner = house.owners[line.module], owner.folder != package.folder else { return nil }
          guard !named.contains(line.module) else { return nil }
          let message = "name the product \(line.module) in the dependencies of \(target.name)"
          return Violation(file.path, line.line, "product", message)
        }
      }
    }
  }
}

/// Every shipped module has the prefix Vesta (C modules: CVesta), and seams are called …Interop or …Backend.
///
/// Target names are global in a user's graph of packages, and a module must not be named like its own protocol.
@Sendable func modulesHaveThePrefix(_ house: House) -> [Violation] {
  house.packages.filter { $0.room != .other }.flatMap { package -> [Violation] in
    var found: [Violation] = []
    if package.room == .interop, !package.name.hasSuffix("Interop"), !package.name.hasSuffix("Backend") {
      found.append(
        Violation(package.manifest.path, 1, "prefix", "call the seam \(package.name)Interop or \(package.name)Backend"))
    }
    for target in package.manifest.targets where target.kind == "target" || target.kind == "systemLibrary" {
      let isNamedRight = target.name.hasPrefix("Vesta") || target.name.hasPrefix("CVesta")
      guard !isNamedRight else { continue }
      found.append(
        Violation(package.manifest.path, target.line, "prefix", "call the module Vesta\(target.name), or CVesta… for C")
      )
    }
    return found
  }
}

/// Law 3: Core depends on nothing and names no product, plug-in or seam.
@Sendable func coreKnowsNoProduct(_ house: House) -> [Violation] {
  guard let core = house.packages.first(where: { $0.room == .core }) else { return [] }
  let dependencies = core.manifest.dependencies.map {
    Violation(core.manifest.path, $0.line, "law 3", "drop the dependency: Core depends on nothing but the toolchain")
  }
  let products = house.packages.filter { $0.room == .product }.flatMap {
    ["Vesta\($0.name)", "Vesta\($0.name)Service"]
  }
  let names = Set(products + house.packages.filter { $0.room == .interop }.map(\.name))
  let mentions = house.files.filter { $0.package.folder == core.folder && $0.isSource }.flatMap { file in
    file.source.codeAndStrings.enumerated().flatMap { index, line in
      Set(line.words).intersection(names).sorted().map {
        Violation(file.path, index + 1, "law 3", "do not name \($0) in Core: it knows no product and no seam")
      }
    }
  }
  let imports = foreignImports(house, of: core, rule: "law 3", allowed: []) { module, owner in
    "do not import \(module) of \(owner.folder): Core depends on nothing but the toolchain"
  }
  return dependencies + mentions + imports
}

/// Law 4: C libraries are imported by plug-ins, with a pkg-config name and providers.
///
/// A package that ships an engine (a target named `…Service`) is a product, and no plug-in.
@Sendable func systemLibrariesStayInPlugins(_ house: House) -> [Violation] {
  var found: [Violation] = []
  for package in house.packages {
    let isPlugin = package.room == .product && !package.manifest.targets.contains { $0.name.hasSuffix("Service") }
    for target in package.manifest.targets where target.kind == "systemLibrary" {
      func broken(_ message: String) {
        found.append(Violation(package.manifest.path, target.line, "law 4", message))
      }
      if package.room != .other, !isPlugin { broken("move \(target.name) to a plug-in package of its own") }
      if target.arguments["pkgConfig"] == nil { broken("give \(target.name) a pkgConfig: name") }
      if target.arguments["providers"]?.contains(".apt(") != true {
        broken("give \(target.name) providers: [.apt([…])], so that the bootstrap can install it")
      }
    }
  }
  for file in house.files where file.isHouse {
    for line in file.source.imports {
      guard let owner = house.owners[line.module], owner.systemModules.contains(line.module),
        owner.folder != file.package.folder
      else { continue }
      let message = "do not import \(line.module): only \(owner.folder) touches that library"
      found.append(Violation(file.path, line.line, "law 4", message))
    }
  }
  return found
}

private let platformModules: Set = [
  "Glibc", "Musl", "Darwin", "Android", "Bionic", "WinSDK", "ucrt", "CRT", "WASILibc", "SwiftGlibc",
]

/// Law 5 (and 4): the C library of the platform, and conditions on the platform, sit in Platform.swift.
///
/// Where that would be too long, a system has its own part of it, such as Platform+Windows.swift.
@Sendable func platformCodeSitsInOneFile(_ house: House) -> [Violation] {
  house.files.filter { $0.isHouse && $0.isSource && $0.name != "Platform.swift" && !$0.name.hasPrefix("Platform+") }
    .flatMap { file -> [Violation] in
      let imports = file.source.imports.filter { platformModules.contains($0.module) }.map {
        Violation(file.path, $0.line, "law 5", "import \($0.module) in Platform.swift only, and put the call there")
      }
      let conditions = file.source.code.enumerated().compactMap { index, line -> Violation? in
        let text = line.trimmed
        guard text.hasPrefix("#if") || text.hasPrefix("#elseif") else { return nil }
        let words = line.words
        let asksForModule = words.contains("canImport") && !platformModules.isDisjoint(with: words)
        guard words.contains("os") || words.contains("arch") || asksForModule else { return nil }
        return Violation(file.path, index + 1, "law 5", "move what depends on the platform to Platform.swift")
      }
      return imports + conditions
    }
}

/// Imports of a package's files that name a module of a package it may not know.
func foreignImports(
  _ house: House, of package: House.Package, rule: String, allowed: [House.Room],
  message: (String, House.Package) -> String
) -> [Violation] {
  let declared = package.manifest.dependencies.compactMap { house.package(at: $0.path, from: package.folder)?.folder }
  return house.files.filter { $0.package.folder == package.folder }.flatMap { file in
    file.source.imports.compactMap { line -> Violation? in
      guard let owner = house.owners[line.module], owner.folder != package.folder else { return nil }
      if !allowed.contains(owner.room) { return Violation(file.path, line.line, rule, message(line.module, owner)) }
      guard !declared.contains(owner.folder) else { return nil }
      let text = "name \(owner.folder) in the manifest: \(line.module) comes in by accident"
      return Violation(file.path, line.line, rule, text)
    }
  }
}
