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

  private let path: String
  private let bytes: [UInt8]

  /// Writes the file; as in the Firebase CLI's suite, tools find the server of a project that started last.
  ///
  /// - Parameters:
  ///   - locator: The content that the hub also answers with.
  ///   - secret: The bearer token of the hub; then no other user may read the file.
  ///   - project: The project.
  /// - Returns: `nil` where the file cannot be written, which is logged.
  static func write(_ locator: JSONObject, secret: String?, project: String) async -> HubLocator? {
    if let other = await hub(of: project), other.process != locator["pid"]?.integer {
      log.warning(
        "I-SRV000009",
        """
        Another server of the project \(project) runs: its hub is \(other.origin). The Firebase CLI and vesta export \
        find this server from now on.
        """)
    }
    var content = locator
    content["secret"] = secret.map { .string($0) }
    let path = path(of: project)
    do {
      let bytes = try content.json()
      try publish(bytes, at: path, isPrivate: secret != nil)
      return HubLocator(path: path, bytes: bytes)
    } catch {
      log.warning("I-SRV000010", "Tools do not find this server by itself: \(path) cannot be written. \(error)")
      return nil
    }
  }

  /// The hub of a project that the file names and that answers with the number of the file's process.
  ///
  /// The process alone says nothing: after a crash another one may have its number.
  static func hub(of project: String) async -> Hub? {
    guard let bytes = FileManager.default.contents(atPath: path(of: project)),
      let object = try? JSONObject(json: Array(bytes)), let process = object["pid"]?.integer
    else { return nil }
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

  /// Removes the file if it is still this server's.
  func remove() {
    guard FileManager.default.contents(atPath: path).map(Array.init) == bytes else { return }
    try? FileManager.default.removeItem(atPath: path)
  }

  private static func path(of project: String) -> String {
    let environment = ProcessInfo.processInfo.environment
    let folder = ["TMPDIR", "TMP", "TEMP"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? "/tmp"
    return "\(folder)/hub-\(project).json"
  }

  /// Writes a file next to its place, so that the secret is never in a file that others may read or have made.
  private static func publish(_ bytes: [UInt8], at path: String, isPrivate: Bool) throws {
    let temporary = "\(path).\(UUID().uuidString)"
    do {
      let file = try OpenFile(writing: temporary, .always, isPrivate: isPrivate)
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
