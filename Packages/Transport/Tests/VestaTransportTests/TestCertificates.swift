import CVestaTLS
import Foundation
import VestaTransportInterop

@testable import VestaTransport

/// An authority of a test, which signs certificates.
// Sound as @unchecked Sendable: its key and certificate do not change.
final class TestAuthority: @unchecked Sendable {
  struct Failure: Error {}

  private let key: OpaquePointer
  private let certificate: OpaquePointer
  /// The certificate as PEM.
  let root: [UInt8]

  static let shared = make()

  /// An authority that no other program trusts.
  static func make() -> TestAuthority { TestAuthority() }

  private init() {
    key = Self.newKey()
    let certificate = Self.certificate(
      name: "Test Root", key: key, signer: nil, constraints: "critical,CA:TRUE", names: nil, days: -2...30)
    self.certificate = certificate
    root = Self.pem { PEM_write_bio_X509($0, certificate) }
  }

  /// A certificate that this authority has signed.
  ///
  /// - Parameter names: Whom it is for, such as `DNS:localhost,IP:127.0.0.1`.
  func identity(names: String, days: ClosedRange<Int> = -1...1) -> TLSIdentity {
    let (chain, key) = files(names: names, days: days)
    return .pem(chain: chain, key: key)
  }

  func files(names: String, days: ClosedRange<Int> = -1...1) -> (chain: [UInt8], key: [UInt8]) {
    let newKey = Self.newKey()
    let made = Self.certificate(
      name: "Test Server", key: newKey, signer: (certificate, key), constraints: "critical,CA:FALSE", names: names,
      days: days)
    defer {
      X509_free(made)
      EVP_PKEY_free(newKey)
    }
    return (Self.pem { PEM_write_bio_X509($0, made) }, Self.pem(of: newKey))
  }

  /// A certificate that its own key alone has signed.
  static func selfSigned(names: String) -> TLSIdentity {
    let key = newKey()
    let made = certificate(
      name: "Alone", key: key, signer: nil, constraints: "critical,CA:FALSE", names: names, days: -1...1)
    return .pem(chain: pem { PEM_write_bio_X509($0, made) }, key: pem(of: key))
  }

  private static func pem(of key: OpaquePointer) -> [UInt8] {
    pem { PEM_write_bio_PrivateKey($0, key, nil, nil, 0, nil, nil) }
  }

  private static func newKey() -> OpaquePointer {
    let context = EVP_PKEY_CTX_new_from_name(nil, "EC", nil)
    defer { EVP_PKEY_CTX_free(context) }
    var key: OpaquePointer?
    let isMade =
      EVP_PKEY_keygen_init(context) == 1 && EVP_PKEY_CTX_set_group_name(context, "P-256") == 1
      && EVP_PKEY_generate(context, &key) == 1
    guard isMade, let key else { preconditionFailure("OpenSSL makes no key") }
    return key
  }

  private static func certificate(
    name: String, key: OpaquePointer, signer: (certificate: OpaquePointer, key: OpaquePointer)?, constraints: String,
    names: String?, days: ClosedRange<Int>
  ) -> OpaquePointer {
    guard let made = X509_new() else { preconditionFailure("there is no memory") }
    X509_set_version(made, 2)
    ASN1_INTEGER_set(X509_get_serialNumber(made), Int.random(in: 1...1_000_000_000))
    X509_gmtime_adj(X509_getm_notBefore(made), days.lowerBound * 86_400)
    X509_gmtime_adj(X509_getm_notAfter(made), days.upperBound * 86_400)
    X509_NAME_add_entry_by_txt(
      X509_get_subject_name(made), "CN", MBSTRING_UTF8, Array(name.utf8), Int32(name.utf8.count), -1, 0)
    X509_set_issuer_name(made, X509_get_subject_name(signer?.certificate ?? made))
    X509_set_pubkey(made, key)
    var context = X509V3_CTX()
    X509V3_set_ctx(&context, signer?.certificate ?? made, made, nil, nil, 0)
    for (kind, value) in [(NID_basic_constraints, constraints), (NID_subject_alt_name, names ?? "")]
    where !value.isEmpty {
      let part = X509V3_EXT_nconf_nid(nil, &context, kind, value)
      X509_add_ext(made, part, -1)
      X509_EXTENSION_free(part)
    }
    X509_sign(made, signer?.key ?? key, EVP_sha256())
    return made
  }

  private static func pem(_ write: (OpaquePointer?) -> Int32) -> [UInt8] {
    let memory = BIO_new(BIO_s_mem())
    defer { BIO_free(memory) }
    precondition(write(memory) == 1)
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = BIO_read(memory, &bytes, 65_536)
    return Array(bytes.prefix(Int(count)))
  }
}

/// A server with TLS and a handler that answers what the tests ask for.
struct SecureTestServer {
  let server: VestaTransportServer
  let listener: ServerListener

  var port: Int { listener.address.port ?? 0 }

  static func run<Value>(
    _ identities: [TLSIdentity]? = nil, protocols: [String] = ["http/1.1"], oldest: TLSVersion = .tls1_2,
    _ change: (inout TransportTuning) -> Void = { _ in }, _ body: (SecureTestServer) async throws -> Value
  ) async throws -> Value {
    let usual = [TestAuthority.shared.identity(names: "DNS:localhost,IP:127.0.0.1")]
    let certificates = try TLSCertificates(identities ?? usual)
    return try await run(
      TLSServerSettings(certificates, protocols: protocols, oldestVersion: oldest), change, body)
  }

  static func run<Value>(
    _ settings: TLSServerSettings, _ change: (inout TransportTuning) -> Void = { _ in },
    handler: any HTTPHandler = TestHandler(), _ body: (SecureTestServer) async throws -> Value
  ) async throws -> Value {
    var tuning = TransportTuning()
    tuning.sweepInterval = .milliseconds(10)
    change(&tuning)
    let server = try VestaTransportServer(loops: 2, tuning: tuning)
    let opened = try await server.listen(
      at: .internet(host: "127.0.0.1", port: 0), security: settings, handler: handler)
    guard let listener = opened as? ServerListener else { throw TransportError(.cannotListen, "another listener") }
    let outcome: Result<Value, any Error>
    do { outcome = .success(try await body(SecureTestServer(server: server, listener: listener))) } catch {
      outcome = .failure(error)
    }
    await listener.shutDown(within: .zero)
    await server.stop()
    return try outcome.get()
  }

  func request(_ target: String = "/", host: String = "localhost", _ method: HTTPMethod = .get) -> HTTPRequest {
    HTTPRequest(method, target, scheme: "https", authority: "\(host):\(port)")
  }

  /// Waits until so few connections are open.
  func waitForConnections(_ count: Int) async { while listener.connectionCount > count { await Task.yield() } }

  /// Whether a good client is served.
  func isAlive() async throws -> Bool {
    let client = try VestaTransportClient(security: .testing)
    let response = try await client.send(request("/alive"), timeout: .seconds(20))
    let text = try await response.body.collect(upTo: 100)
    await client.close()
    return text == Array("/alive".utf8)
  }
}

extension TLSClientSettings {
  /// Trusts the authority of the tests.
  static var testing: TLSClientSettings { TLSClientSettings(roots: .pem(TestAuthority.shared.root)) }
}
