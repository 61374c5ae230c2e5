import VestaAuthBackend
import VestaAuthWire
import VestaBytes
import VestaTesting

/// The messages of the identity service, its routes and its settings.
enum AuthSamples {
  static func messages() throws -> [MessageSample] { try signIn() + accounts() + secondFactors() + administration() }

  private static func signIn() throws -> [MessageSample] {
    [
      try MessageSample(
        SignUpRequestWire.self, #"{"email":"a@b","password":"p","displayName":"é","returnSecureToken":true}"#),
      try MessageSample(
        SignUpResponseWire.self, #"{"localId":"u","email":"a@b","idToken":"i","refreshToken":"r","expiresIn":"3600"}"#),
      try MessageSample(PasswordSignInRequestWire.self, #"{"email":"a@b","password":"p","captchaResponse":"c"}"#),
      try MessageSample(
        PasswordSignInResponseWire.self,
        #"{"localId":"u","email":"a@b","mfaPendingCredential":"c","mfaInfo":[{"mfaEnrollmentId":"m","phoneInfo":"+1"}]}"#
      ),
      try MessageSample(
        CustomTokenSignInResponseWire.self, #"{"isNewUser":true,"idToken":"e30.eyJzdWIiOiJ1In0.","refreshToken":"r"}"#),
      try MessageSample(EmailLinkSignInRequestWire.self, #"{"email":"a@b","oobCode":"o","idToken":"t"}"#),
      try MessageSample(
        PhoneSignInRequestWire.self, #"{"sessionInfo":"s","code":"1"}"#, #"{"phoneNumber":"+1","temporaryProof":"t"}"#),
      try MessageSample(
        IdpSignInRequestWire.self,
        #"{"requestUri":"http://h/?providerId=a&id_token=q&nonce=n#id_token=f","postBody":"providerId=b&id_token=x%2B"}"#
      ),
      try MessageSample(
        IdpSignInResponseWire.self,
        #"{"providerId":"p","federatedId":"https://a/7","rawId":"7","oauthExpireIn":5,"needConfirmation":true,"verifiedProvider":["x"]}"#
      ),
    ]
  }

  private static func accounts() throws -> [MessageSample] {
    [
      try MessageSample(
        LookupResponseWire.self,
        #"{"users":[{"localId":"u","passwordHash":"UkVEQUNURUQ=","passwordUpdatedAt":5,"validSince":"6","mfaInfo":[{"totpInfo":{}}]}]}"#,
        #"{"users":[{"localId":"u","lastRefreshAt":"1970-01-01T00:00:01.500Z","providerUserInfo":[{"providerId":"p","rawId":"r"}]}]}"#
      ),
      try MessageSample(
        UpdateRequestWire.self, #"{"idToken":"t","deleteAttribute":[2,"EMAIL"],"deleteProvider":["p"],"photoUrl":"x"}"#),
      try MessageSample(
        UpdateResponseWire.self,
        #"{"localId":"u","newEmail":"a@b","passwordHash":"x","idToken":"i","refreshToken":"r"}"#),
      try MessageSample(
        SendOobCodeRequestWire.self, #"{"requestType":6,"iOSBundleId":"b","email":"a@b","canHandleCodeInApp":true}"#),
      try MessageSample(ResetPasswordResponseWire.self, #"{"requestType":"PASSWORD_RESET","email":"a@b"}"#),
      try MessageSample(
        CreateAuthURIResponseWire.self, #"{"sessionId":"s","registered":true,"signinMethods":["password"]}"#),
      try MessageSample(
        SendVerificationCodeRequestWire.self, #"{"phoneNumber":"+1","iosReceipt":"r","iosSecret":"s"}"#),
      try MessageSample(
        RevokeTokenRequestWire.self, #"{"idToken":"i","providerId":"p","token":"t","tokenType":"CODE"}"#),
    ]
  }

  private static func secondFactors() throws -> [MessageSample] {
    [
      try MessageSample(
        StartMfaEnrollmentRequestWire.self,
        #"{"idToken":"i","phoneEnrollmentInfo":{"phoneNumber":"+1","recaptchaToken":"t"}}"#,
        #"{"idToken":"i","totpEnrollmentInfo":{}}"#),
      try MessageSample(
        StartMfaEnrollmentResponseWire.self, #"{"phoneSessionInfo":{"sessionInfo":"s"}}"#,
        #"{"totpSessionInfo":{"sharedSecretKey":"k","verificationCodeLength":6,"periodSec":30,"sessionInfo":"s","finalizeEnrollmentTime":"1970-01-01T00:00:07Z"}}"#
      ),
      try MessageSample(
        FinalizeMfaEnrollmentRequestWire.self,
        #"{"idToken":"i","totpVerificationInfo":{"sessionInfo":"s","verificationCode":"1"}}"#),
      try MessageSample(
        FinalizeMfaSignInRequestWire.self,
        #"{"mfaPendingCredential":"c","phoneVerificationInfo":{"sessionInfo":"s","code":"1"}}"#),
      try MessageSample(WithdrawMfaEnrollmentRequestWire.self, #"{"idToken":"i","mfaEnrollmentId":"m"}"#),
      try MessageSample(
        PasskeyCreationOptionsWire.self,
        #"{"credentialCreationOptions":{"rp":{"id":"d","name":"n"},"user":{"id":"AQ","name":"n"},"challenge":"AQ","excludeCredentials":[{"id":"c"}]}}"#
      ),
      try MessageSample(
        FinalizePasskeyEnrollmentRequestWire.self,
        #"{"idToken":"i","authenticatorRegistrationResponse":{"id":"c","response":{"clientDataJSON":"AQ","attestationObject":"AQ=="}}}"#
      ),
      try MessageSample(
        FinalizePasskeySignInRequestWire.self,
        #"{"authenticatorAuthenticationResponse":{"id":"c","response":{"clientDataJSON":"AQ","authenticatorData":"AQ","signature":"AQ","userHandle":"AQ"}}}"#
      ),
    ]
  }

  private static func administration() throws -> [MessageSample] {
    [
      try MessageSample(
        BatchCreateRequestWire.self,
        #"{"hashAlgorithm":"SCRYPT","signerKey":"AQ==","saltSeparator":"AQ==","rounds":8,"memoryCost":14,"users":[{"localId":"u","passwordHash":"AQ=="}]}"#,
        #"{"hashAlgorithm":"STANDARD_SCRYPT","cpuMemCost":16384,"blockSize":8,"parallelization":1}"#,
        #"{"hashAlgorithm":"HMAC_SHA256","signerKey":"AQ==","passwordHashOrder":"SALT_AND_PASSWORD"}"#),
      try MessageSample(BatchCreateResponseWire.self, #"{"error":[{"index":1,"message":"m"}]}"#),
      try MessageSample(BatchDeleteRequestWire.self, #"{"localIds":["a","b"],"force":true}"#),
      try MessageSample(
        AdminUpdateRequestWire.self,
        #"{"localId":"u","disableUser":false,"customAttributes":"{\"a\":1}","mfa":{"enrollments":[{"phoneInfo":"+1"}]}}"#
      ),
      try MessageSample(
        GetUsersRequestWire.self,
        #"{"localId":["a"],"federatedUserId":[{"providerId":"p","rawId":"r"}],"initialEmail":["e"]}"#),
      try MessageSample(QueryUsersRequestWire.self, #"{"returnUserInfo":true,"order":"DESC"}"#),
      try MessageSample(CreateSessionCookieRequestWire.self, #"{"idToken":"t","validDuration":"600"}"#),
      try MessageSample(
        SentOobCodesWire.self,
        #"{"oobCodes":[{"email":"a@b","requestType":"VERIFY_EMAIL","oobCode":"c","oobLink":"l"}]}"#),
    ]
  }

  static func routesAndSettings() -> [HostileInputs.Decoder] { routes() + settings() }

  private static func routes() -> [HostileInputs.Decoder] {
    [
      texts(
        "/identitytoolkit.googleapis.com/v1/accounts:signUp?key=k", "/v1/projects/p/tenants/t/accounts:lookup",
        "/v2/accounts/mfaSignIn:start?key=a%20b", read: { _ = try AuthRoute(method: "POST", target: $0) }),
      texts(
        "/v2/projects/p/config?updateMask=signIn.email.enabled,mfa", "/v2/projects/p/tenants?pageSize=5&pageToken=t",
        read: { _ = try AuthProjectRoute(method: "GET", target: $0) }),
      texts(
        "/v2/projects/p/oauthIdpConfigs?oauthIdpConfigId=oidc.a", "/v2/projects/p/tenants/t/inboundSamlConfigs/saml.b",
        read: { _ = try AuthProviderRoute(method: "POST", target: $0) }),
      texts("maxResults=7&nextPageToken=a%26b", read: { _ = try BatchGetWire.request(query: $0) }),
      bodies(
        "grant_type=refresh_token&refresh_token=a%2Bb",
        read: { _ = try RefreshWire.request(body: $0, contentType: nil) }),
    ]
  }

  private static func settings() -> [HostileInputs.Decoder] {
    [
      bodies(
        #"{"access_token":"i","expires_in":"3600","refresh_token":"r","id_token":"i","user_id":"u"}"#,
        read: { _ = try RefreshWire.response(body: $0) }),
      bodies(
        #"{"signIn":{"email":{"enabled":true,"passwordRequired":false},"anonymous":{"enabled":true}},"authorizedDomains":["a"]}"#,
        #"{"mfa":{"state":"ENABLED"},"blockingFunctions":{"triggers":{"beforeCreate":{"functionUri":"http://a"}}}}"#,
        read: { body in
          var config = ProjectConfig()
          try ProjectConfigWire.merge(JSONObject(json: body), into: &config)
        }),
      bodies(
        #"{"name":"projects/p/tenants/t","displayName":"d","allowPasswordSignup":true}"#,
        read: { _ = try TenantWire.tenant(JSONObject(json: $0)) }),
      bodies(
        #"{"name":"projects/p/oauthIdpConfigs/oidc.a","clientId":"c","issuer":"i","responseType":{"idToken":true}}"#,
        read: { _ = try IdentityProviderWire.provider(JSONObject(json: $0)) }),
      bodies(
        #"{"userRecord":{"updateMask":"displayName,customClaims","displayName":"x","customClaims":{"a":1}}}"#,
        read: { _ = try BlockingFunctionsWire.answer($0, .beforeSignIn) }),
      bodies(#"{"a":"-----BEGIN"}"#, read: { _ = try CertificatesWire.response(json: $0, maximumAge: 5) }),
      bodies(
        #"{"error":{"code":400,"message":"EMAIL_EXISTS : x"}}"#,
        read: { _ = AuthErrorWire.error(status: 400, body: $0) }),
    ]
  }
}
