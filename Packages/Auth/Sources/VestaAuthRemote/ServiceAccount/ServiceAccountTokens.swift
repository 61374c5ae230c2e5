import VestaBytes
import VestaConcurrency
public import VestaCryptoInterop
public import VestaServiceInterop
public import VestaTransportInterop

/// The access tokens of a service account, with which a program calls as the owner of a project.
///
/// - An assertion that the account's key has signed is exchanged for a token, which is kept until shortly before it
///   expires. Callers at the same time share one exchange; a failure is not kept.
/// - Where the clock of this machine is wrong, the exchange refuses the assertion: it is signed once more by the time
///   that the answer names.
/// - The assertion is sent over TLS, and to this machine.
///
/// ```swift
/// let account = try ServiceAccount(json: bytes)
/// let tokens = try ServiceAccountTokens(account, over: client, crypto: crypto)
/// options.ownerToken = { try await tokens.token() }
/// ```
public final class ServiceAccountTokens: OwnerTokenSource {
  private struct Token: Sendable {
    let text: String
    let received: Int64
    let end: Int64
  }

  private let account: ServiceAccount
  private let key: any SigningKey
  private let url: HTTPURL
  private let client: any HTTPClient
  private let clock: ServiceClock
  private let tuning: ServiceAccountTuning
  private let current = Locked<Token?>(nil)
  private let flight = SingleFlight<String, String>()

  /// The tokens of an account; nothing is sent yet.
  ///
  /// - Parameters:
  ///   - account: The account.
  ///   - client: Sends the requests.
  ///   - crypto: Signs the assertions.
  ///   - clock: The clock of assertions and tokens.
  ///   - tuning: The figures at which the behaviour changes.
  /// - Throws: `ServiceStatus` for a key that cannot be read, and for an address that would receive assertions in clear
  ///   text.
  public init(
    _ account: ServiceAccount, over client: any HTTPClient, crypto: any CryptoProvider, clock: ServiceClock = .system,
    tuning: ServiceAccountTuning = ServiceAccountTuning()
  ) throws(ServiceStatus) {
    guard let url = HTTPURL(account.tokenURI), url.isSecure || url.isLoopback else {
      throw ServiceStatus(.failedPrecondition, "The token_uri of a service account must be an https address.")
    }
    do {
      key = try crypto.signingKey(pem: account.privateKey, algorithm: .rs256, keyID: account.privateKeyID)
    } catch {
      throw ServiceStatus(.failedPrecondition, "The private key of \(account) cannot be read.")
    }
    (self.account, self.url, self.client, self.clock, self.tuning) = (account, url, client, clock, tuning)
  }

  /// The current access token, or a new one.
  public func token() async throws(ServiceStatus) -> String {
    if let token = fresh { return token }
    do {
      return try await flight.value(for: account.clientEmail) { [self] in
        if let token = fresh { return token }
        return try await exchange()
      }
    } catch let status as ServiceStatus {
      throw status
    } catch is CancellationError {
      throw ServiceStatus(.cancelled, "The call was cancelled.")
    } catch let error as TransportError {
      throw error.status(isRepeatable: true)
    } catch {
      throw ServiceStatus(.unavailable, "The exchange of the service account has failed (\(type(of: error))).")
    }
  }

  /// The token that is kept, unless its end is near, or the clock was set back behind its beginning.
  private var fresh: String? {
    let now = clock.now()
    return current.withLock { token in
      guard let token, now >= token.received, now < token.end else { return nil }
      return token.text
    }
  }

  // MARK: The exchange

  private func exchange() async throws -> String {
    let now = clock.now()
    var answer = try await send(assertion(at: now / 1_000_000))
    if answer.isAboutTheTime, let time = answer.time, abs(time - now / 1_000_000) > tuning.clockDifference {
      answer = try await send(assertion(at: time))
    }
    guard let token = answer.token, let lifetime = answer.lifetime else { throw answer.failure }
    let received = clock.now()
    let length = max(0, Duration.seconds(lifetime).microseconds - tuning.margin.microseconds)
    current.withLock { $0 = Token(text: token, received: received, end: received + length) }
    return token
  }

  private func assertion(at seconds: Int64) throws -> String {
    let claims: JSONObject = [
      "iss": .string(account.clientEmail), "sub": .string(account.clientEmail), "aud": .string(account.tokenURI),
      "scope": .string(tuning.scopes.joined(separator: " ")), "iat": .integer(seconds),
      "exp": .integer(seconds + 3_600),
    ]
    return try JWT.sign(claims, with: key)
  }

  private func send(_ assertion: String) async throws -> ExchangeAnswer {
    var form = FormFields()
    form.append("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer")
    form.append("assertion", assertion)
    let request = HTTPRequest(
      .post, url, fields: [.contentType: "application/x-www-form-urlencoded"], body: .text(form.text))
    let response = try await client.send(request, timeout: tuning.timeout)
    do {
      let bytes = try await response.body.collect(upTo: 1 << 16, within: tuning.timeout, by: clock)
      return ExchangeAnswer(status: response.status.code, date: response.fields.first("date"), body: bytes)
    } catch TransportError.Code.timedOut {
      throw ServiceStatus(.unavailable, "The exchange of the service account did not answer in time.")
    }
  }
}

/// Every figure at which the behaviour of ``ServiceAccountTokens`` changes; tests draw small ones.
public struct ServiceAccountTuning: Sendable, Hashable {
  /// The time before its end at which a token is replaced.
  public var margin: Duration = .seconds(300)

  /// The time for an exchange.
  public var timeout: Duration = .seconds(30)

  /// The difference of the clocks, in seconds, above which the time of the answer is used.
  public var clockDifference: Int64 = 30

  /// The scopes of a token.
  public var scopes = [
    "https://www.googleapis.com/auth/cloud-platform", "https://www.googleapis.com/auth/firebase",
    "https://www.googleapis.com/auth/identitytoolkit", "https://www.googleapis.com/auth/userinfo.email",
  ]

  /// Figures that suit Google's exchange.
  public init() {}
}
