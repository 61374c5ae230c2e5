import VestaCore
import VestaStorageBackend

/// Says in the log that an operation waits for the service, once for each operation.
///
/// Failures that may pass are repeated for minutes. Without a word a transfer to a server that does not run looks like
/// one that is slow.
struct RetryNotice: Sendable {
  enum Operation: String, Sendable {
    case upload, download, call

    fileprivate var setting: String {
      switch self {
      case .upload: "maxUploadRetryTime"
      case .download: "maxDownloadRetryTime"
      case .call: "maxOperationRetryTime"
      }
    }
  }

  private let operation: Operation
  private let object: ObjectName
  private var isGiven = false

  init(_ operation: Operation, of object: ObjectName) { (self.operation, self.object) = (operation, object) }

  /// The sentence about the first failure; `nil` for later ones.
  mutating func sentence(after error: any Error) -> String? {
    guard !isGiven else { return nil }
    isGiven = true
    return
      """
      The \(operation) of gs://\(object.bucket)/\(object.name) waits, and is tried again until \(operation.setting) is over. \
      \(error) Check the network, and that a server runs at the address of the app's backend.
      """
  }

  /// Logs the first failure.
  mutating func give(after error: any Error) {
    guard let sentence = sentence(after: error) else { return }
    Logger(service: "VestaStorage").warning("I-STR000012", sentence)
  }
}
