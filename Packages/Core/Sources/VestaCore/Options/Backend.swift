#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension VestaOptions {
  /// Where an app's data lives.
  public enum Backend: Hashable, Sendable, CustomStringConvertible {
    /// In this process, on this machine: every product runs on its own engine.
    ///
    /// The directory is for this program's data. Without one it is `$XDG_DATA_HOME/vesta`, or
    /// `$HOME/.local/share/vesta` where that variable is not set. Each project has a folder in it, with the data of the
    /// project's engines, which all apps of that project share, and with a folder for what each app keeps for itself.
    case embedded(directory: URL? = nil)

    /// On a server that speaks Firebase's protocols without asking who is there, such as a local emulator.
    case emulator(host: String, port: Int)

    /// On Firebase, or on a server that speaks its protocols.
    case firebase

    /// As it is written in the environment variable `VESTA_BACKEND`.
    public var description: String {
      switch self {
      case .embedded: "embedded"
      case .emulator(let host, let port): "emulator:\(host):\(port)"
      case .firebase: "firebase"
      }
    }

    /// Reads what `description` writes; `nil` when it is something else.
    init?(text: String, directory: URL?) {
      switch text {
      case "embedded": self = .embedded(directory: directory)
      case "firebase": self = .firebase
      default:
        // The host may be an IPv6 address in brackets: the port follows the last colon.
        guard text.hasPrefix("emulator:"), let colon = text.lastIndex(of: ":") else { return nil }
        let host = text[..<colon].dropFirst("emulator:".count)
        guard !host.isEmpty, let port = Int(text[colon...].dropFirst()), (1...65_535).contains(port) else { return nil }
        self = .emulator(host: String(host), port: port)
      }
    }
  }
}
