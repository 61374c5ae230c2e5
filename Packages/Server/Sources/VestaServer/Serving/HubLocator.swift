import Foundation
import VestaBytes
import VestaCore
import VestaFiles
import VestaTransport
import VestaTransportInterop

/// The file by which the Firebase CLI and `vesta export` find the hub of a project.
struct HubLocator: Sendable {
  /// A hub that answers.
  struct Hub: Sendable {
    let origin: String
    let process: Int64
    /// The bearer token of calls that change something; `nil` where none is needed.
    let secret: String?
  }

  private let project: String
  private let bytes: [UInt8]
  /// The content of the file of another server of the project, which ran when this one started.
  private let replaced: [UInt8]?

  /// Writes the file; as in the Firebase CLI's suite, tools find the server of a project that started last.
  ///
  /// - Parameters:
  ///   - locator: The content that the hub also answers with.
  ///   - secret: The bearer token of the hub; then no other user may read the file.
  ///   - project: The project.
  /// - Returns: `nil` where the file cannot be written, which is logged.
  static func write(_ locator: JSONObject, secret: String?, project: String) async -> HubLocator? {
    var replaced: [UInt8]?
    let path = path(of: project)
    if let other = await hub(of: project), other.process != locator["pid"]?.integer || isOther(other, locator) {
      replaced = FileManager.default.contents(atPath: path).map(Array.init)
      log.warning(
        "I-SRV000009",
        """
        Another server of the project \(project) runs: its hub is \(other.origin). The Firebase CLI and vesta export \
        find this server from now on.
        """)
    }
    var content = locator
    content["secret"] = secret.map { .string($0) }
    do {
      let bytes = try content.json()
      try publish(bytes, at: path)
      return HubLocator(project: project, bytes: bytes, replaced: replaced)
    } catch {
      log.warning("I-SRV000010", "Tools do not find this server by itself: \(path) cannot be written. \(error)")
      return nil
    }
  }

  /// The hub of a project that the file names and that answers with the number of the file's process.
  ///
  /// The process alone says nothing: after a crash another one may have its number.
  static func hub(of project: String) async -> Hub? {
    guard let bytes = FileManager.default.contents(atPath: path(of: project)) else { return nil }
    return await hub(in: Array(bytes))
  }

  private static func hub(in content: [UInt8]) async -> Hub? {
    guard let object = try? JSONObject(json: content), let process = object["pid"]?.integer else { return nil }
    for origin in (object["origins"]?.array ?? []).compactMap(\.string) {
      if await answers(origin, process) {
        return Hub(origin: origin, process: process, secret: object["secret"]?.string)
      }
    }
    return nil
  }

  /// Whether there is a file that this user may not read: that of a server in production which another user runs.
  static func isPrivate(project: String) -> Bool {
    let path = path(of: project)
    return FileManager.default.fileExists(atPath: path) && !FileManager.default.isReadableFile(atPath: path)
  }

  /// Removes the file if it is still this server's; a server that was found before this one is found again.
  func remove() async {
    let path = Self.path(of: project)
    guard FileManager.default.contents(atPath: path).map(Array.init) == bytes else { return }
    try? FileManager.default.removeItem(atPath: path)
    guard let replaced, await Self.hub(in: replaced) != nil else { return }
    try? Self.publish(replaced, at: path)
  }

  /// Whether a hub of this process is another server's: a process may have several.
  private static func isOther(_ hub: Hub, _ locator: JSONObject) -> Bool {
    locator["origins"]?.array?.contains(.string(hub.origin)) != true
  }

  private static func path(of project: String) -> String {
    let environment = ProcessInfo.processInfo.environment
    let folder = ["TMPDIR", "TMP", "TEMP"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? "/tmp"
    return "\(folder)/hub-\(project).json"
  }

  /// Writes a file next to its place, so that the secret is never in a file that others may read or have made.
  private static func publish(_ bytes: [UInt8], at path: String) throws {
    let temporary = "\(path).\(UUID().uuidString)"
    do {
      let hasSecret = (try? JSONObject(json: bytes))?["secret"] != nil
      let file = try OpenFile(writing: temporary, .always, isPrivate: hasSecret)
      defer { file.close() }
      try file.write(bytes, at: 0)
      try DurableFile.move(temporary, to: path)
    } catch {
      try? FileManager.default.removeItem(atPath: temporary)
      throw error
    }
  }

  private static func answers(_ origin: String, _ process: Int64) async -> Bool {
    guard let url = HTTPURL("\(origin)/"), let client = try? VestaTransportClient(proxies: ProxySettings()) else {
      return false
    }
    var isHub = false
    do {
      let response = try await client.send(HTTPRequest(.get, url), timeout: .seconds(2))
      isHub = try JSONObject(json: try await response.body.collect(upTo: 1 << 16))["pid"]?.integer == process
    } catch {
      // A hub whose certificate is for another name, or of an unknown root, is a hub.
      if case TransportError.Code.insecure = error { isHub = true }
    }
    await client.close()
    return isHub
  }
}

private let log = Logger(service: "VestaServer")
