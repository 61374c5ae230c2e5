/// The part of the site in which a module is listed.
public enum ModuleGroup: String, Sendable, CaseIterable {
  case clients = "Products: the clients"
  case firebase = "In place of the Firebase SDK"
  case server = "The server"
  case engines = "Embedded engines"
  case plugIns = "Plug-ins"
  case rules = "Security rules"
  case core = "Core"
  case others = "Over a network, and shared parts"
  case seams = "Seams"
  case tests = "Contracts, fakes and helpers for tests"

  /// The group of a module.
  ///
  /// - Parameters:
  ///   - module: The name of the module.
  ///   - folder: The folder of its package in the repository, such as `Packages/Auth`.
  ///   - siblings: The modules of the same package.
  public init(of module: String, in folder: String, among siblings: Set<String>) {
    let package = folder.split(separator: "/").last.map(String.init) ?? folder
    self =
      switch module {
      case _ where ["Contracts", "Fakes", "Testing"].contains { module.hasSuffix($0) }: .tests
      case _ where folder.hasPrefix("Interop/"): .seams
      case _ where package == "FirebaseCompat": .firebase
      case _ where package == "Server": .server
      case _ where package == "Core": .core
      case _ where package == "Rules": .rules
      case "Vesta\(package)": siblings.contains("Vesta\(package)Service") ? .clients : .plugIns
      case "Vesta\(package)Service": .engines
      default: .others
      }
  }
}
