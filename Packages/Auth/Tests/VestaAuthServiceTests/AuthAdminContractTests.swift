import Testing
import VestaAuthBackend
import VestaAuthBackendContracts
import VestaAuthRemote
import VestaConcurrency
import VestaCryptoInterop
import VestaCryptoInteropFakes
import VestaServiceInterop
import VestaTesting

@testable import VestaAuthService

/// The contract of administrators: the engine keeps it, alone and behind its endpoints, and for each promise there is a
/// wrong implementation that breaks it and nothing else.
@Suite(.timeLimit(.minutes(5))) struct AuthAdminContractTests {
  private static func subject(_ world: World = World()) -> AuthAdminSubject {
    AuthAdminSubject(world.engine, world.engine.administration) { try world.appCode($0) }
  }

  @Test(arguments: AuthAdminContracts.all)
  func `the engine keeps every promise`(_ contract: Contract<AuthAdminSubject>) async throws {
    try await contract.verify(Self.subject())
  }

  @Test(arguments: AuthAdminContracts.all)
  func `an engine behind its endpoints keeps every promise`(_ contract: Contract<AuthAdminSubject>) async throws {
    let served = try await Served.onFakeNetwork(isSuite: true)
    try await contract.verify(
      AuthAdminSubject(served.remote, served.remote.administration) { try served.world.appCode($0) })
  }

  @Test func `all accounts are deleted where they are more than a page`() async throws {
    let world = World { $0.tuning.batch = 2 }
    for count in [1, 2, 3, 4, 5] {
      for index in 0..<count { try await world.signUp("user\(index)@example.com") }
      try await world.engine.administration.deleteAllAccounts(context: .owner)
      let left = try await world.engine.administration.queryUsers(QueryUsersRequest(), context: .owner)
      #expect(left.count == 0)
    }
  }

  struct Fault: Sendable, CustomTestStringConvertible {
    let testDescription, broken: String
    let change: @Sendable (inout AuthAdminSubject) -> Void

    init(_ fault: String, breaks broken: String, change: @escaping @Sendable (inout AuthAdminSubject) -> Void) {
      (testDescription, self.broken, self.change) = (fault, broken, change)
    }
  }

  @Test(arguments: faults) func `a wrong implementation breaks exactly its promise`(_ fault: Fault) async {
    let outcomes = await AuthAdminContracts.all.run {
      var subject = Self.subject()
      fault.change(&subject)
      return subject
    }
    #expect(outcomes.filter { !$0.isKept }.map(\.name) == [fault.broken], "\(outcomes.filter { !$0.isKept })")
  }

  @Test func `every promise has an implementation that breaks it`() {
    #expect(Set(AuthAdminContracts.all.map(\.name)) == Set(Self.faults.map(\.broken)))
  }

  private static let deletion =
    "after the deletion of all accounts none is left, no session is valid and addresses are free"

  static let faults: [Fault] = [
    Fault("looks for current addresses", breaks: "an account is found by the first of its addresses") { subject in
      let good = subject.getUsers
      subject.getUsers = { request in
        var request = request
        (request.emails, request.initialEmails) = (request.emails + request.initialEmails, [])
        return try await good(request)
      }
    },
    Fault(
      "drops apps", breaks: "a change of second factors keeps an app by its id, and the codes of the app sign in"
    ) { subject in
      let good = subject.updateUser
      subject.updateUser = { request in
        var request = request
        if request.mfaFactors?.count == 2 { request.mfaFactors?.removeAll { $0.factor == .totp } }
        return try await good(request)
      }
    },
    Fault("ignores apps without a secret", breaks: "a change of second factors cannot make an app") { subject in
      let good = subject.updateUser
      subject.updateUser = { request in
        var request = request
        if request.mfaFactors?.count == 1 { request.mfaFactors?.removeAll { $0.factor == .totp } }
        return try await good(request)
      }
    },
    Fault("deletes one page", breaks: deletion) { subject in
      let admin = subject.administration
      subject.deleteAllAccounts = { context in
        let page = try await admin.batchGet(BatchGetRequest(maxResults: 1), context: context)
        guard !page.users.isEmpty else { return }
        let request = BatchDeleteRequest(localIDs: page.users.map(\.localID), force: true)
        _ = try await admin.batchDelete(request, context: context)
      }
    },
    Fault("knows no tenants", breaks: "the deletion of all accounts is that of the project, or of one tenant") {
      subject in
      let good = subject.deleteAllAccounts
      subject.deleteAllAccounts = { context in
        var context = context
        context.tenantID = nil
        try await good(context)
      }
    },
    Fault("asks for no owner", breaks: "the deletion of all accounts is for owners") { subject in
      let good = subject.deleteAllAccounts
      subject.deleteAllAccounts = { context in
        try await good(context.caller == CallContext().caller ? .owner : context)
      }
    },
    Fault(
      "writes all settings", breaks: "a change of the project's settings keeps the settings that it does not name"
    ) { subject in
      let good = subject.updateConfig
      subject.updateConfig = { change in
        try await good(ProjectConfigChange(change.config, members: Set(ProjectConfig.Member.allCases)))
      }
    },
    Fault("writes all properties", breaks: "a change of a tenant keeps the properties that it does not name") {
      subject in
      let good = subject.updateTenant
      subject.updateTenant = { request in
        try await good(UpdateTenantRequest(request.tenant, members: Set(Tenant.Member.allCases)))
      }
    },
  ]
}

extension World {
  /// The code that an authenticator app shows for a secret, a minute after the one before.
  func appCode(_ secret: String) throws -> String {
    pass(seconds: 60)
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)
    var (bytes, group, bits) = ([UInt8](), 0, 0)
    for character in secret.utf8 {
      group = (group << 5 | (alphabet.firstIndex(of: character) ?? 0)) & 0xFFFF
      bits += 5
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(truncatingIfNeeded: group >> bits))
      }
    }
    let key = bytes
    return try TOTP { try self.crypto.hmac(.sha1, key: key, message: $0) }.code(at: now / 30_000)
  }
}
