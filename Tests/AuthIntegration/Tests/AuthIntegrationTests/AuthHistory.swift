import Dispatch
import Foundation
import VestaAuth
import VestaAuthBackend
import VestaAuthEndpoints
import VestaAuthRemote
import VestaAuthService
import VestaConcurrency
@_spi(VestaTesting) import VestaCore
import VestaCrypto
import VestaCryptoInterop
import VestaSQLite
import VestaServiceInterop
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

/// Two devices whose users sign in, link, unlink, lose and recover accounts, together with an administrator, with
/// restarts and a clock that moves; a third device tries every way in.
final class AuthHistory {
  static let emails = ["a@x.com", "b@x.com", "c@x.com"], passwords = ["horse one", "horse two", "horse three"]
  static let phones = ["+15550000001", "+15550000002", "+15550000003"], factors = ["+15550000008", "+15550000009"]
  static let subjects = ["g1", "g2", "g3"]

  private let seed: UInt64
  var random: SplitMix
  var model = AuthModel(devices: 2)
  private(set) var problems: [String] = []
  private(set) var steps: [String] = []
  let sender = RecordingCodeSender()
  let offset = Locked(Int64(0))
  private let clock: ServiceClock
  /// The key of the identity provider, whose tokens the tests make.
  private let provider: any SigningKey
  let directory: TemporaryDirectory
  var apps: [VestaApp] = []
  var auths: [Auth] = []

  init(seed: UInt64) async throws {
    self.seed = seed
    provider = try await OpenSSLCrypto().generateSigningKey(.es256, keyID: "provider")
    random = SplitMix(seed: seed)
    directory = try TemporaryDirectory("auth-oracle")
    var options = AuthServiceOptions()
    options.identityProviders["google.com"] = IdentityProviderKeys(
      issuers: ["https://accounts.google.com"], audiences: ["client"],
      keys: JSONWebKeySet(keys: [try provider.verificationKey.jsonWebKey()]))
    options.passwordScheme = .scrypt(ScryptParameters(costLog2: 2, blockSize: 8, parallelism: 1))
    options.codeSender = sender
    let plenty = RateLimit(burst: 1_000_000, refillInterval: .milliseconds(1))
    (options.accountGuesses, options.addressGuesses) = (plenty, plenty)
    (options.digitGuesses, options.codesPerRecipient) = (plenty, plenty)
    clock = ServiceClock(
      now: { [offset] in ServiceClock.system.now() + offset.withLock { $0 } },
      schedule: { ServiceClock.system.schedule(after: $0, $1) })
    options.clock = clock
    ChosenAuth.options.withLock { [options] in $0["auth-oracle-\(seed)"] = options }
    try start()
  }

  var now: Int64 { ServiceClock.system.now() / 1_000_000 + offset.withLock { $0 } / 1_000_000 }

  private func start() throws {
    apps = try ["one", "two", "probe"].map { name in
      let options = VestaOptions(
        projectID: "auth-oracle-\(seed)", backend: .embedded(directory: URL(filePath: directory.path)))
      options.callbackQueue = DispatchQueue(label: "callbacks")
      return try VestaApp.configure(
        name: "auth-oracle-\(seed)-\(name)", options: options,
        libraries: [
          AuthLibrary.self, AuthServiceLibrary.self, SQLiteLibrary.self, CryptoLibrary.self, ChosenAuth.self,
        ])
    }
    if TestBackend.current == .wire { for app in apps { try reachOverTheWire(app) } }
    auths = try apps.map { try Auth.instance(for: $0) }
  }

  /// Puts a remote backend and the endpoints between the client of an app and its engine; the administrator stays
  /// inside.
  private func reachOverTheWire(_ app: VestaApp) throws {
    // A server counts deadlines by the clock of its engines.
    let host = FakeEndpointHost(project: "auth-oracle-\(seed)", clock: clock)
    host.add((any AuthBackend).self, try app.container.require((any AuthBackend).self))
    host.add((any AuthAdminBackend).self, try app.container.require((any AuthAdminBackend).self))
    let service = try host.service(of: AuthEndpoints(), options: RESTOptions(apiKey: "key"))
    let remote: any AuthBackend = AuthRemote(project: "auth-oracle-\(seed)", on: service)
    app.container.override((any AuthBackend).self, with: remote)
  }

  func end() async { for app in apps { await app.delete() } }

  func restart() async throws {
    step("restart")
    await end()
    try start()
  }

  func step(_ text: String) { steps.append(text) }
  func broken(_ text: String) { problems.append("\(text), after \(steps)") }

  var admin: any AuthAdminBackend {
    get throws { try apps[0].container.require((any AuthAdminBackend).self) }
  }

  // MARK: Ways in

  func phoneCredential(_ phone: String, _ auth: Auth) async throws -> PhoneAuthCredential {
    let provider = PhoneAuthProvider.provider(auth: auth)
    let id = try await provider.verifyPhoneNumber(phone)
    return provider.credential(withVerificationID: id, verificationCode: text(id))
  }

  func text(_ id: String) -> String { sender.recordedTexts.last { $0.sessionInfo == id }?.code ?? "" }

  func email(_ type: OobRequestType, _ recipient: String, after count: Int) -> EmailMessage? {
    sender.recordedEmails.dropFirst(count).last { $0.requestType == type && $0.recipient == recipient }
  }

  func google(_ subject: String) throws -> AuthCredential {
    let claims: JWTObject = [
      "iss": "https://accounts.google.com", "aud": "client", "sub": .string(subject), "iat": .integer(now),
      "exp": .integer(now + 3600),
    ]
    return GoogleAuthProvider.credential(withIDToken: try JWT.sign(claims, with: provider), accessToken: "")
  }

  /// Uses a credential, and the second factor where one is asked for.
  func signIn(_ credential: AuthModel.Credential, _ auth: Auth) async throws -> AuthModel.Answer {
    let known = Set(model.accounts.keys)
    func answer(_ result: AuthDataResult) -> AuthModel.Answer {
      known.contains(result.user.uid) ? .user(result.user.uid) : .new
    }
    do {
      switch credential {
      case .password(let email, let password):
        return answer(try await auth.signIn(withEmail: email, password: password))
      case .phone(let phone): return answer(try await auth.signIn(with: try await phoneCredential(phone, auth)))
      case .google(let subject): return answer(try await auth.signIn(with: google(subject)))
      case .link(let email):
        let settings = ActionCodeSettings(), count = sender.recordedEmails.count
        settings.url = URL(string: "http://localhost/")
        settings.handleCodeInApp = true
        try await auth.sendSignInLink(toEmail: email, actionCodeSettings: settings)
        guard let message = self.email(.emailSignIn, email, after: count) else { return .refused }
        return answer(try await auth.signIn(withEmail: email, link: message.link))
      }
    } catch let error as AuthError where error.code == .secondFactorRequired {
      guard let resolver = error.resolver, let hint = resolver.hints.first as? PhoneMultiFactorInfo else { throw error }
      let provider = PhoneAuthProvider.provider(auth: auth)
      let id = try await provider.verifyPhoneNumber(with: hint, multiFactorSession: resolver.session)
      let phone = provider.credential(withVerificationID: id, verificationCode: text(id))
      let result = try await resolver.resolveSignIn(with: PhoneMultiFactorGenerator.assertion(with: phone))
      return .factor(result.user.uid)
    } catch let error as AuthError where error.code == .userDisabled {
      return .disabled
    } catch let error as AuthError where [.wrongPassword, .userNotFound, .invalidCredential].contains(error.code) {
      return .refused
    }
  }

  /// Everything of the table: every account as the administrator sees it, and every credential that exists or has
  /// existed.
  func check() async {
    do {
      let users = try await admin.batchGet(BatchGetRequest(maxResults: 1_000), context: .owner).users
      let found = users.map { user in
        let google = user.providerUserInfo.first { $0.providerID == "google.com" }?.rawID
        return
          "\(user.localID) \(user.email ?? "-") \(user.emailVerified) \(user.hasPassword) \(user.phoneNumber ?? "-") "
          + "\(google ?? "-") \(user.disabled) \(user.mfaInfo.count)"
      }
      let wanted = model.accounts.values.map { account in
        "\(account.uid) \(account.email ?? "-") \(account.isVerified) \(account.password != nil) \(account.phone ?? "-") "
          + "\(account.google ?? "-") \(account.isDisabled) \(account.factor == nil ? 0 : 1)"
      }
      if found.sorted() != wanted.sorted() { broken("the table is \(found.sorted()) and not \(wanted.sorted())") }
    } catch {
      broken("the table cannot be read: \(error)")
    }
    var credentials: [AuthModel.Credential] = Self.phones.map { .phone($0) } + Self.subjects.map { .google($0) }
    for email in Self.emails { credentials += Self.passwords.map { .password(email: email, $0) } }
    for credential in credentials {
      let wanted = model.answer(credential)
      guard wanted != .new else { continue }
      do {
        let found = try await signIn(credential, auths[2])
        if found != wanted { broken("\(credential) is answered with \(found), not with \(wanted)") }
      } catch {
        broken("\(credential) is answered with \(error), not with \(wanted)")
      }
    }
    for device in 0..<2 { await checkSession(device) }
  }

  /// A session that has ended is refused, and its device signed out.
  private func checkSession(_ device: Int) async {
    guard let session = model.sessions[device] else {
      if let user = auths[device].currentUser { broken("device \(device) is signed in as \(user.uid)") }
      return
    }
    guard let user = auths[device].currentUser, user.uid == session.uid else {
      if model.isValid(session) { broken("device \(device) is not signed in as \(session.uid) any more") }
      model.sessions[device] = nil
      return
    }
    let isValid = model.isValid(session)
    do {
      _ = try await user.getIDToken(forcingRefresh: true)
      if !isValid { broken("the session of device \(device) has ended, and gets a token") }
    } catch {
      if isValid { broken("the session of device \(device) is refused: \(error)") }
      if auths[device].currentUser != nil { broken("device \(device) is still signed in: \(error)") }
      model.sessions[device] = nil
    }
  }
}

/// The options of the history whose project is configured.
private enum ChosenAuth: Library {
  static let name = "auth-oracle"
  static let options = Locked<[String: AuthServiceOptions]>([:])

  static func components() -> [Component] {
    [
      Component(AuthServiceOptions.self, caching: .shared) { container in
        options.withLock { $0[container.options.projectID ?? ""] }
      }
    ]
  }
}
