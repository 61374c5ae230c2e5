import Testing
import VestaAuthBackendFakes
import VestaTesting

@testable import VestaAuth

/// The forms with a completion handler that fetch a token.
@Suite struct TokenFormTests {
  @Test func `a fresh token goes to a completion handler without a call of the backend, unless one is forced`()
    async throws
  {
    let test = try TestAuth()
    let user = try await test.signIn()
    let token = try await user.getIDToken()
    let got = Log<String?>()
    user.getIDToken { token, _ in got.add(token) }
    await got.wait(for: 1)
    user.getIDTokenResult { result, _ in got.add(result?.token) }
    await got.wait(for: 2)
    user.getIDTokenForcingRefresh(false) { token, _ in got.add(token) }
    #expect(await got.wait(for: 3) == [token, token, token] && test.backend.count(of: "refresh") == 0)
    user.getIDTokenResult(forcingRefresh: true) { result, _ in got.add(result?.token) }
    #expect(await got.wait(for: 4).last != token && test.backend.count(of: "refresh") == 1)
  }
}
