import Foundation
import VestaServer

extension Main {
  /// Serves the documentation until a signal.
  static func serveDocs(_ arguments: [String]) async {
    let signals = Signals()
    let result = await DocsCommand.run(
      arguments, in: FileManager.default.currentDirectoryPath, until: signals.stream(exitsAtSecond: true)
    ) { address in
      print(address)
      fflush(nil)
    }
    print(result.text)
    fflush(nil)
    exit(result.status)
  }
}
