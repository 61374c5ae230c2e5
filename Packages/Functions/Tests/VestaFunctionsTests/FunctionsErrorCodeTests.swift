import Testing
import VestaFunctionsBackend
import VestaServiceInterop

@testable import VestaFunctions

@Suite struct FunctionsErrorCodeTests {
  /// The codes in the order of their numbers, as programs that were written for Firebase know them.
  private static let codes: [FunctionsErrorCode] = [
    .OK, .cancelled, .unknown, .invalidArgument, .deadlineExceeded, .notFound, .alreadyExists, .permissionDenied,
    .resourceExhausted, .failedPrecondition, .aborted, .outOfRange, .unimplemented, .internal, .unavailable, .dataLoss,
    .unauthenticated,
  ]

  @Test func `every code has Firebase's number, and is that of the service's`() {
    #expect(Self.codes.map(\.rawValue) == Array(0...16))
    for code in Self.codes.dropFirst() {
      #expect(ServiceCode(rawValue: code.rawValue).map { FunctionsErrorCode($0) } == code)
    }
  }
}
