public import VestaAuthBackend
import VestaAuthWire
import VestaBytes
import VestaConcurrency
public import VestaServiceInterop
public import VestaTransportInterop

/// Fetches the keys of identity providers by OpenID Connect Discovery: the issuer's
/// `/.well-known/openid-configuration` has their address.
///
/// Requests use HTTPS. Only an issuer on this machine may use HTTP. Keys are cached for as long as the issuer allows,
/// at most an hour; the next sign-in asks an issuer again that did not answer.
public final class HTTPProviderKeys: IdentityProviderKeySource {
  private struct Kept {
    var keys: [UInt8]
    var until: Int64
  }

  private let clock: ServiceClock
  private let tuning: ProviderKeyTuning
  private let client: @Sendable () throws -> (any HTTPClient)?
  private let kept = Locked<[String: Kept]>([:])

  /// A source of keys.
  ///
  /// - Parameters:
  ///   - clock: The clock by which kept keys grow old.
  ///   - tuning: The figures at which the behaviour changes.
  ///   - client: Returns the client of HTTP.
  public init(
    clock: ServiceClock, tuning: ProviderKeyTuning = ProviderKeyTuning(),
    client: @escaping @Sendable () throws -> (any HTTPClient)?
  ) {
    (self.clock, self.tuning, self.client) = (clock, tuning, client)
  }

  /// The keys of an issuer.
  public func keys(of issuer: String) async throws(AuthServiceError) -> [UInt8] {
    let now = clock.now()
    if let found = kept.withLock({ $0[issuer] }), found.until > now { return found.keys }
    let base = issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
    let document = try await object(at: "\(base)/.well-known/openid-configuration").object
    // A document of another issuer could name keys that are not this issuer's.
    guard document["issuer"]?.string == issuer, let address = document["jwks_uri"]?.string else {
      throw AuthServiceError(.invalidIdpResponse, "The configuration of \(issuer) has another issuer or no keys.")
    }
    let (keys, age) = try await object(at: address, allowsHTTP: HTTPURL(issuer).map { !$0.isSecure } ?? false)
    guard keys["keys"]?.array != nil, let bytes = try? keys.json() else {
      throw AuthServiceError(.invalidIdpResponse, "\(address) has no keys.")
    }
    keep(bytes, of: issuer, age: age, now: now)
    return bytes
  }

  private func keep(_ keys: [UInt8], of issuer: String, age: Int64, now: Int64) {
    kept.withLock { table in
      if table.count >= tuning.issuers { table = table.filter { $0.value.until > now } }
      guard table.count < tuning.issuers else { return }
      table[issuer] = Kept(keys: keys, until: now + min(age, tuning.longestAge) * 1_000_000)
    }
  }

  /// The object at an address, and for how many seconds it may be cached.
  private func object(
    at address: String, allowsHTTP: Bool = true
  ) async throws(AuthServiceError) -> (object: JSONObject, age: Int64) {
    guard let url = HTTPURL(address), let client = try? client() else {
      throw AuthServiceError(.unavailable, "\(address) cannot be reached.")
    }
    guard url.isSecure || allowsHTTP && ["localhost", "127.0.0.1", "::1"].contains(url.host) else {
      throw AuthServiceError(.invalidIdpResponse, "\(address) does not use HTTPS.")
    }
    let (response, body) = try await response(from: url, at: address, by: client)
    guard response.status.isSuccess else {
      throw AuthServiceError(.unavailable, "\(address) answers with status \(response.status.code).")
    }
    guard let object = try? JSONObject(json: body) else {
      throw AuthServiceError(.invalidIdpResponse, "\(address) has no JSON object.")
    }
    return (object, CacheControlWire.maximumAge(response.fields.first("cache-control")))
  }

  private func response(
    from url: HTTPURL, at address: String, by client: any HTTPClient
  ) async throws(AuthServiceError) -> (HTTPResponse, body: [UInt8]) {
    do {
      return try await client.send(
        HTTPRequest(.get, url), collecting: tuning.bodyLimit, within: tuning.timeout, by: clock)
    } catch {
      throw AuthServiceError(.unavailable, "\(address) does not answer.")
    }
  }
}

/// The figures of requests for keys; small in tests.
public struct ProviderKeyTuning: Sendable, Hashable {
  /// How long a response may take.
  public var timeout = Duration.seconds(10)

  /// The most bytes of a response.
  public var bodyLimit = 1 << 18

  /// The longest time for which keys are kept, in seconds.
  public var longestAge: Int64 = 3_600

  /// The most issuers whose keys are kept.
  public var issuers = 1_000

  /// Figures that suit large providers.
  public init() {}
}
