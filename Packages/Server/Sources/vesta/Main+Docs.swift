import Foundation
import VestaServer

extension Main {
  /// Serves the documentation until a signal.
  static func serveDocs(_ arguments: [String]) async {
    let signals = Signals.run()
    let sources = Signals(to: signals)
    let result = await DocsCommand.run(
      arguments, in: FileManager.default.currentDirectoryPath, until: signals
    ) { address in
      print(address)
      fflush(nil)
    }
    withExtendedLifetime(sources) {}
    print(result.text)
    fflush(nil)
    exit(result.status)
  }
}
