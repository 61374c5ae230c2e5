import Foundation
import VestaConcurrency
import VestaTransportInterop

/// A handler that is set after its port was opened: the hub's answer has the numbers of all ports.
final class Relay: HTTPHandler {
  private let handler = Locked<(any HTTPHandler)?>(nil)

  func set(_ handler: any HTTPHandler) { self.handler.withLock { $0 = handler } }

  func reply(to request: HTTPRequest) -> HTTPReply {
    handler.withLock { $0 }?.reply(to: request) ?? .response(HTTPResponse(.serviceUnavailable))
  }
}

extension HubHandler {
  /// The hub of open ports.
  ///
  /// - Parameter secret: The secret of calls that change something; `nil` for calls without one.
  init(
    _ ports: [VestaServer.Port], _ exports: ExportDirectory, _ triggers: any TriggerSwitch, scheme: String,
    secret: String?
  ) {
    (self.exports, self.triggers, self.secret) = (exports, triggers, secret)
    places = ports.filter { $0.name != ServerSettings.shared }.map { port in
      Place(name: port.name, host: port.hosts.first ?? "127.0.0.1", port: port.number, hosts: port.hosts)
    }
    let hub = ports.first { $0.name == ServerSettings.hub }
    origins = (hub?.hosts ?? []).map { host in
      let address = host.contains(":") ? "[\(host)]" : host
      return "\(scheme)://\(address):\(hub?.number ?? 0)"
    }
    process = Int(ProcessInfo.processInfo.processIdentifier)
  }
}
