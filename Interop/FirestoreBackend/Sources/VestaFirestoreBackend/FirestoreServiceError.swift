/// Why the document service refused a call, or why a target has ended.
///
/// ```swift
/// do {
///   _ = try await backend.commit(request, context: context)
/// } catch let error as FirestoreServiceError where error.code == .aborted {
///   // Another transaction was in the way: read again and try again.
/// }
/// ```
public struct FirestoreServiceError: ServiceFailure, Hashable, CustomStringConvertible {
  /// The canonical code.
  public let code: ServiceCode

  /// The cause; it names the part of the request that is wrong.
  public let message: String

  /// An error.
  ///
  /// - Parameters:
  ///   - code: The canonical code.
  ///   - message: The cause; it names the part of the request.
  public init(_ code: ServiceCode, _ message: String) {
    self.code = code
    self.message = message
  }

  /// No error of another type is known here; the engine translates its store's errors.
  public init?(translating error: any Error) { nil }

  /// The code and the message.
  public var description: String { "\(code): \(message)" }
}
