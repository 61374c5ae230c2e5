import Foundation
import VestaCore
import VestaServer

@main
struct Main {
  static func main() async {
    var arguments = CommandLine.arguments.dropFirst()
    switch arguments.popFirst() {
    case "serve": await serve(Array(arguments))
    case "exec": await execute(Array(arguments))
    case "import": await report(DataCommands.import(Array(arguments), in: directory))
    case "export": await report(DataCommands.export(Array(arguments), in: directory))
    case "rules": await report(RulesCommand.run(Array(arguments), in: directory))
    case "token": await report(TokenCommand.run(Array(arguments), in: directory))
    case "doctor": await report(DoctorCommand.run(Array(arguments), in: directory))
    case "docs": await serveDocs(Array(arguments))
    case "version", "--version": print("vesta \(VestaVersion())")
    case "help", "--help", "-h", nil: print(usage)
    case let command?: fail("vesta has no command \"\(command)\".\n\(usage)", status: 64)
    }
  }

  private static let usage = """
    vesta serve [OPTION...]             Firebase's services on this machine; `vesta serve --help` lists the options
    vesta exec [OPTION...] -- COMMAND   runs a command with a server of its own, and ends with its status
    vesta import DIR [OPTION...]        adds an export of the Firebase CLI's suite, or of vesta, to the data
    vesta export DIR [--project P]      has the running server export everything
    vesta rules check [FILE...]         compiles rules
    vesta rules test FILE               checks cases of Firestore's rules
    vesta rules coverage [OPTION...]    what the rules of a running server have decided, by expression
    vesta token [OPTION...]             an unsigned token for development
    vesta doctor [OPTION...]            says why a server could not start here
    vesta docs [FOLDER] [--port N]      serves the documentation that `make docs` has written
    vesta version                       the version
    """

  private static var directory: String { FileManager.default.currentDirectoryPath }

  private static func serve(_ arguments: [String]) async {
    do {
      let parsed = try ServeArguments(arguments, in: directory)
      if parsed.asksForHelp { return print(ServeArguments.help) }
      log(as: parsed)
      let signals = Signals.run(exportPath: parsed.exportPath)
      let sources = Signals(to: signals)
      let run = ServerRun(parsed) { table in
        print(table)
        fflush(nil)
      }
      try await run.serve(until: signals)
      withExtendedLifetime(sources) {}
    } catch {
      fail("\(error)", status: 1)
    }
  }

  private static func execute(_ arguments: [String]) async {
    do {
      let parts = arguments.split(separator: "--", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, !parts[1].isEmpty else { fail("Usage: vesta exec [OPTION...] -- COMMAND", status: 64) }
      let parsed = try ServeArguments(Array(parts[0]), in: directory, keepsData: false)
      log(as: parsed)
      let signals = Signals.run(exportPath: parsed.exportPath)
      let sources = Signals(to: signals)
      // The standard output is the command's.
      let status = try await ServerRun(parsed, say: say).execute(Array(parts[1]), signals: signals)
      withExtendedLifetime(sources) {}
      exit(status)
    } catch {
      fail("\(error)", status: 1)
    }
  }

  private static func log(as arguments: ServeArguments) {
    if arguments.logsJSON { VestaConfiguration.shared.setLogSink(JSONLogSink()) }
    if arguments.settings.isVerbose { VestaConfiguration.shared.setLoggerLevel(.info) }
  }

  private static func report(_ result: CommandResult) async {
    print(result.text)
    fflush(nil)
    exit(result.status)
  }

  private static func fail(_ message: String, status: Int32) -> Never {
    say(message)
    exit(status)
  }

  /// Writes a line to the standard error output, which may be closed: the end of a terminal is no reason to fail.
  static func say(_ line: String) {
    try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8))
  }
}
