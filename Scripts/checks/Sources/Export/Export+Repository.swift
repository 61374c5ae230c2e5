/// One package of everything: the names of targets are different in all packages, so their folders can stand side by
/// side.
extension Export {
  /// The manifest of the one package.
  ///
  /// - Parameter name: The name of the package.
  public func manifestOfRepository(named name: String) -> String {
    let core = packages.first { $0.folder == "Packages/Core" } ?? packages[0]
    let lines = manifest(of: core).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let head = lines.prefix { $0 != "let package = Package(" }.filter {
      !$0.hasPrefix("// The settings every Vesta target")
    }
    func line(_ start: String) -> [String] { lines.filter { $0.hasPrefix(start) } }
    let body =
      ["let package = Package(", "  name: \"\(name)\","] + line("  platforms: ")
      + ["  products: ["] + packages.flatMap { elements(of: $0, "products") } + ["  ],", "  targets: ["]
      + packages.flatMap { elements(of: $0, "targets") } + ["  ],"] + line("  swiftLanguageModes: ") + [")"]
    return (head + body).joined(separator: "\n") + "\n"
  }

  /// The elements of an array in a manifest that is formatted as ours are, without the elements of tests and programs,
  /// and with the products of other packages by the names of their targets.
  func elements(of package: Package, _ array: String) -> [String] {
    var reader = ElementReader(array: array)
    for line in manifest(of: package).split(separator: "\n", omittingEmptySubsequences: false) {
      guard reader.read(String(line)) else { break }
    }
    return reader.elements.map { element in
      element.replacing(/\.product\(name: *("[^"]*"), *package: *"[^"]*"\)/) { "\($0.output.1)" }
    }
  }

  /// The lines that a manifest says to use the one package.
  public func usageOfRepository(named name: String, version: String) -> [String] {
    ["  .package(url: \"…/\(name).git\", from: \"\(version)\"),"]
      + packages[..<wanted].flatMap(products(of:)).map { "  .product(name: \"\($0)\", package: \"\(name)\")," }
  }

  /// The products of a package that a program may use, without the products that are for tests alone.
  func products(of package: Package) -> [String] {
    let forTests = ["Contracts", "Fakes", "Testing", "Reference", "Specs"]
    return elements(of: package, "products").joined(separator: "\n").split(separator: "\n").compactMap { line in
      guard let match = line.firstMatch(of: /name: *"([^"]+)"/) else { return nil }
      let name = String(match.1)
      return forTests.contains(where: name.hasSuffix) ? nil : name
    }
  }

  /// The README of the one package.
  ///
  /// - Parameters:
  ///   - name: The name of the package.
  ///   - version: The version of Vesta.
  ///   - readmes: The README of each package that was asked for, by folder.
  public func readme(named name: String, version: String, readmes: [String: String]) -> String {
    let names = packages[..<wanted].map(\.name).joined(separator: " ")
    var text = """
      # \(name)

      Packages of Vesta, version \(version), as one package: \(names), and what they need. It was written by
      `Scripts/export-package --repository` of Vesta's repository, where issues and changes belong.

      A program uses one such package: two of them in one program would bring the same modules twice.

      ```swift
      \(usageOfRepository(named: name, version: version).map { String($0.dropFirst(2)) }.joined(separator: "\n"))
      ```

      """
    for package in packages[..<wanted] { text += "\n" + ReadmeText.embedded(readmes[package.folder] ?? "") }
    return text
  }
}

/// Takes the elements of one array out of a manifest, line by line.
struct ElementReader {
  private let array: String
  private(set) var elements: [String] = []
  private var isInside = false
  private var depth = 0
  private var comment = ""
  private var element = ""
  private var kind = ""

  init(array: String) { self.array = array }

  /// Reads a line; `false` after the end of the array.
  mutating func read(_ line: String) -> Bool {
    // An array of one element may stand on one line.
    if line.hasPrefix("  \(array): [."), line.hasSuffix("],"), let open = line.firstIndex(of: "[") {
      elements.append("    " + line[line.index(after: open)...].dropLast(2) + ",")
      return false
    }
    if line == "  \(array): [" {
      isInside = true
      return true
    }
    guard isInside else { return true }
    if line == "  ]," { return false }
    take(line)
    return true
  }

  private mutating func take(_ line: String) {
    if depth == 0, line.drop(while: { $0 == " " }).hasPrefix("//") {
      comment += line + "\n"
      return
    }
    if depth == 0 {
      element = ""
      kind = line
    }
    depth += line.count { $0 == "(" } - line.count { $0 == ")" }
    element += line + "\n"
    guard depth <= 0 else { return }
    element.removeLast()
    if !element.hasSuffix(",") { element += "," }
    let start = kind.drop { $0 == " " }
    let isOfTests = [".testTarget(", ".executableTarget(", ".executable("].contains { start.hasPrefix($0) }
    // The C libraries are products for the benchmarks only.
    if !isOfTests, !(array == "products" && element.contains("\"CVesta")) { elements.append(comment + element) }
    comment = ""
  }
}

/// A README as a part of another one.
enum ReadmeText {
  /// One level lower, without links into the repository of Vesta, which have no target elsewhere, and without examples
  /// of manifests, which name other packages.
  static func embedded(_ text: String) -> String {
    var lines: [String] = []
    var block: [String]?
    for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast(text.hasSuffix("\n") ? 1 : 0) {
      let line = lowered(String(line))
      if line.hasPrefix("```") {
        guard let whole = block else {
          block = [line]
          continue
        }
        if !whole.contains(where: { $0.contains(".package(") }) { lines += whole + [line] }
        block = nil
      } else if block != nil {
        block?.append(line)
      } else {
        lines.append(line)
      }
    }
    let squeezed = lines.indices.filter { index in !lines[index].isEmpty || index == 0 || !lines[index - 1].isEmpty }
    return squeezed.map { lines[$0] + "\n" }.joined()
  }

  private static func lowered(_ line: String) -> String {
    let isHeading = line.hasPrefix("#") && line.drop { $0 == "#" }.hasPrefix(" ")
    return ((isHeading ? "#" : "") + line).replacing(/\[([^\]]*)\]\([^):]*\)/) { "\($0.output.1)" }
  }
}
