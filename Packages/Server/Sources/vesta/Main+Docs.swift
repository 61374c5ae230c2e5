import Foundation
import VestaConcurrency
import VestaServer

extension Main {
  /// Serves the documentation until a signal.
  static func serveDocs(_ arguments: [String]) async {
    let signals = Signals()
    signals.isServing.withLock { $0 = true }
    let result = await DocsCommand.run(
      arguments, in: FileManager.default.currentDirectoryPath, until: signals.stream()
    ) { address in
      print(address)
      fflush(nil)
    }
    print(result.text)
    fflush(nil)
    exit(result.status)
  }
}
