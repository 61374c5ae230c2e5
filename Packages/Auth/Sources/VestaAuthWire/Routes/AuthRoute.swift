public import VestaBytes

/// A call of the identity service by its method and target, in the paths of all its versions.
public struct AuthRoute: Sendable, Hashable {
  /// The calls, by the last part of their path.
  public enum Call: String, Sendable, Hashable, CaseIterable {
    /// Creates an account.
    case signUp = "accounts:signUp"
    /// Signs in with a password.
    case signInWithPassword = "accounts:signInWithPassword"
    /// Signs in with a custom token.
    case signInWithCustomToken = "accounts:signInWithCustomToken"
    /// Signs in with a link.
    case signInWithEmailLink = "accounts:signInWithEmailLink"
    /// Signs in with an identity provider.
    case signInWithIdp = "accounts:signInWithIdp"
    /// Signs in with a phone number.
    case signInWithPhoneNumber = "accounts:signInWithPhoneNumber"
    /// Sends a code to a phone number.
    case sendVerificationCode = "accounts:sendVerificationCode"
    /// Reads accounts.
    case lookup = "accounts:lookup"
    /// Changes an account.
    case update = "accounts:update"
    /// Deletes an account.
    case delete = "accounts:delete"
    /// Sends a code by e-mail.
    case sendOobCode = "accounts:sendOobCode"
    /// Uses or inspects a code.
    case resetPassword = "accounts:resetPassword"
    /// Reads the ways in which an address can sign in.
    case createAuthURI = "accounts:createAuthUri"
    /// Revokes a token of a provider.
    case revokeToken = "accounts:revokeToken"
    /// Begins the enrollment of a second factor.
    case startMfaEnrollment = "accounts/mfaEnrollment:start"
    /// Ends the enrollment of a second factor.
    case finalizeMfaEnrollment = "accounts/mfaEnrollment:finalize"
    /// Removes a second factor.
    case withdrawMfaEnrollment = "accounts/mfaEnrollment:withdraw"
    /// Begins a sign-in with a second factor.
    case startMfaSignIn = "accounts/mfaSignIn:start"
    /// Ends a sign-in with a second factor.
    case finalizeMfaSignIn = "accounts/mfaSignIn:finalize"
    /// Begins the enrollment of a passkey.
    case startPasskeyEnrollment = "accounts/passkeyEnrollment:start"
    /// Ends the enrollment of a passkey.
    case finalizePasskeyEnrollment = "accounts/passkeyEnrollment:finalize"
    /// Begins a sign-in with a passkey.
    case startPasskeySignIn = "accounts/passkeySignIn:start"
    /// Ends a sign-in with a passkey.
    case finalizePasskeySignIn = "accounts/passkeySignIn:finalize"
    /// Exchanges a refresh token.
    case token = "token"
    /// Reads the rules of passwords.
    case passwordPolicy = "passwordPolicy"
    /// Reads many accounts.
    case batchGet = "accounts:batchGet"
    /// Imports accounts.
    case batchCreate = "accounts:batchCreate"
    /// Deletes accounts.
    case batchDelete = "accounts:batchDelete"
    /// Finds accounts.
    case query = "accounts:query"
  }

  /// The project of the path; `nil` for that of the API key.
  public var project: String?
  /// The tenant of the path; `nil` for none.
  public var tenant: String?
  /// The call.
  public var call: Call
  /// The API key.
  public var apiKey: String?

  /// A route.
  public init(_ call: Call, project: String? = nil, tenant: String? = nil, apiKey: String? = nil) {
    self.call = call
    self.project = project
    self.tenant = tenant
    self.apiKey = apiKey
  }

  /// Reads a route.
  ///
  /// - Parameters:
  ///   - method: The method of HTTP.
  ///   - target: The path and the query; the path may begin with the host that it stands for, as emulators have it.
  /// - Returns: The route; `nil` for a target that is not the service's.
  /// - Throws: `BytesError` with `.malformed`.
  public init?(method: String, target: String) throws(BytesError) {
    var (path, fields) = try Self.parts(of: target)
    apiKey = fields["key"]
    if path.starts(with: ["identitytoolkit", "v3", "relyingparty"]) {
      guard path.count == 4, let call = Self.legacy[path[3]] else { return nil }
      self.call = call
      return
    }
    guard path.first == "v1" || path.first == "v2" else { return nil }
    path.removeFirst()
    if path.count > 2, path[0] == "projects" {
      project = path[1]
      path.removeFirst(2)
      tenant = Self.takeTenant(from: &path)
    }
    var name = path.joined(separator: "/")
    if name == "accounts", project != nil, method == "POST" { name = Call.signUp.rawValue }
    guard let call = Call(rawValue: name), method == Self.method(of: call) else { return nil }
    self.call = call
  }

  /// Takes `tenants/T` from the front of a path that continues after it.
  ///
  /// An empty tenant is the project: imports of emulators name it so.
  static func takeTenant(from path: inout [String]) -> String? {
    guard path.count > 2, path[0] == "tenants" else { return nil }
    defer { path.removeFirst(2) }
    return path[1].isEmpty ? nil : path[1]
  }

  /// The parts of the path without the host that it stands for, and the fields of the query.
  static func parts(of target: String) throws(BytesError) -> (path: [String], fields: FormFields) {
    let halves = target.utf8.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
    let fields = try FormFields(halves.count > 1 ? String(Substring(halves[1])) : "")
    var path: [String] = []
    for part in halves[0].dropFirst().split(
      separator: UInt8(ascii: "/"), maxSplits: 10, omittingEmptySubsequences: false)
    {
      path.append(try PercentEncoding.decode(Substring(part)))
    }
    if let host = path.first, hosts.contains(host) { path.removeFirst() }
    return (path, fields)
  }

  /// The method of HTTP.
  public var method: String { Self.method(of: call) }

  /// The path and the query, without the host.
  public var target: String {
    let encoding = PercentEncoding.unreserved
    let version = call.rawValue.hasPrefix("accounts/") || call == .passwordPolicy ? "v2" : "v1"
    var path = "/\(version)"
    if let project {
      path += "/projects/\(encoding.encode(project))"
      if let tenant { path += "/tenants/\(encoding.encode(tenant))" }
    }
    var fields = FormFields()
    fields.append("key", apiKey)
    // An owner creates accounts at the collection itself.
    path += project != nil && call == .signUp ? "/accounts" : "/\(call.rawValue)"
    return fields.fields.isEmpty ? path : "\(path)?\(fields.text)"
  }

  /// The host of the service that has the call; with it in front, the target is that of an emulator.
  public var host: String { call == .token ? "securetoken.googleapis.com" : "identitytoolkit.googleapis.com" }

  private static func method(of call: Call) -> String {
    call == .batchGet || call == .passwordPolicy ? "GET" : "POST"
  }

  private static let hosts: Set<String> = [
    "identitytoolkit.googleapis.com", "securetoken.googleapis.com", "www.googleapis.com",
  ]

  /// The names of the calls in the third version, which Apple's clients use.
  private static let legacy: [String: Call] = [
    "createAuthUri": .createAuthURI, "deleteAccount": .delete, "downloadAccount": .batchGet,
    "emailLinkSignin": .signInWithEmailLink,
    "getAccountInfo": .lookup, "getOobConfirmationCode": .sendOobCode, "resetPassword": .resetPassword,
    "sendVerificationCode": .sendVerificationCode, "setAccountInfo": .update, "signupNewUser": .signUp,
    "uploadAccount": .batchCreate,
    "verifyAssertion": .signInWithIdp, "verifyCustomToken": .signInWithCustomToken,
    "verifyPassword": .signInWithPassword, "verifyPhoneNumber": .signInWithPhoneNumber,
  ]
}

/// The members that bodies of the service have next to the members of a message.
public enum AuthBodyWire {
  /// A body with the tenant of the call.
  ///
  /// - Throws: `BytesError` with `.malformed` for a body that is no object.
  public static func adding(tenant: String?, to body: [UInt8]) throws(BytesError) -> [UInt8] {
    guard let tenant else { return body }
    var object = try JSONObject(json: body)
    object["tenantId"] = .string(tenant)
    return try object.json()
  }

  /// The tenant that a body names; `nil` for none.
  public static func tenant(of body: [UInt8]) -> String? {
    guard let object = try? JSONObject(json: body) else { return nil }
    return (object["tenantId"] ?? object["tenant_id"])?.string
  }
}
