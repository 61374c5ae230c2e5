public import Foundation

extension VestaError: LocalizedError {
  /// The message and the cause: the value of `localizedDescription`.
  public var errorDescription: String? {
    guard let underlying else { return message }
    return "\(message) Cause: \(underlying)"
  }
}
