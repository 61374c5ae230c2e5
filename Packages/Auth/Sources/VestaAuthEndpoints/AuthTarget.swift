import VestaAuthWire
import VestaBytes

/// A request by its method and its target.
enum AuthTarget: Sendable, Hashable {
  case accounts(AuthRoute)
  case project(AuthProjectRoute)
  case provider(AuthProviderRoute)
  case emulator(EmulatorRoute)
  /// Settings of what this service does not offer: nothing of reCAPTCHA is enforced.
  case recaptchaConfig
  /// The site key that pages of clients ask for before they send a code to a phone.
  case recaptchaParams
  /// The public keys as a set of JSON Web Keys.
  case publicKeys
  /// The public keys as certificates by their names.
  case certificates

  /// `nil` for a target that is not Auth's; also for one that cannot be read.
  ///
  /// - Parameters:
  ///   - method: The method of HTTP.
  ///   - target: The path and the query.
  ///   - isDevelopment: Whether calls of local test suites count.
  init?(method: String, target: String, isDevelopment: Bool) {
    if isDevelopment, let route = EmulatorRoute(method: method, target: target) {
      self = .emulator(route)
    } else if let route = (try? AuthRoute(method: method, target: target)) ?? nil {
      self = .accounts(route)
    } else if let route = (try? AuthProjectRoute(method: method, target: target)) ?? nil {
      self = .project(route)
    } else if let route = (try? AuthProviderRoute(method: method, target: target)) ?? nil {
      self = .provider(route)
    } else {
      switch (method, target.prefix { $0 != "?" }) {
      case ("GET", "/identitytoolkit.googleapis.com/v2/recaptchaConfig"): self = .recaptchaConfig
      case ("GET", "/identitytoolkit.googleapis.com/v1/recaptchaParams") where isDevelopment,
        ("GET", "/www.googleapis.com/identitytoolkit/v3/relyingparty/getRecaptchaParam") where isDevelopment:
        self = .recaptchaParams
      case ("GET", "/.well-known/jwks.json"),
        ("GET", "/www.googleapis.com/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com"):
        self = .publicKeys
      case ("GET", "/www.googleapis.com/robot/v1/metadata/x509/securetoken@system.gserviceaccount.com"),
        ("GET", "/www.googleapis.com/identitytoolkit/v3/relyingparty/publicKeys"),
        ("GET", "/identitytoolkit.googleapis.com/v1/publicKeys"),
        ("GET", "/identitytoolkit.googleapis.com/v1/sessionCookiePublicKeys"):
        self = .certificates
      default: return nil
      }
    }
  }
}

/// A call of local test suites, which needs no credential: it is served in development mode only.
struct EmulatorRoute: Sendable, Hashable {
  enum Call: Sendable, Hashable {
    case clear, config, updateConfig, oobCodes, verificationCodes
    /// The page behind a link of a message, with the fields of its query.
    case action(FormFields)
  }

  var project: String?
  var tenant: String?
  var call: Call

  init?(method: String, target: String) {
    let halves = target.utf8.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
    let parts = halves[0].split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    var path: [String] = []
    for part in parts.dropFirst() {
      guard path.count < 8, let text = try? PercentEncoding.decode(Substring(part)) else { return nil }
      path.append(text)
    }
    guard path.count > 1, path.removeFirst() == "emulator" else { return nil }
    if path == ["action"], method == "GET" {
      guard let fields = try? FormFields(halves.count > 1 ? String(Substring(halves[1])) : "") else { return nil }
      (project, tenant, call) = (fields["projectId"], fields["tenantId"], .action(fields))
      return
    }
    guard path.count > 3, path[0] == "v1", path[1] == "projects" else { return nil }
    project = path[2]
    path.removeFirst(3)
    if path.count > 2, path[0] == "tenants" {
      tenant = path[1].isEmpty ? nil : path[1]
      path.removeFirst(2)
    }
    guard path.count == 1 else { return nil }
    switch (method, path[0]) {
    case ("DELETE", "accounts"): call = .clear
    case ("GET", "config"): call = .config
    case ("PATCH", "config"): call = .updateConfig
    case ("GET", "oobCodes"): call = .oobCodes
    case ("GET", "verificationCodes"): call = .verificationCodes
    default: return nil
    }
  }
}
