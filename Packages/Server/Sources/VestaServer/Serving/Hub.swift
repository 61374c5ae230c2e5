import Foundation
import VestaBytes
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
  init(_ ports: [VestaServer.Port], _ exports: ExportDirectory, _ triggers: any TriggerSwitch, scheme: String) {
    (self.exports, self.triggers) = (exports, triggers)
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

/// The file by which the Firebase CLI finds the hub of a project.
struct HubLocator: Sendable {
  private let path: String

  /// Writes the file, unless another process that lives has one.
  ///
  /// - Returns: `nil` where nothing was written: tools are then given the ports by hand.
  static func write(_ locator: JSONObject, project: String) -> HubLocator? {
    let path = path(of: project)
    if let process = process(at: path), isAlive(process) { return nil }
    guard let json = try? JSONValue.object(locator).json(),
      (try? Data(json).write(to: URL(filePath: path), options: .atomic)) != nil
    else { return nil }
    return HubLocator(path: path)
  }

  /// Whether another process that lives has the file.
  static func isTaken(project: String) -> Bool { process(at: path(of: project)).map(isAlive) ?? false }

  /// The addresses of the hub of a project whose server lives; none where it has none.
  static func origins(project: String) -> [String] {
    let path = path(of: project)
    guard isTaken(project: project), let bytes = FileManager.default.contents(atPath: path) else { return [] }
    return ((try? JSONObject(json: Array(bytes)))?["origins"]?.array ?? []).compactMap(\.string)
  }

  private static func path(of project: String) -> String {
    let environment = ProcessInfo.processInfo.environment
    let folder = ["TMPDIR", "TMP", "TEMP"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? "/tmp"
    return "\(folder)/hub-\(project).json"
  }

  /// Removes the file if it is still this process's.
  func remove() {
    guard Self.process(at: path) == ProcessInfo.processInfo.processIdentifier else { return }
    try? FileManager.default.removeItem(atPath: path)
  }

  private static func process(at path: String) -> Int32? {
    guard let bytes = FileManager.default.contents(atPath: path) else { return nil }
    return (try? JSONObject(json: Array(bytes)))?["pid"]?.integer.flatMap { Int32(exactly: $0) }
  }

  private static func isAlive(_ process: Int32) -> Bool {
    process > 0 && process != ProcessInfo.processInfo.processIdentifier && (kill(process, 0) == 0 || errno == EPERM)
  }
}
