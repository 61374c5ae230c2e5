import Testing
import VestaAuthBackend
import VestaCryptoInterop
import VestaCryptoInteropFakes
import VestaServiceInterop
import VestaStoreInterop

@testable import VestaAuthService

@Suite struct AdminTests {
  @Test func `an account is made, changed, found and deleted`() async throws {
    let world = World()
    let made = try await world.engine.administration.createUser(
      CreateUserRequest(
        localID: "ada", email: "Ada@example.com", emailVerified: true, password: "correct horse", displayName: "Ada",
        phoneNumber: "+15550000001", mfaFactors: [NewMfaEnrollment(phoneNumber: "+15550000002")]),
      context: .owner)
    #expect(made.localID == "ada" && made.email == "ada@example.com" && made.emailVerified && made.mfaInfo.count == 1)
    let changed = try await world.engine.administration.updateUser(
      AdminUpdateRequest(
        localID: "ada", phoneNumber: "+15550000003", customAttributes: #"{"admin":true}"#,
        deleteAttributes: [.displayName],
        linkProvider: ProviderUserInfo(providerID: "google.com", rawID: "1"), mfaFactors: []),
      context: .owner)
    #expect(changed.displayName == nil && changed.mfaInfo.isEmpty && changed.customAttributes == #"{"admin":true}"#)
    let found = try await world.engine.administration.getUsers(
      GetUsersRequest(
        localIDs: ["ada", "nobody"], emails: ["ADA@example.com"], phoneNumbers: ["+15550000003", "+15550000001"],
        federatedUserIDs: [FederatedUserID(providerID: "google.com", rawID: "1")]),
      context: .owner)
    #expect(found.users.map(\.localID) == ["ada"])
    try await world.signIn()
    try await world.engine.administration.deleteUser(localID: "ada", context: .owner)
    let left = try await world.contents().filter { $0.key.first != Keys.Table.meta.rawValue }
    #expect(left.map { Keys.describe($0.key) } == [])
  }

  @Test func `the checks of a new account are made in order`() async throws {
    let world = World()
    _ = try await world.engine.administration.createUser(
      CreateUserRequest(localID: "ada", email: "ada@example.com", phoneNumber: "+15550000001"), context: .owner)
    let before = try await world.contents()
    let requests: [(CreateUserRequest, AuthServiceError.Code)] = [
      (CreateUserRequest(localID: "ada", email: "x", phoneNumber: "x"), .duplicateLocalID),
      (CreateUserRequest(email: "x", phoneNumber: "x"), .invalidPhoneNumber),
      (CreateUserRequest(email: "x", phoneNumber: "+15550000001"), .phoneNumberExists),
      (CreateUserRequest(email: "x", password: "x"), .invalidEmail),
      (CreateUserRequest(email: "ada@example.com", password: "x"), .emailExists),
      (CreateUserRequest(email: "b@example.com", password: "x"), .weakPassword),
      (CreateUserRequest(mfaFactors: [NewMfaEnrollment(phoneNumber: "x")]), .invalidMfaPhoneNumber),
      (CreateUserRequest(localID: String(repeating: "x", count: 129)), .invalidArgument),
    ]
    for (request, code) in requests {
      #expect(await refusal { try await world.engine.administration.createUser(request, context: .owner) } == code)
    }
    #expect(try await world.contents() == before)
  }

  @Test func `the checks of a change are named`() async throws {
    let world = World()
    for name in ["ada", "bob"] {
      _ = try await world.engine.administration.createUser(
        CreateUserRequest(localID: name, email: "\(name)@example.com"), context: .owner)
    }
    let google = ProviderUserInfo(providerID: "google.com", rawID: "1")
    _ = try await world.engine.administration.updateUser(
      AdminUpdateRequest(localID: "bob", phoneNumber: "+15550000001", linkProvider: google), context: .owner)
    let before = try await world.contents()
    let long = "{\"a\":\"" + String(repeating: "x", count: 1000) + "\"}"
    let twice = [
      NewMfaEnrollment(mfaEnrollmentID: "a", phoneNumber: "+15550000001"),
      NewMfaEnrollment(mfaEnrollmentID: "a", phoneNumber: "+15550000002"),
    ]
    let requests: [(AdminUpdateRequest, AuthServiceError.Code)] = [
      (AdminUpdateRequest(localID: ""), .missingLocalID),
      (AdminUpdateRequest(localID: "nobody"), .userNotFound),
      (AdminUpdateRequest(localID: "ada", email: "bob@example.com"), .emailExists),
      (AdminUpdateRequest(localID: "ada", email: "x"), .invalidEmail),
      (AdminUpdateRequest(localID: "ada", password: "x"), .weakPassword),
      (AdminUpdateRequest(localID: "ada", phoneNumber: "+15550000001"), .phoneNumberExists),
      (AdminUpdateRequest(localID: "ada", customAttributes: long), .claimsTooLarge),
      (AdminUpdateRequest(localID: "ada", customAttributes: "[]"), .invalidClaims),
      (AdminUpdateRequest(localID: "ada", customAttributes: #"{"iss":1}"#), .forbiddenClaim),
      (AdminUpdateRequest(localID: "ada", linkProvider: google), .federatedUserIDAlreadyLinked),
      (
        AdminUpdateRequest(localID: "ada", linkProvider: ProviderUserInfo(providerID: "", rawID: "")),
        .missingProviderID
      ),
      (AdminUpdateRequest(localID: "ada", mfaFactors: twice), .duplicateMfaEnrollmentID),
    ]
    for (request, code) in requests {
      #expect(await refusal { try await world.engine.administration.updateUser(request, context: .owner) } == code)
    }
    #expect(try await world.contents() == before)
  }

  @Test func `accounts are found by the address that they had first`() async throws {
    let world = World()
    let made = try await world.signUp("first@example.com")
    _ = try await world.signUp("other@example.com")
    func found(_ email: String) async throws -> [String] {
      let request = GetUsersRequest(initialEmails: [email])
      return try await world.engine.administration.getUsers(request, context: .owner).users.map(\.localID)
    }
    #expect(try await found("first@example.com") == [])
    for email in ["second@example.com", "third@example.com"] {
      _ = try await world.engine.administration.updateUser(
        AdminUpdateRequest(localID: made.localID, email: email), context: .owner)
    }
    #expect(try await found("First@Example.com") == [made.localID])
    for email in ["second@example.com", "third@example.com"] { #expect(try await found(email) == []) }
    try await world.engine.administration.deleteUser(localID: made.localID, context: .owner)
    #expect(try await found("first@example.com") == [])
  }

  @Test func `an owner who changes second factors keeps an app by its id, and cannot make one`() async throws {
    let world = World()
    _ = try await world.engine.administration.createUser(
      CreateUserRequest(localID: "ada", email: "ada@example.com", emailVerified: true), context: .owner)
    var record = try await world.record("ada")
    record.factors = [UserRecord.Factor(id: "app", totpSecret: [1, 2, 3], displayName: "old", enrolledAt: 5)]
    let kept = record
    _ = try await world.store.write { try await $0.put(kept, Keys.user(.project, "ada")) }
    let phone = NewMfaEnrollment(phoneNumber: "+15550000001")
    let app = NewMfaEnrollment(mfaEnrollmentID: "app", factor: .totp, displayName: "new")
    let user = try await world.engine.administration.updateUser(
      AdminUpdateRequest(localID: "ada", mfaFactors: [phone, app]), context: .owner)
    #expect(user.mfaInfo.map(\.factor) == [.phone(number: "+15550000001"), .totp])
    #expect(user.mfaInfo.last?.displayName == "new" && user.mfaInfo.last?.enrolledAt == 5)
    #expect(try await world.record("ada").factors.last?.totpSecret == [1, 2, 3])
    for factor in [NewMfaEnrollment(factor: .totp), NewMfaEnrollment(mfaEnrollmentID: "x", factor: .totp)] {
      let request = AdminUpdateRequest(localID: "ada", mfaFactors: [factor])
      #expect(
        await refusal { try await world.engine.administration.updateUser(request, context: .owner) }
          == .invalidMfaEnrollmentID)
    }
    _ = try await world.engine.administration.updateUser(
      AdminUpdateRequest(localID: "ada", mfaFactors: [phone]), context: .owner)
    #expect(try await world.record("ada").factors.count == 1)
  }

  @Test func `changes of different settings at once undo nothing`() async throws {
    let world = World()
    let tenant = try await world.engine.administration.createTenant(
      CreateTenantRequest(displayName: "corp"), context: .owner)
    var other = ProjectConfig(allowsDuplicateEmails: true, hidesEmails: false, authorizedDomains: ["a.example"])
    other.signIn = SignInSettings(
      allowsPasswords: false, allowsEmailLinks: false, allowsAnonymous: false, allowsPhone: false, isDisabled: true,
      mfaState: .mandatory, allowsPhoneFactors: false, allowsTotpFactors: false)
    other.passwordPolicy.minimumLength = 9
    let (config, wanted) = (other, Tenant(tenantID: tenant.tenantID, displayName: "new", signIn: other.signIn))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for member in ProjectConfig.Member.allCases {
        group.addTask {
          let change = ProjectConfigChange(config, members: [member])
          _ = try await world.engine.administration.updateProjectConfig(change, context: .owner)
        }
      }
      for member in Tenant.Member.allCases {
        group.addTask {
          _ = try await world.engine.administration.updateTenant(
            UpdateTenantRequest(wanted, members: [member]), context: .owner)
        }
      }
      try await group.waitForAll()
    }
    #expect(try await world.engine.administration.projectConfig(context: .owner) == config)
    #expect(try await world.engine.administration.tenant(id: tenant.tenantID, context: .owner) == wanted)
    let unnamed = UpdateTenantRequest(Tenant(tenantID: tenant.tenantID), members: [.displayName])
    #expect(try await world.engine.administration.updateTenant(unnamed, context: .owner).displayName == nil)
  }

  @Test func `all accounts are listed page by page and can be imported elsewhere`() async throws {
    let world = World()
    for index in 0..<7 { try await world.signUp("user\(index)@example.com") }
    var users: [AuthUser] = []
    var token: String?
    repeat {
      let page = try await world.engine.administration.batchGet(
        BatchGetRequest(maxResults: 3, nextPageToken: token, hashForm: .text), context: .owner)
      users += page.users
      token = page.nextPageToken
    } while token != nil
    #expect(users.count == 7 && users.map(\.localID) == users.map(\.localID).sorted())
    let all = try await world.engine.administration.batchGet(
      BatchGetRequest(maxResults: -1, hashForm: .text), context: .owner)
    #expect(all.users == users && all.nextPageToken == nil)
    let other = World(crypto: world.crypto)
    let imported = try users.map { user in
      ImportedUser(
        localID: user.localID, email: user.email,
        passwordHash: try Base64.standard.decode(try #require(user.passwordHash)))
    }
    let response = try await other.engine.administration.batchCreate(
      BatchCreateRequest(users: imported, hash: .text), context: .owner)
    #expect(response.errors.isEmpty)
    try await other.signIn("user3@example.com")
    let count = try await other.engine.administration.queryUsers(
      QueryUsersRequest(returnsUsers: false), context: .owner)
    #expect(count.count == 7 && count.users.isEmpty)
    let backwards = try await other.engine.administration.queryUsers(
      QueryUsersRequest(isDescending: true), context: .owner)
    #expect(backwards.users.map(\.localID) == users.map(\.localID).reversed())
  }

  @Test func `an import reports what it could not take`() async throws {
    let world = World()
    try await world.signUp()
    let users = [
      ImportedUser(localID: ""), ImportedUser(localID: "1", email: "x"), ImportedUser(localID: "2", phoneNumber: "x"),
      ImportedUser(localID: "3", email: "ada@example.com"), ImportedUser(localID: "4", customAttributes: "x"),
      ImportedUser(localID: "5", customAttributes: #"{"sub":1}"#),
      ImportedUser(localID: "6", mfaFactors: [NewMfaEnrollment(phoneNumber: "+15550000001")]),
      ImportedUser(localID: "7", passwordHash: [1, 2, 3]), ImportedUser(localID: "8", tenantID: "other"),
      ImportedUser(localID: "9", email: "ok@example.com", rawPassword: "correct horse"),
    ]
    let request = BatchCreateRequest(users: users, hash: .pbkdf2SHA256(rounds: 1))
    let errors = try await world.engine.administration.batchCreate(request, context: .owner).errors
    #expect(errors.map(\.index) == Array(0..<9))
    #expect(
      errors.prefix(7).map(\.message) == [
        "localId is missing", "email is invalid", "phone number format is invalid",
        "email exists in other account in database", "Invalid custom claims provided.",
        "Custom claims provided include a reserved claim.",
        "Second factor account requires email to be presented.",
      ])
    try await world.signIn("ok@example.com")
    let again = try await world.engine.administration.batchCreate(request, context: .owner).errors
    #expect(again.map(\.index) == Array(0..<10))
    #expect(again.last?.message == "localId belongs to an existing account - can not overwrite.")
    var overwriting = request
    overwriting.allowsOverwrite = true
    #expect(
      try await world.engine.administration.batchCreate(overwriting, context: .owner).errors.map(\.index)
        == Array(0..<9))
  }

  @Test func `a batch is refused as a whole where it makes no sense`() async throws {
    let world = World()
    let twice = [ImportedUser(localID: "1", email: "a@b"), ImportedUser(localID: "2", email: "A@b")]
    let provider = ProviderUserInfo(providerID: "google.com", rawID: "1")
    let linkedTwice = ["1", "2"].map { ImportedUser(localID: $0, providerUserInfo: [provider]) }
    let hashed = [ImportedUser(localID: "1", passwordHash: [UInt8](repeating: 1, count: 32))]
    let dear = ImportHash.standardScrypt(costLog2: 40, blockSize: 8, parallelism: 1)
    let batches: [(BatchCreateRequest, AuthServiceError.Code)] = [
      (BatchCreateRequest(users: []), .missingUserAccount),
      (BatchCreateRequest(users: twice, checksSanity: true), .duplicateEmail),
      (BatchCreateRequest(users: linkedTwice, checksSanity: true), .duplicateRawID),
      (BatchCreateRequest(users: ["1", "2", "1"].map { ImportedUser(localID: $0) }), .duplicateLocalID),
      (BatchCreateRequest(users: hashed), .invalidHashAlgorithm),
      (BatchCreateRequest(users: hashed, hash: dear), .invalidHashAlgorithm),
      (BatchCreateRequest(users: (0...1000).map { ImportedUser(localID: "\($0)") }), .invalidArgument),
    ]
    for (batch, code) in batches {
      #expect(await refusal { try await world.engine.administration.batchCreate(batch, context: .owner) } == code)
    }
    #expect(try await world.contents().isEmpty)
  }

  @Test func `only disabled accounts are deleted together unless forced`() async throws {
    let world = World()
    for name in ["a", "b"] {
      _ = try await world.engine.administration.createUser(
        CreateUserRequest(localID: name, disabled: name == "a"), context: .owner)
    }
    let response = try await world.engine.administration.batchDelete(
      BatchDeleteRequest(localIDs: ["a", "b", "nobody"]), context: .owner)
    #expect(response.errors.map(\.localID) == ["b"] && response.errors.first?.index == 1)
    let forced = BatchDeleteRequest(localIDs: ["b"], force: true)
    #expect(try await world.engine.administration.batchDelete(forced, context: .owner).errors.isEmpty)
    for count in [0, 1001] {
      let request = BatchDeleteRequest(localIDs: (0..<count).map(String.init))
      #expect(
        await refusal { try await world.engine.administration.batchDelete(request, context: .owner) }
          == .localIDListExceedsLimit)
    }
  }

  @Test func `a tenant of an export keeps its id, which no other one has`() async throws {
    let world = World()
    let made = try await world.engine.administration.createTenant(
      CreateTenantRequest(tenantID: "club-1A"), context: .owner)
    #expect(made.tenantID == "club-1A")
    #expect(try await world.engine.administration.tenant(id: "club-1A", context: .owner) == made)
    for id in ["club-1A", "", "a/b", String(repeating: "x", count: 129)] {
      let request = CreateTenantRequest(tenantID: id)
      #expect(
        await refusal { try await world.engine.administration.createTenant(request, context: .owner) } == .invalidConfig
      )
    }
  }

  @Test func `tenants are apart`() async throws {
    let world = World()
    let tenant = try await world.engine.administration.createTenant(
      CreateTenantRequest(displayName: "Acme Inc"), context: .owner)
    #expect(tenant.tenantID.hasPrefix("acmeinc-"))
    let inTenant = CallContext(caller: .owner, tenantID: tenant.tenantID)
    let own = try await world.signUp()
    let request = SignUpRequest(email: "ada@example.com", password: "another horse")
    let theirs = try await world.engine.signUp(request, context: inTenant)
    #expect(own.localID != theirs.localID)
    #expect(try world.claims(theirs.tokens)["firebase"]?.object?["tenant"] == .string(tenant.tenantID))
    // Without a tenant in the call, the token's counts.
    #expect(try await world.lookup(theirs.tokens).tenantID == tenant.tenantID)
    #expect(try await world.refresh(theirs.tokens).userID == theirs.localID)
    let mismatched = LookupRequest(idToken: own.tokens.idToken)
    #expect(await refusal { try await world.engine.lookup(mismatched, context: inTenant) } == .tenantIDMismatch)
    let refreshing = RefreshRequest(refreshToken: own.tokens.refreshToken)
    #expect(await refusal { try await world.engine.refresh(refreshing, context: inTenant) } == .tenantIDMismatch)
    let text = SendVerificationCodeRequest(phoneNumber: "+15550000001")
    #expect(
      await refusal { try await world.engine.sendVerificationCode(text, context: inTenant) }
        == .unsupportedTenantOperation)
    let unknown = CallContext(caller: .owner, tenantID: "unknown")
    #expect(await refusal { try await world.engine.signUp(request, context: unknown) } == .tenantNotFound)
  }

  @Test func `a damaged key is an error and not a shorter list`() async throws {
    let world = World { $0.initialConfig.hidesEmails = false }
    for _ in 0..<3 { _ = try await world.engine.administration.createTenant(CreateTenantRequest(), context: .owner) }
    // The element's kind is none that a string has.
    let damaged = Keys.Table.tenant.prefix.bytes + [0x7F]
    try await world.store.put([RecordCodec.form], for: damaged)
    let list = ListTenantsRequest(pageSize: 10)
    #expect(
      await refusal { try await world.engine.administration.listTenants(list, context: .owner) } == .internalError)
    try await world.store.delete(damaged)
    #expect(try await world.engine.administration.listTenants(list, context: .owner).tenants.count == 3)

    let email = "ada@example.com"
    let index = Keys.providerEmails("", email).lower + [0x7F]
    try await world.store.put([], for: index)
    let ask = CreateAuthURIRequest(identifier: email, continueURI: "https://localhost")
    #expect(await refusal { try await world.engine.createAuthURI(ask, context: world.context) } == .internalError)
  }

  @Test func `the page token of another list, and the id of an item, are refused`() async throws {
    let world = World()
    let admin = world.engine.administration
    var tenants: [Tenant] = []
    for _ in 0..<2 { tenants.append(try await admin.createTenant(CreateTenantRequest(), context: .owner)) }
    let tenant = CallContext(caller: .owner, tenantID: tenants[0].tenantID)
    for index in 0..<2 {
      try await world.signUp("user\(index)@example.com")
      _ = try await world.engine.signUp(SignUpRequest(), context: tenant)
    }
    func accounts(_ token: String?, _ context: CallContext) async throws -> BatchGetResponse {
      try await admin.batchGet(BatchGetRequest(maxResults: 1, nextPageToken: token), context: context)
    }
    func list(_ token: String?) async throws -> ListTenantsResponse {
      try await admin.listTenants(ListTenantsRequest(pageSize: 1, pageToken: token), context: .owner)
    }
    let ofProject = try #require(try await accounts(nil, .owner).nextPageToken)
    let ofTenant = try #require(try await accounts(nil, tenant).nextPageToken)
    let ofTenants = try #require(try await list(nil).nextPageToken)
    #expect(try await accounts(ofProject, .owner).users.count == 1)
    #expect(try await accounts(ofTenant, tenant).users.count == 1)
    #expect(try await list(ofTenants).tenants.count == 1)
    let first = try await accounts(nil, .owner).users[0].localID
    for token in [ofTenant, ofTenants, first, "?"] {
      #expect(await refusal { try await accounts(token, .owner) } == .invalidPageSelection, "\(token)")
    }
    #expect(await refusal { try await accounts(ofProject, tenant) } == .invalidPageSelection)
    for token in [ofProject, tenants[0].tenantID] {
      #expect(await refusal { try await list(token) } == .invalidPageSelection, "\(token)")
    }
  }

  @Test func `a tenant is changed, listed and deleted with its users`() async throws {
    let world = World()
    var tenants: [Tenant] = []
    for _ in 0..<3 {
      tenants.append(try await world.engine.administration.createTenant(CreateTenantRequest(), context: .owner))
    }
    let first = try await world.engine.administration.listTenants(ListTenantsRequest(pageSize: 2), context: .owner)
    let second = try await world.engine.administration.listTenants(
      ListTenantsRequest(pageSize: 2, pageToken: first.nextPageToken), context: .owner)
    #expect((first.tenants + second.tenants).map(\.tenantID) == tenants.map(\.tenantID).sorted())
    #expect(second.nextPageToken == nil)
    let id = tenants[0].tenantID
    let context = CallContext(caller: .owner, tenantID: id)
    let made = try await world.engine.signUp(SignUpRequest(), context: context)
    var settings = tenants[0].signIn
    settings.allowsAnonymous = false
    _ = try await world.engine.administration.updateTenant(
      UpdateTenantRequest(tenantID: id, signIn: settings), context: .owner)
    #expect(
      await refusal { try await world.engine.signUp(SignUpRequest(), context: context) } == .adminOnlyOperation)
    try await world.engine.administration.deleteTenant(id: id, context: .owner)
    #expect(await refusal { try await world.engine.administration.tenant(id: id, context: .owner) } == .tenantNotFound)
    #expect(await refusal { try await world.lookup(made.tokens) } == .tenantNotFound)
    #expect(try await world.contents().filter { $0.key.first == Keys.Table.user.rawValue }.isEmpty)
    #expect(
      await refusal { try await world.engine.administration.deleteTenant(id: id, context: .owner) } == .tenantNotFound)
  }

  @Test func `settings that make no sense are refused`() async throws {
    let world = World()
    var config = ProjectConfig()
    config.passwordPolicy.minimumLength = 40
    let bad = config
    #expect(
      await refusal { try await world.engine.administration.setProjectConfig(bad, context: .owner) } == .invalidConfig)
    let tenant = CreateTenantRequest(displayName: String(repeating: "x", count: 300))
    #expect(
      await refusal { try await world.engine.administration.createTenant(tenant, context: .owner) } == .invalidConfig)
    #expect(try await world.engine.publicProjectConfig(context: world.context).authorizedDomains == ["localhost"])
  }
}
