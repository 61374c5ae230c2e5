import Foundation
import VestaBytes
import VestaTransport
import VestaTransportInterop

/// `vesta export` and `vesta import`: data in the layout of the Firebase CLI's suite.
public enum DataCommands {
  /// `vesta export DIR [--project P]`: has the running server of a project export everything.
  public static func export(_ arguments: [String], in directory: String) async -> CommandResult {
    await .of { () throws(ServerError) in
      let options = try CommandOptions(arguments, values: ["--project"])
      guard options.words.count == 1 else { throw ServerError("Usage: vesta export DIR [--project P]") }
      let project = try ServeArguments.project(options.values["--project"], in: directory)
      guard let hub = await HubLocator.hub(of: project) else {
        if HubLocator.isPrivate(project: project) {
          throw ServerError("Another user runs the server of the project \(project): export as that user.")
        }
        throw ServerError("No server of the project \(project) runs: start one, or name its project with --project.")
      }
      let path = URL(filePath: options.words[0], relativeTo: URL(filePath: directory, directoryHint: .isDirectory))
        .standardizedFileURL.path(percentEncoded: false)
      return try await ask(hub, path)
    }
  }

  private static func ask(_ hub: HubLocator.Hub, _ path: String) async throws(ServerError) -> CommandResult {
    guard let url = HTTPURL("\(hub.origin)/_admin/export") else { throw ServerError("\(hub.origin) is no address.") }
    let body: JSONObject = ["path": .string(path), "initiatedBy": "vesta export"]
    var fields: HTTPFields = [.contentType: "application/json"]
    if let secret = hub.secret { fields.append(.authorization, "Bearer \(secret)") }
    do {
      let client = try VestaTransportClient(proxies: ProxySettings())
      let request = HTTPRequest(.post, url, fields: fields, body: .bytes(try body.json()))
      // An export takes as long as the data is large.
      let response = try await client.send(request, timeout: .seconds(86_400))
      let answer = try? JSONObject(json: try await response.body.collect(upTo: 1 << 20))
      await client.close()
      let message = answer?["message"]?.string ?? "\(response.status.code)"
      return response.status == .ok ? CommandResult("Exported to \(path)") : CommandResult(message, status: 1)
    } catch {
      throw ServerError("The server at \(url.authority) does not answer: \(error)")
    }
  }

  /// `vesta import DIR [OPTION...]`: adds an export to the data of a project, with the options of `vesta serve`.
  public static func `import`(_ arguments: [String], in directory: String) async -> CommandResult {
    await .of { () throws(ServerError) in
      guard let path = arguments.first, !path.hasPrefix("-") else {
        throw ServerError("Usage: vesta import DIR [OPTION...], with the options of vesta serve")
      }
      let settings = try await importSettings(Array(arguments.dropFirst()), directory)
      do {
        let server = try await VestaServer.start(settings, importing: path)
        await server.stop()
      } catch {
        throw ServerError("\(error)")
      }
      return CommandResult("Imported \(path) into the project \(settings.project)")
    }
  }

  /// The settings of a server that only imports: it has free ports, and no rules.
  private static func importSettings(
    _ arguments: [String], _ directory: String
  ) async throws(ServerError) -> ServerSettings {
    var settings = try ServeArguments(arguments, in: directory).settings
    guard await HubLocator.hub(of: settings.project) == nil else {
      throw ServerError("A server of the project \(settings.project) runs. Stop it, or start it with --import.")
    }
    guard settings.data != nil else { throw ServerError("--memory keeps nothing: leave it out.") }
    for name in ServerSettings.usualPorts.keys { settings.ports[name] = 0 }
    (settings.hosts, settings.namedHosts) = ([ServerSettings.loopback[0]], [:])
    (settings.rules, settings.namedRules) = ([:], [:])
    return settings
  }
}
