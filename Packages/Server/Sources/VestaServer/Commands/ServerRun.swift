import Foundation
import VestaCore

/// A server from its start to its end, as the commands `serve` and `exec` run it.
public struct ServerRun: Sendable {
  private let arguments: ServeArguments
  private let say: @Sendable (String) -> Void

  /// A run.
  ///
  /// - Parameters:
  ///   - arguments: The arguments of the command.
  ///   - say: Takes what a person wants to read.
  public init(_ arguments: ServeArguments, say: @escaping @Sendable (String) -> Void) {
    (self.arguments, self.say) = (arguments, say)
  }

  /// Serves until the first signal; then it exports, where that was asked for, and stops.
  ///
  /// - Throws: ``ServerError`` where the server cannot start or export.
  public func serve(until signals: RunSignals) async throws {
    let server = try await start(signals)
    await signals.untilEnd()
    try await end(server, exports: true)
  }

  /// Runs a command with a server and the variables by which clients find it.
  ///
  /// One word is a script for the shell; several are a program and its arguments. SIGTERM is passed on to the command,
  /// and SIGINT where no terminal has sent it to both. A command that a signal has killed exports nothing.
  ///
  /// - Parameters:
  ///   - command: The words of the command.
  ///   - signals: The signals that this process receives.
  /// - Returns: The status of the command; 128 and the number of the signal that has killed it.
  /// - Throws: ``ServerError`` where the server or the command cannot start.
  public func execute(_ command: [String], signals: RunSignals) async throws -> Int32 {
    let server = try await start(signals)
    do {
      let child = try Self.start(command, for: server)
      signals.pass(to: { if $0 != SIGINT || isatty(STDIN_FILENO) == 0 { child.signal($0) } })
      let end = await child.end
      signals.pass(to: nil)
      let isExporting = if case .exited = end { true } else { false }
      if !isExporting, let path = arguments.exportPath {
        say("A signal has ended the command: nothing is exported to \(path).")
      }
      try await self.end(server, exports: isExporting)
      return end.status
    } catch {
      await server.stop()
      throw error
    }
  }

  private static func start(_ command: [String], for server: VestaServer) throws(ServerError) -> ChildProcess {
    let words = command.count == 1 ? ["/bin/sh", "-c", command[0]] : command
    let existing = ProcessInfo.processInfo.environment
    let added = SuiteEnvironment.variables(
      server.ports, project: server.settings.project, scheme: server.settings.scheme, existing: existing)
    return try ChildProcess(words, variables: existing.merging(added) { $1 })
  }

  private func start(_ signals: RunSignals) async throws -> VestaServer {
    // At the end it would be too late: data in memory would be lost.
    if let path = arguments.exportPath {
      let place = ExportPlace(path)
      try place.checkWritable()
      if let data = arguments.settings.data, place.isOrHas(data) {
        throw ServerError("\(path) has the data of the server, and no export takes its place. Name another directory.")
      }
    }
    let server = try await VestaServer.start(arguments.settings, importing: importedPath)
    signals.serves()
    say(server.table)
    return server
  }

  private func end(_ server: VestaServer, exports: Bool) async throws {
    do {
      if exports, let path = arguments.exportPath { try await server.exportData(to: path) }
    } catch {
      await server.stop()
      throw error
    }
    await server.stop()
  }

  /// The directory that is imported; `nil` for none, and where there is no export yet, as at the first start with
  /// `--import ./data --export-on-exit`.
  private var importedPath: String? {
    guard let path = arguments.importPath, ExportPlace(path).isVacant else { return arguments.importPath }
    log.warning("I-SRV000011", "There is no export in \(path) yet: nothing is imported.")
    return nil
  }
}

private let log = Logger(service: "VestaServer")
