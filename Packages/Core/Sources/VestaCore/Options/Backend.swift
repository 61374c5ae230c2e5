#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension VestaOptions {
  /// Where an app's data lives.
  ///
  /// A program lists the libraries of several backends, such as an engine and a remote backend of one product, and this
  /// option chooses among them: see ``Library/backends``. The data of an app on this machine belongs to its backend, so
  /// a program that changes the backend finds neither the session nor the cache nor the pending writes of the other.
  public enum Backend: Hashable, Sendable, CustomStringConvertible {
    /// In this process, on this machine: every product runs on its own engine.
    ///
    /// The directory is for this program's data. Without one it is `$VESTA_DIRECTORY`, `$XDG_DATA_HOME/vesta` or
    /// `$HOME/.local/share/vesta`, the first whose variable is set. Each project has a folder in it, with the data of
    /// the project's engines, which all apps of that project share, and with a folder for what each app keeps for
    /// itself. With another backend, the first of these variables that is set says where sessions, caches and pending
    /// writes are kept.
    case embedded(directory: URL? = nil)

    /// On a server that serves all products at one address, such as `https://vesta.example`.
    case server(URL)

    /// On local emulators, which take callers at their word: never with real data.
    case emulators(EmulatorAddresses)

    /// On Firebase.
    case firebase

    /// On one emulator that serves all products.
    ///
    /// - Parameters:
    ///   - host: The host.
    ///   - port: The port.
    public static func emulator(host: String, port: Int) -> Backend {
      .emulators(EmulatorAddresses(host: host, port: port))
    }

    /// The kind of a backend: the backend without its address.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
      /// In this process.
      case embedded
      /// On a server.
      case server
      /// On local emulators.
      case emulators
      /// On Firebase.
      case firebase
    }

    /// The kind.
    public var kind: Kind {
      switch self {
      case .embedded: .embedded
      case .server: .server
      case .emulators: .emulators
      case .firebase: .firebase
      }
    }

    /// As it is written in the environment variable `VESTA_BACKEND`.
    public var description: String {
      switch self {
      case .embedded: "embedded"
      case .server(let url): (try? Self.origin(of: url)) ?? url.absoluteString
      case .emulators(let addresses): addresses.description
      case .firebase: "firebase"
      }
    }

    /// Reads what `description` writes; `nil` when it is something else.
    init?(text: String, directory: URL?) {
      switch text {
      case "embedded": self = .embedded(directory: directory)
      case "firebase": self = .firebase
      default:
        if let addresses = EmulatorAddresses(text) {
          self = .emulators(addresses)
        } else if let url = URL(string: text), (try? Self.origin(of: url)) != nil {
          self = .server(url)
        } else {
          return nil
        }
      }
    }
  }
}

extension VestaOptions.Backend {
  /// The origin at which a product is reached: scheme, host and port, such as `https://vesta.example:8443`.
  ///
  /// - Parameters:
  ///   - product: The name of the product as `firebase.json` names its emulator, such as `remoteconfig`.
  ///   - firebase: The origin at Firebase.
  /// - Throws: `VestaError` with `.invalidOption` where the backend has no address of the product.
  public func origin(of product: String, firebase: String) throws(VestaError) -> String {
    switch self {
    case .embedded: throw VestaError(.invalidOption, "The embedded backend has no address.")
    case .server(let url): return try Self.origin(of: url)
    case .firebase: return firebase
    case .emulators(let addresses):
      if let address = addresses[product] { return "http://\(address)" }
      throw VestaError(
        .invalidOption, "The backend \"\(self)\" has no address of \"\(product)\". Add one to the EmulatorAddresses.")
    }
  }

  /// Refuses a backend that cannot be reached because of how it is written.
  func check() throws(VestaError) {
    if case .server(let url) = self { _ = try Self.origin(of: url) }
  }

  private static func origin(of url: URL) throws(VestaError) -> String {
    let parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
    guard let parts, let scheme = parts.scheme?.lowercased(), scheme == "http" || scheme == "https",
      let host = parts.host?.lowercased(), !host.isEmpty, parts.path.isEmpty || parts.path == "/",
      parts.user == nil, parts.query == nil
    else {
      throw VestaError(
        .invalidOption,
        "\"\(url.absoluteString)\" is no address of a server. Write it like https://vesta.example or http://localhost:8080."
      )
    }
    let name = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
    guard let port = parts.port, port != (scheme == "http" ? 80 : 443) else { return "\(scheme)://\(name)" }
    return "\(scheme)://\(name):\(port)"
  }
}
