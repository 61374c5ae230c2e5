import Testing
import VestaAppCheckInteropFakes
import VestaAuthInteropFakes
import VestaBytes
import VestaConcurrency
import VestaFunctionsBackend
import VestaFunctionsBackendFakes
import VestaFunctionsValues
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaTesting

@testable import VestaFunctions

/// The tokens and the deadline of a call that is sent.
@Suite struct CallerTests {
  private let backend = ScriptedFunctionsBackend(region: "r")
  private let auth = FakeAuth()
  private let appCheck = FakeAppCheck()
  private let location = FunctionLocation(
    name: "f", FunctionLocation.Origin(projectID: "p", region: "r", customDomain: nil, emulatorOrigin: nil))

  init() { backend.set("f") { data, _ in data } }

  private var caller: FunctionsCaller {
    FunctionsCaller(
      backend: backend, auth: auth, appCheck: appCheck, messaging: nil, clock: ManualClock(at: 1_000_000).service)
  }

  @Test func `calls go out with the tokens that are there, which are not renewed for them`() async throws {
    auth.signIn("ada")
    for _ in 0..<2 { _ = try await caller.call(location, .null, timeout: 1, options: .standard) }
    _ = try await caller.stream(location, .null, timeout: 1, options: .standard)
    #expect(backend.contexts.map(\.caller) == Array(repeating: .credential(.idToken("token-1-of-ada")), count: 3))
    #expect(backend.contexts.map(\.appCheck) == Array(repeating: .token("token-1"), count: 3))
  }

  @Test func `a call without a user is sent without a token`() async throws {
    _ = try await caller.call(location, .null, timeout: 1, options: .standard)
    #expect(backend.contexts.map(\.caller) == [.nobody])
  }

  @Test func `tokens of limited use are asked for by the options, and are new for each call`() async throws {
    let limited = HTTPSCallableOptions(requireLimitedUseAppCheckTokens: true)
    for options in [limited, limited, .standard] {
      _ = try await caller.call(location, .null, timeout: 1, options: options)
    }
    #expect(backend.contexts.map(\.appCheck.unverifiedToken) == ["limited-1", "limited-2", "token-3"])
  }

  private static let limits: [(Double, Int64)] = [
    (70, 71_000_000), (0.25, 1_250_000), (0, 1_000_000), (-5, 1_000_000), (1e12, 1_000_000_001_000_000),
    (.infinity, 1_000_000_001_000_000), (.nan, 1_000_000_001_000_000),
  ]

  @Test(arguments: limits)
  func `a time limit becomes a deadline`(timeout: Double, deadline: Int64) async throws {
    _ = try await caller.call(location, .null, timeout: timeout, options: .standard)
    #expect(backend.contexts.first?.deadline == deadline)
  }

  @Test func `a result that cannot be decoded is an error of the call`() throws {
    #expect(try HTTPSCallableResult(.integer(1)).data as? Int == 1)
    let nested = (0..<CallableValue.maximumDepth).reduce(JSONValue.null) { nest, _ in .array([nest]) }
    #expect(throws: CallableValue.Failure.self) { try HTTPSCallableResult(nested) }
  }
}
