import VestaBytes
import VestaConcurrency

/// The links of messages in the log of a server for development: they lead to its page, at a port that listens.
final class ActionLinks: Sendable {
  private let origin = Locked<String?>(nil)

  /// Sets the address, which is known when the ports are open.
  ///
  /// - Parameters:
  ///   - hosts: The hosts at which the page is served; the first one counts.
  ///   - port: Its port.
  ///   - scheme: The scheme of the URL.
  func lead(to hosts: [String], port: Int, scheme: String) {
    guard let host = hosts.first else { return }
    // Where a server listens everywhere, the machine itself is in every client's reach.
    let name = ["0.0.0.0": "127.0.0.1", "::": "[::1]"][host] ?? (host.contains(":") ? "[\(host)]" : host)
    origin.withLock { $0 = "\(scheme)://\(name):\(port)" }
  }

  /// A link to the page of this server, with the query of another one.
  ///
  /// - Parameters:
  ///   - link: The link.
  ///   - project: The project of the link, where it is not that of requests that name none.
  func link(_ link: String, project: String?) -> String {
    guard let origin = origin.withLock({ $0 }), let query = link.firstIndex(of: "?") else { return link }
    let named = project.map { "&projectId=\(PercentEncoding.unreserved.encode($0))" } ?? ""
    return "\(origin)/emulator/action\(link[query...])\(named)"
  }
}
