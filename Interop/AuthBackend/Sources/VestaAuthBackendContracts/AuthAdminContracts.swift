import VestaAuthBackend
import VestaServiceInterop
public import VestaTesting

/// The promises of `AuthAdminBackend` on accounts, settings and tenants as checks.
public enum AuthAdminContracts {
  /// All promises; each wants a fresh subject.
  public static let all = accounts + settings

  private static let accounts: [Contract<AuthAdminSubject>] = [
    Contract("an account is found by the first of its addresses") { subject in
      var user = ImportedUser(localID: "ada", email: "new@example.com")
      user.initialEmail = "first@example.com"
      let users = [user, ImportedUser(localID: "bob", email: "bob@example.com")]
      let errors = try await subject.administration.batchCreate(BatchCreateRequest(users: users), context: .owner)
        .errors
      try expect(errors.isEmpty, "the import was refused: \(errors)")
      for (emails, expected) in [(["First@example.com"], ["ada"]), (["new@example.com", "bob@example.com"], [])] {
        let found = try await subject.getUsers(GetUsersRequest(initialEmails: emails)).users.map(\.localID)
        try expect(found, equals: expected, "the accounts whose first address is one of \(emails)")
      }
      let twice = GetUsersRequest(localIDs: ["ada"], initialEmails: ["first@example.com"])
      try expect(try await subject.getUsers(twice).users.count, equals: 1, "an account that is named twice")
    },
    Contract("a change of second factors keeps an app by its id, and the codes of the app sign in") { subject in
      try await subject.createUser("ada")
      let secret = try await subject.enrollApp("ada")
      let user = try expectValue(try await subject.getUsers(GetUsersRequest(localIDs: ["ada"])).users.first, "ada")
      let app = try expectValue(user.mfaInfo.first, "the factor")
      let factors = [
        NewMfaEnrollment(phoneNumber: "+15550000001"),
        NewMfaEnrollment(mfaEnrollmentID: app.mfaEnrollmentID, factor: .totp, displayName: "new"),
      ]
      let changed = try await subject.updateUser(AdminUpdateRequest(localID: "ada", mfaFactors: factors))
      try expect(changed.mfaInfo.map(\.factor), equals: [.phone(number: "+15550000001"), .totp], "the factors")
      try expect(changed.mfaInfo.last?.mfaEnrollmentID, equals: app.mfaEnrollmentID, "the id of the app")
      try expect(changed.mfaInfo.last?.displayName, equals: "new", "the name of the app")
      try await subject.signIn("ada", app: app.mfaEnrollmentID, secret: secret)
    },
    Contract("a change of second factors cannot make an app") { subject in
      try await subject.createUser("ada")
      for factor in [NewMfaEnrollment(factor: .totp), NewMfaEnrollment(mfaEnrollmentID: "x", factor: .totp)] {
        try await expectRefusal(.invalidMfaEnrollmentID, of: "an app without a secret") {
          try await subject.updateUser(AdminUpdateRequest(localID: "ada", mfaFactors: [factor]))
        }
      }
    },
    Contract("after the deletion of all accounts none is left, no session is valid and addresses are free") { subject in
      for name in ["ada", "bob", "eve"] { try await subject.createUser(name) }
      let tokens = try expectValue(try await subject.signIn("ada").outcome.tokens, "tokens")
      try await subject.deleteAllAccounts(.owner)
      try expect(try await subject.count(), equals: 0, "the number of accounts")
      try await expectRefusal(.userNotFound, .tokenExpired, .invalidRefreshToken, of: "a refresh") {
        try await subject.backend.refresh(RefreshRequest(refreshToken: tokens.refreshToken), context: subject.context)
      }
      try await subject.createUser("ada")
      try await subject.deleteAllAccounts(.owner)
      try await subject.deleteAllAccounts(.owner)
      try expect(try await subject.count(), equals: 0, "the number of accounts after another deletion")
    },
    Contract("the deletion of all accounts is that of the project, or of one tenant") { subject in
      var tenant = CallContext.owner
      tenant.tenantID = try await subject.administration.createTenant(
        CreateTenantRequest(displayName: "corp"), context: .owner
      ).tenantID
      for context in [tenant, .owner] {
        for context in [tenant, .owner] where try await subject.count(context: context) == 0 {
          try await subject.createUser("ada", context: context)
        }
        try await subject.deleteAllAccounts(context)
        let other = context.tenantID == nil ? tenant : .owner
        try expect(try await subject.count(context: context), equals: 0, "the accounts that were to be deleted")
        try expect(try await subject.count(context: other), equals: 1, "the other accounts")
      }
    },
    Contract("the deletion of all accounts is for owners") { subject in
      try await subject.createUser("ada")
      _ = try await expectThrows(AuthServiceError.self, "the deletion by no caller") {
        try await subject.deleteAllAccounts(CallContext())
      }
      try expect(try await subject.count(), equals: 1, "the number of accounts")
    },
  ]

  private static let settings: [Contract<AuthAdminSubject>] = [
    Contract("a change of the project's settings keeps the settings that it does not name") { subject in
      var wanted = try await subject.administration.projectConfig(context: .owner)
      for member in members.map(ProjectConfig.Member.signIn) + otherMembers {
        wanted.take([member], from: otherConfig)
        let changed = try await subject.updateConfig(ProjectConfigChange(otherConfig, members: [member]))
        try expect(changed, equals: wanted, "the response to a change of \(member)")
        let read = try await subject.administration.projectConfig(context: .owner)
        try expect(read, equals: wanted, "the settings after a change of \(member)")
      }
    },
    Contract("a change of a tenant keeps the properties that it does not name") { subject in
      let request = CreateTenantRequest(displayName: "corp")
      var wanted = try await subject.administration.createTenant(request, context: .owner)
      let other = Tenant(tenantID: wanted.tenantID, displayName: "other", signIn: otherConfig.signIn)
      let members = members.filter { $0 != .allowsPhone }
      for member in [Tenant.Member.displayName] + members.map(Tenant.Member.signIn) {
        wanted.take([member], from: other)
        let changed = try await subject.updateTenant(UpdateTenantRequest(other, members: [member]))
        try expect(changed, equals: wanted, "the response to a change of \(member)")
        let read = try await subject.administration.tenant(id: wanted.tenantID, context: .owner)
        try expect(read, equals: wanted, "the tenant after a change of \(member)")
      }
    },
  ]

  /// The ways to sign in that the protocol of the service can state for a project.
  private static let members = SignInSettings.Member.allCases.filter { $0 != .isDisabled }
  private static let otherMembers: [ProjectConfig.Member] = [
    .allowsDuplicateEmails, .hidesEmails, .passwordPolicy, .authorizedDomains,
  ]

  /// Settings that differ from the defaults in every member, whatever the defaults of hidden addresses are.
  private static let otherConfig: ProjectConfig = {
    var config = ProjectConfig(allowsDuplicateEmails: true, hidesEmails: false, authorizedDomains: ["a.example"])
    config.signIn = SignInSettings(
      allowsPasswords: false, allowsEmailLinks: false, allowsAnonymous: false, allowsPhone: false,
      mfaState: .mandatory, allowsPhoneFactors: false, allowsTotpFactors: false)
    config.passwordPolicy.minimumLength = 9
    return config
  }()
}
