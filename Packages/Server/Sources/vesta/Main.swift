import Dispatch
import Foundation
import VestaCore
import VestaServer

@main
struct Main {
  static func main() async {
    var arguments = CommandLine.arguments.dropFirst()
    switch arguments.popFirst() {
    case "serve": await serve(Array(arguments))
    case "version", "--version": print("vesta \(VestaVersion())")
    case "help", "--help", "-h", nil: print(usage)
    case let command?: fail("vesta has no command \"\(command)\".\n\(usage)", status: 64)
    }
  }

  private static let usage = """
    vesta serve [OPTION...]   Firebase's services on this machine; `vesta serve --help` lists the options
    vesta version             the version
    """

  private static func serve(_ arguments: [String]) async {
    do {
      let parsed = try ServeArguments(arguments, in: FileManager.default.currentDirectoryPath)
      if parsed.asksForHelp { return print(ServeArguments.help) }
      let signals = Signals()
      let server = try await VestaServer.start(parsed.settings)
      print(server.table)
      fflush(nil)
      await signals.wait()
      await server.stop()
    } catch {
      fail("\(error)", status: 1)
    }
  }

  private static func fail(_ message: String, status: Int32) -> Never {
    FileHandle.standardError.write(Data((message + "\n").utf8))
    exit(status)
  }
}

/// The signals that end the program: the first one gracefully, a second one at once.
struct Signals {
  private let stream: AsyncStream<Void>
  private let sources: [any DispatchSourceSignal]

  init() {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    self.stream = stream
    sources = [SIGINT, SIGTERM].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { continuation.yield() }
      source.resume()
      return source
    }
  }

  /// Waits for the first signal; the next one ends the program.
  func wait() async {
    for await _ in stream { break }
    for source in sources { source.setEventHandler { exit(130) } }
  }
}
