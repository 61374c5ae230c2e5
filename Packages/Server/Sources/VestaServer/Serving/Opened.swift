import VestaServiceInterop
import VestaTransport
import VestaTransportInterop

/// The listeners that are open so far.
struct Opened {
  /// Whether requests are logged.
  let isVerbose: Bool
  let clock: ServiceClock
  /// How connections are encrypted; `nil` for ports in clear.
  let security: TLSServerSettings?
  private(set) var listeners: [any HTTPListener] = []
  private(set) var ports: [VestaServer.Port] = []

  /// Refuses ports that could not be opened now, without opening them: the work before they are opened may be long.
  static func check(_ names: [String], _ settings: ServerSettings) throws(ServerError) {
    var taken: [TransportAddress: String] = [:]
    for name in names {
      let port = settings.port(of: name) ?? 0
      guard port > 0, let host = settings.hosts(of: name).first else { continue }
      let address = TransportAddress.internet(host: host, port: port)
      if let other = taken.updateValue(name, forKey: address) {
        throw ServerError("\(other) and \(name) have the same port \(port). Choose another one with --port-\(name).")
      }
      do {
        try VestaTransportServer.checkFree(address)
      } catch {
        throw cannotOpen(port, of: name, at: host)
      }
    }
  }

  /// Opens a port at several hosts, with the same number at each.
  ///
  /// The first host has to work; a machine may be without the second family of addresses. A port that is not to be
  /// encrypted is in clear also where others are encrypted.
  mutating func open(
    _ name: String, _ port: Int, _ hosts: [String], _ transport: VestaTransportServer, _ handler: any HTTPHandler,
    isEncrypted: Bool = true
  ) async throws(ServerError) {
    let handler = isVerbose ? RequestLog(port: name, clock: clock, inner: handler) : handler
    var number = port
    var open: [String] = []
    for host in hosts {
      do {
        let listener = try await transport.listen(
          at: .internet(host: host, port: number), security: isEncrypted ? security : nil, handler: handler)
        listeners.append(listener)
        number = listener.address.port ?? number
        open.append(host)
      } catch {
        if open.isEmpty { throw Self.cannotOpen(port, of: name, at: host) }
      }
    }
    ports.append(VestaServer.Port(name: name, hosts: open, number: number))
  }

  private static func cannotOpen(_ port: Int, of name: String, at host: String) -> ServerError {
    ServerError(
      """
      The port \(port) of \(name) cannot be opened at \(host). If another program has it, choose another one \
      with --port-\(name).
      """)
  }
}
