import Foundation
import VestaTransport
import VestaTransportInterop

/// `vesta doctor`: looks for what would keep a server from starting, or a client from finding it.
public enum DoctorCommand {
  /// Runs the command, with the options of `vesta serve`.
  public static func run(_ arguments: [String], in directory: String) async -> CommandResult {
    await .of { () throws(ServerError) in
      let settings = try ServeArguments(arguments, in: directory).settings
      var problems = rules(settings) + data(settings)
      if !ProjectApps.isProject(settings.project) { problems.append(ProjectApps.refusal(of: settings.project)) }
      problems += await store(settings)
      problems += ports(settings)
      if let hub = await HubLocator.hub(of: settings.project) {
        problems.append(
          """
          Another server of the project \(settings.project) runs, with its hub at \(hub.origin): the Firebase CLI finds \
          the one that starts last.
          """)
      }
      guard problems.isEmpty else {
        return CommandResult(problems.map { "problem: \($0)" }.joined(separator: "\n"), status: 1)
      }
      let names = ServerSettings.usualPorts.keys.sorted().joined(separator: ", ")
      return CommandResult("ok: rules, data and ports (\(names)) of the project \(settings.project)")
    }
  }

  private static func rules(_ settings: ServerSettings) -> [String] {
    do throws(ServerError) {
      try ServerRules(settings).readFiles()
      return []
    } catch {
      return [error.description]
    }
  }

  private static func data(_ settings: ServerSettings) -> [String] {
    guard let path = settings.data else { return [] }
    var isDirectory: ObjCBool = false
    if !FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) {
      let parent = URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false)
      let isFine = FileManager.default.isWritableFile(atPath: parent)
      return isFine ? [] : ["The directory \(path) cannot be made: \(parent) is absent or cannot be written to."]
    }
    if !isDirectory.boolValue { return ["\(path) is no directory. Name another one with --data."] }
    if settings.postgres == nil, DataLock.isTaken(path) { return [DataLock.refusal(of: path)] }
    return FileManager.default.isWritableFile(atPath: path) ? [] : ["The directory \(path) cannot be written to."]
  }

  /// Whether PostgreSQL can be reached.
  private static func store(_ settings: ServerSettings) async -> [String] {
    guard settings.postgres != nil, ProjectApps.isProject(settings.project) else { return [] }
    let host = ServerHost(settings)
    var problems: [String] = []
    do throws(ServerError) { try await host.checkStore() } catch { problems = [error.description] }
    await host.apps.close()
    return problems
  }

  /// The ports that cannot be opened.
  private static func ports(_ settings: ServerSettings) -> [String] {
    ServerSettings.usualPorts.keys.sorted().compactMap { name in
      guard let port = settings.port(of: name), port > 0 else { return nil }
      let address = TransportAddress.internet(host: settings.hosts(of: name).first ?? "127.0.0.1", port: port)
      do {
        try VestaTransportServer.checkFree(address)
        return nil
      } catch {
        return "The port \(port) of \(name) is in use. Choose another one with --port-\(name)."
      }
    }
  }
}
