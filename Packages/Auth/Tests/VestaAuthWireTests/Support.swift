import VestaAuthBackend
import VestaBytes
import VestaTesting

@testable import VestaAuthWire

func utf8(_ text: String) -> [UInt8] { Array(text.utf8) }

func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

/// One message as bytes, and what is wrong when they are not read as the same message.
struct Sample {
  var name: String
  var json: [UInt8]
  var read: ([UInt8]) throws -> Bool
}

extension SplitMix {
  mutating func text() -> String { pick(["a", "é", "\u{1F600}", "\"\\&=+%", "\u{0}\n", "x@y.z"]) }

  mutating func maybe() -> String? { oneIn(2) ? nil : text() }

  mutating func time() -> Int64? { pick([nil, 1_700_000_000_123, -1, 0]) }

  mutating func factor() -> MfaEnrollment {
    MfaEnrollment(
      mfaEnrollmentID: text(), factor: oneIn(2) ? .totp : .phone(number: text()), displayName: maybe(),
      enrolledAt: time() ?? 5)
  }

  mutating func provider() -> ProviderUserInfo {
    ProviderUserInfo(
      providerID: text(), rawID: text(), federatedID: maybe(), email: maybe(), displayName: maybe(), photoURL: maybe(),
      phoneNumber: maybe(), screenName: maybe())
  }

  mutating func user() -> AuthUser {
    let hash = pick([nil, "aGFzaA=="])
    return AuthUser(
      localID: text(), email: maybe(), emailVerified: oneIn(2), displayName: maybe(), photoURL: maybe(),
      phoneNumber: maybe(), hasPassword: hash != nil || oneIn(2), passwordHash: hash, salt: maybe(),
      passwordUpdatedAt: time(), validSince: time(), disabled: oneIn(2), createdAt: time() ?? 0, lastLoginAt: time(),
      lastRefreshAt: time(), customAuth: oneIn(2), customAttributes: pick([nil, "{\"a\":1}"]), tenantID: maybe(),
      initialEmail: maybe(), emailLinkSignIn: oneIn(2), mfaInfo: oneIn(2) ? [] : [factor()],
      providerUserInfo: oneIn(2) ? [] : [provider()])
  }

  mutating func tokens() -> AuthTokens {
    AuthTokens(idToken: text(), refreshToken: text(), expiresIn: Int64(below(9_999)))
  }

  mutating func outcome() -> SignInOutcome {
    guard oneIn(3) else { return .signedIn(tokens()) }
    return .secondFactorRequired(PendingSecondFactor(mfaPendingCredential: text(), factors: [factor()]))
  }

  mutating func verification() -> AppVerification? {
    oneIn(2) ? nil : AppVerification(recaptchaToken: maybe(), appToken: text(), appSecret: maybe())
  }

  mutating func idpRequest() -> IdpSignInRequest {
    let credential = IdpCredential(
      providerID: text(), idToken: maybe(), accessToken: maybe(), oauthTokenSecret: maybe(), rawNonce: maybe(),
      authorizationCode: maybe(), pendingToken: maybe(), samlResponse: maybe(), givenName: maybe(),
      familyName: maybe())
    return IdpSignInRequest(
      credential: credential, idToken: maybe(), returnIdpCredential: oneIn(2), autoCreate: oneIn(2),
      sessionID: maybe())
  }

  mutating func idpResponse() -> IdpSignInResponse {
    IdpSignInResponse(
      providerID: text(), federatedID: text(), rawID: text(), localID: maybe(), email: maybe(), emailVerified: oneIn(2),
      displayName: maybe(), fullName: maybe(), firstName: maybe(), lastName: maybe(), screenName: maybe(),
      photoURL: maybe(), rawUserInfo: maybe(), isNewUser: oneIn(2), oauthIDToken: maybe(), oauthAccessToken: maybe(),
      oauthExpiresIn: time(), oauthTokenSecret: maybe(), pendingToken: maybe(), nonce: maybe(),
      needsConfirmation: oneIn(2), verifiedProviders: oneIn(2) ? [] : [text()], errorMessage: maybe(),
      outcome: oneIn(2) ? nil : outcome())
  }

  func sample<Schema: ProtobufSchema>(
    _ schema: Schema.Type, _ message: Schema.Message
  ) throws -> Sample where Schema.Message: Equatable {
    Sample(name: "\(schema)", json: try Schema.json(of: message)) { bytes in
      try Schema.message(json: bytes, ignoresUnknownNames: true) == message
    }
  }

  func sample<Conversion: ProtobufConversion>(
    _ conversion: Conversion.Type, _ value: Conversion.Value
  ) throws -> Sample where Conversion.Value: Equatable {
    Sample(name: "\(conversion)", json: try Conversion.json(of: value)) { bytes in
      try Conversion.value(json: JSONValue(json: bytes), ignoresUnknownNames: true) == value
    }
  }

  mutating func signIn() throws -> Sample {
    switch below(11) {
    case 0:
      return try sample(
        SignUpRequestWire.self,
        SignUpRequest(
          email: maybe(), password: maybe(), displayName: maybe(), photoURL: maybe(), idToken: maybe(),
          captchaResponse: maybe()))
    case 1:
      return try sample(
        SignUpResponseWire.self,
        SignUpResponse(localID: text(), email: maybe(), displayName: maybe(), tokens: tokens()))
    case 2:
      return try sample(
        PasswordSignInRequestWire.self,
        PasswordSignInRequest(email: text(), password: text(), captchaResponse: maybe()))
    case 3:
      return try sample(
        PasswordSignInResponseWire.self,
        PasswordSignInResponse(localID: text(), email: text(), displayName: maybe(), outcome: outcome()))
    case 4:
      return try sample(
        CustomTokenSignInResponseWire.self,
        CustomTokenSignInResponse(localID: text(), isNewUser: oneIn(2), tokens: tokens()))
    case 5:
      return try sample(
        EmailLinkSignInRequestWire.self, EmailLinkSignInRequest(email: text(), oobCode: text(), idToken: maybe()))
    case 6:
      return try sample(
        EmailLinkSignInResponseWire.self,
        EmailLinkSignInResponse(localID: text(), email: text(), isNewUser: oneIn(2), outcome: outcome()))
    case 7:
      let proof: PhoneProof =
        oneIn(2) ? .code(sessionInfo: text(), code: text()) : .temporaryProof(phoneNumber: text(), proof: text())
      return try sample(PhoneSignInRequestWire.self, PhoneSignInRequest(proof: proof, idToken: maybe()))
    case 8:
      let response: PhoneSignInResponse =
        oneIn(2)
        ? .signedIn(localID: text(), phoneNumber: text(), isNewUser: oneIn(2), tokens: tokens())
        : .numberInUse(phoneNumber: text(), temporaryProof: text(), expiresIn: 3_600)
      return try sample(PhoneSignInResponseWire.self, response)
    case 9: return try sample(IdpSignInRequestWire.self, idpRequest())
    default: return try sample(IdpSignInResponseWire.self, idpResponse())
    }
  }

  mutating func account() throws -> Sample {
    switch below(10) {
    case 0: return try sample(LookupResponseWire.self, LookupResponse(users: oneIn(3) ? [] : [user()]))
    case 1:
      return try sample(
        UpdateRequestWire.self,
        UpdateRequest(
          idToken: maybe(), oobCode: maybe(), email: maybe(), password: maybe(), displayName: maybe(),
          photoURL: maybe(), deleteAttributes: Set(UserAttribute.allCases.filter { _ in oneIn(2) }),
          deleteProviders: oneIn(2) ? [] : [text()]))
    case 2:
      return try sample(
        UpdateResponseWire.self,
        UpdateResponse(
          localID: text(), email: maybe(), newEmail: maybe(), emailVerified: oneIn(2), displayName: maybe(),
          photoURL: maybe(), hasPassword: oneIn(2), providerUserInfo: oneIn(2) ? [] : [provider()],
          tokens: oneIn(2) ? nil : tokens()))
    case 3:
      let settings = OobLinkSettings(
        continueURL: maybe(), canHandleCodeInApp: oneIn(2), iosBundleID: maybe(), androidPackageName: maybe(),
        androidInstallApp: oneIn(2), androidMinimumVersion: maybe(), linkDomain: maybe())
      return try sample(
        SendOobCodeRequestWire.self,
        SendOobCodeRequest(
          requestType: pick([nil] + OobRequestType.allCases.map(Optional.some)), email: maybe(), newEmail: maybe(),
          idToken: maybe(), settings: settings))
    case 4:
      return try sample(
        ResetPasswordResponseWire.self,
        ResetPasswordResponse(
          requestType: pick(OobRequestType.allCases), email: maybe(), newEmail: maybe(),
          mfaInfo: oneIn(2) ? factor() : nil))
    case 5:
      return try sample(
        CreateAuthURIResponseWire.self,
        CreateAuthURIResponse(
          sessionID: text(), isRegistered: pick([nil, true, false]), allProviders: oneIn(2) ? [] : [text()],
          signInMethods: oneIn(2) ? [] : [text()]))
    case 6:
      return try sample(
        SendVerificationCodeRequestWire.self,
        SendVerificationCodeRequest(phoneNumber: text(), appVerification: verification()))
    case 7:
      return try sample(
        RevokeTokenRequestWire.self,
        RevokeTokenRequest(
          idToken: text(), providerID: text(), token: text(),
          tokenType: pick([.refreshToken, .accessToken, .code])))
    case 8:
      return try sample(ResetPasswordRequestWire.self, ResetPasswordRequest(oobCode: text(), newPassword: maybe()))
    default:
      return try sample(
        CreateAuthURIRequestWire.self,
        CreateAuthURIRequest(identifier: text(), continueURI: text(), sessionID: maybe()))
    }
  }

  private mutating func blob() -> [UInt8] { (0..<below(40)).map { _ in UInt8(below(256)) } }

  private mutating func maybeBlob() -> [UInt8]? { oneIn(2) ? blob() : nil }

  mutating func passkey() throws -> Sample {
    switch below(7) {
    case 0:
      return try sample(StartPasskeyEnrollmentRequestWire.self, StartPasskeyEnrollmentRequest(idToken: text()))
    case 1:
      let options = PasskeyCreationOptions(
        relyingPartyID: text(), relyingPartyName: text(), userID: blob(), userName: text(), displayName: text(),
        challenge: blob() + [1], excludedCredentialIDs: oneIn(2) ? [text(), text()] : [])
      return try sample(PasskeyCreationOptionsWire.self, options)
    case 2:
      let registration = FinalizePasskeyEnrollmentRequest.Registration(
        credentialID: text(), clientData: maybeBlob(), attestationObject: maybeBlob())
      return try sample(
        FinalizePasskeyEnrollmentRequestWire.self,
        FinalizePasskeyEnrollmentRequest(
          idToken: text(), name: maybe(), registration: oneIn(4) ? nil : registration))
    case 3:
      return try sample(
        FinalizePasskeyEnrollmentResponseWire.self,
        FinalizePasskeyEnrollmentResponse(localID: text(), tokens: tokens()))
    case 4:
      return try sample(
        PasskeyRequestOptionsWire.self, PasskeyRequestOptions(relyingPartyID: text(), challenge: blob()))
    case 5:
      let assertion = FinalizePasskeySignInRequest.Assertion(
        credentialID: text(), clientData: maybeBlob(), authenticatorData: maybeBlob(), signature: maybeBlob(),
        userHandle: maybeBlob())
      return try sample(
        FinalizePasskeySignInRequestWire.self,
        FinalizePasskeySignInRequest(assertion: oneIn(4) ? nil : assertion))
    default:
      return try sample(
        FinalizePasskeySignInResponseWire.self,
        FinalizePasskeySignInResponse(localID: text(), outcome: outcome()))
    }
  }

  mutating func secondFactor() throws -> Sample {
    switch below(8) {
    case 0:
      let factor: StartMfaEnrollmentRequest.Factor =
        oneIn(2) ? .totp : .phone(number: text(), appVerification: verification())
      return try sample(
        StartMfaEnrollmentRequestWire.self, StartMfaEnrollmentRequest(idToken: text(), factor: factor))
    case 1:
      let secret = TotpSecret(sharedSecretKey: text(), sessionInfo: text(), finalizeEnrollmentTime: time() ?? 7)
      return try sample(
        StartMfaEnrollmentResponseWire.self, oneIn(2) ? .phone(sessionInfo: text()) : .totp(secret))
    case 2:
      let proof: FinalizeMfaEnrollmentRequest.Proof =
        oneIn(2) ? .phone(sessionInfo: text(), code: text()) : .totp(sessionInfo: text(), code: text())
      return try sample(
        FinalizeMfaEnrollmentRequestWire.self,
        FinalizeMfaEnrollmentRequest(idToken: text(), displayName: maybe(), proof: proof))
    case 3:
      return try sample(
        StartMfaSignInRequestWire.self,
        StartMfaSignInRequest(
          mfaPendingCredential: text(), mfaEnrollmentID: text(), appVerification: verification()))
    case 4:
      let proof: FinalizeMfaSignInRequest.Proof =
        oneIn(2) ? .phone(sessionInfo: text(), code: text()) : .totp(mfaEnrollmentID: text(), code: text())
      return try sample(
        FinalizeMfaSignInRequestWire.self, FinalizeMfaSignInRequest(mfaPendingCredential: text(), proof: proof))
    case 5:
      return try sample(
        WithdrawMfaEnrollmentRequestWire.self,
        WithdrawMfaEnrollmentRequest(idToken: text(), mfaEnrollmentID: text()))
    case 6: return try sample(AuthTokensWire.self, tokens())
    default: return try sample(StartMfaSignInResponseWire.self, StartMfaSignInResponse(sessionInfo: text()))
    }
  }

  mutating func batch() throws -> Sample {
    switch below(5) {
    case 0:
      var user = ImportedUser(
        localID: text(), email: maybe(), emailVerified: oneIn(2), displayName: maybe(), photoURL: maybe(),
        phoneNumber: maybe(), passwordHash: oneIn(2) ? nil : bytes(20), salt: bytes(below(9)), rawPassword: maybe(),
        disabled: oneIn(2), createdAt: time(), lastLoginAt: time(), validSince: time(), customAttributes: maybe(),
        providerUserInfo: oneIn(2) ? [] : [provider()],
        mfaFactors: oneIn(2)
          ? []
          : [newFactor()],
        tenantID: maybe())
      (user.initialEmail, user.emailLinkSignIn, user.customAuth) = (maybe(), oneIn(2), oneIn(2))
      (user.lastRefreshAt, user.passwordUpdatedAt) = (time(), time())
      let hash = pick([
        nil, .scrypt(signerKey: bytes(9), saltSeparator: bytes(2), rounds: 8, memoryCost: 14),
        .standardScrypt(costLog2: below(20), blockSize: 8, parallelism: 1), .pbkdf2SHA256(rounds: 100), .bcrypt,
        ImportHash.text, .pbkdf2SHA1(rounds: 7), .hmac(pick(ImportHash.Digest.allCases), signerKey: bytes(9), mixing()),
        .digest(pick(ImportHash.Digest.allCases), rounds: below(9), mixing()),
      ])
      return try sample(
        BatchCreateRequestWire.self,
        BatchCreateRequest(
          users: oneIn(3) ? [] : [user], hash: hash, allowsOverwrite: oneIn(2), checksSanity: oneIn(2)))
    case 1:
      return try sample(BatchGetWire.self, BatchGetResponse(users: [user()], nextPageToken: maybe()))
    case 2:
      return try sample(
        BatchCreateResponseWire.self, BatchCreateResponse(errors: [.init(index: below(2), message: text())]))
    case 3:
      return try sample(
        BatchDeleteRequestWire.self, BatchDeleteRequest(localIDs: [text(), text()], force: oneIn(2)))
    default:
      return try sample(
        BatchDeleteResponseWire.self,
        BatchDeleteResponse(errors: oneIn(2) ? [] : [.init(index: below(2), localID: text(), message: text())]))
    }
  }

  private mutating func mixing() -> ImportHash.Mixing {
    ImportHash.Mixing(isSaltFirst: oneIn(2), separator: bytes(below(3)))
  }

  private mutating func newFactor() -> NewMfaEnrollment {
    NewMfaEnrollment(
      mfaEnrollmentID: maybe(), factor: oneIn(2) ? .phone(number: text()) : .totp, displayName: maybe(),
      enrolledAt: time())
  }

  private mutating func flag() -> Bool? { pick([nil, true, false]) }

  mutating func administration() throws -> Sample {
    switch below(9) {
    case 0:
      return try sample(
        CreateUserRequestWire.self,
        CreateUserRequest(
          localID: maybe(), email: maybe(), emailVerified: oneIn(2), password: maybe(), displayName: maybe(),
          photoURL: maybe(), phoneNumber: maybe(), disabled: oneIn(2), mfaFactors: oneIn(2) ? [] : [newFactor()]))
    case 1:
      return try sample(
        AdminUpdateRequestWire.self,
        AdminUpdateRequest(
          localID: text(), email: maybe(), emailVerified: flag(), password: maybe(), displayName: maybe(),
          photoURL: maybe(), phoneNumber: maybe(), disabled: flag(), customAttributes: maybe(), validSince: time(),
          createdAt: time(), lastLoginAt: time(), deleteAttributes: oneIn(2) ? [] : [.email, .photoURL],
          deleteProviders: oneIn(2) ? [] : [text()], linkProvider: oneIn(2) ? nil : provider(),
          mfaFactors: pick([nil, [], [newFactor()]])))
    case 2:
      return try sample(
        GetUsersRequestWire.self,
        GetUsersRequest(
          localIDs: [text()], emails: oneIn(2) ? [] : [text()], phoneNumbers: [text(), text()],
          federatedUserIDs: oneIn(2) ? [] : [FederatedUserID(providerID: text(), rawID: text())],
          initialEmails: oneIn(2) ? [] : [text()]))
    case 3:
      return try sample(
        QueryUsersRequestWire.self, QueryUsersRequest(returnsUsers: oneIn(2), isDescending: oneIn(2)))
    case 4:
      return try sample(
        QueryUsersResponseWire.self, QueryUsersResponse(count: below(3), users: oneIn(2) ? [] : [user()]))
    case 5:
      return try sample(
        CreateSessionCookieRequestWire.self,
        CreateSessionCookieRequest(idToken: text(), validDuration: Int64(below(3)) * 1_000))
    case 6: return try sample(OobLinkWire.self, OobLink(email: text(), oobCode: text(), oobLink: text()))
    case 7:
      let code = SentOobCode(
        email: text(), newEmail: maybe(), requestType: pick(OobRequestType.allCases), oobCode: text(), oobLink: text())
      return try sample(SentOobCodesWire.self, oneIn(3) ? [] : [code])
    default:
      let code = SentVerificationCode(phoneNumber: text(), sessionInfo: text(), code: text())
      return try sample(SentVerificationCodesWire.self, oneIn(3) ? [] : [code])
    }
  }

  mutating func sample() throws -> Sample {
    switch below(7) {
    case 6: try passkey()
    case 5: try oneIn(2) ? identityProvider() : hashConfig()
    case 4: try administration()
    case 3: try batch()
    case 0: try signIn()
    case 1: try account()
    default: try secondFactor()
    }
  }

  mutating func damaged(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    for _ in 0...below(3) where !bytes.isEmpty {
      let index = below(bytes.count)
      switch below(3) {
      case 0: bytes[index] = UInt8(below(256))
      case 1: bytes.remove(at: index)
      default: bytes.insert(contentsOf: pick([utf8("{"), utf8("null"), utf8("1e99"), utf8("\"x\":[],")]), at: index)
      }
    }
    return bytes
  }
}
