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
  /// A call that is known, and not offered.
  case absent

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
    } else if let fixed = Self.fixed(method, String(target.prefix { $0 != "?" })),
      isDevelopment || fixed != .recaptchaParams
    {
      self = fixed
    } else {
      return nil
    }
  }

  /// The target of a path without parameters: it is read by GET, and in the third version by any method.
  private static func fixed(_ method: String, _ path: String) -> AuthTarget? {
    method == "GET" || path.hasPrefix(thirdVersion) ? fixed[path] : nil
  }

  private static let thirdVersion = "/www.googleapis.com/identitytoolkit/v3/relyingparty/"

  private static let fixed: [String: AuthTarget] = [
    "/identitytoolkit.googleapis.com/v2/recaptchaConfig": .recaptchaConfig,
    "/identitytoolkit.googleapis.com/v1/recaptchaParams": .recaptchaParams,
    "\(thirdVersion)getRecaptchaParam": .recaptchaParams,
    "\(thirdVersion)getProjectConfig": .project(AuthProjectRoute(.publicConfig)),
    "\(thirdVersion)signOutUser": .absent,
    "/.well-known/jwks.json": .publicKeys,
    "/www.googleapis.com/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com": .publicKeys,
    "/www.googleapis.com/robot/v1/metadata/x509/securetoken@system.gserviceaccount.com": .certificates,
    "\(thirdVersion)publicKeys": .certificates,
    "/identitytoolkit.googleapis.com/v1/publicKeys": .certificates,
    "/identitytoolkit.googleapis.com/v1/sessionCookiePublicKeys": .certificates,
  ]
}

/// A call of local test suites, which needs no credential: it is served in development mode only.
struct EmulatorRoute: Sendable, Hashable {
  enum Call: Sendable, Hashable {
    case clear, config, updateConfig, oobCodes, verificationCodes
    /// The page behind a link of a message, with the fields of its query.
    case action(FormFields)
    /// The page on which an account of another provider is chosen, with the fields of its query.
    case signIn(FormFields)
    case signInFile(SignInFile)
  }

  var project: String?
  var tenant: String?
  var call: Call

  init?(method: String, target: String) {
    let halves = target.utf8.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
    guard var path = Self.path(halves[0]), path.count > 1, path.removeFirst() == "emulator" else {
      return nil
    }
    if method == "GET", path == ["action"] || path.first == "auth" {
      guard let fields = try? FormFields(halves.count > 1 ? String(Substring(halves[1])) : ""),
        let page = Self.page(path, fields)
      else { return nil }
      (project, tenant, call) = (fields["projectId"], fields["tid"] ?? fields["tenantId"], page)
      if tenant?.isEmpty == true { tenant = nil }
      return
    }
    guard path.count > 3, path[0] == "v1", path[1] == "projects" else { return nil }
    project = path[2]
    path.removeFirst(3)
    if path.count > 2, path[0] == "tenants" {
      tenant = path[1].isEmpty ? nil : path[1]
      path.removeFirst(2)
    }
    guard path.count == 1, let call = Self.calls["\(method) \(path[0])"] else { return nil }
    self.call = call
  }

  /// The pages for browsers.
  private static func page(_ path: [String], _ fields: FormFields) -> Call? {
    switch path {
    case ["action"]: .action(fields)
    case ["auth", "handler"]: .signIn(fields)
    default: path.count == 2 ? SignInFile(rawValue: path[1]).map { .signInFile($0) } : nil
    }
  }

  /// The calls about a project or a tenant, by their methods and names.
  private static let calls: [String: Call] = [
    "DELETE accounts": .clear, "GET config": .config, "PATCH config": .updateConfig, "GET oobCodes": .oobCodes,
    "GET verificationCodes": .verificationCodes,
  ]

  /// The decoded segments of a path; nil for more than eight, and for wrong escapes.
  private static func path(_ text: Substring.UTF8View) -> [String]? {
    var path: [String] = []
    for part in text.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst() {
      guard path.count < 8, let text = try? PercentEncoding.decode(Substring(part)) else { return nil }
      path.append(text)
    }
    return path
  }
}
