import Testing
import VestaAuthBackend
import VestaBytes
import VestaEventsInterop
import VestaServiceInterop
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

@testable import VestaAuthEndpoints
@testable import VestaAuthService

/// Exports of a project and its tenants, and events that are for functions elsewhere.
@Suite struct AuthExportPartTests {
  private func host(_ world: World) -> FakeEndpointHost {
    let host = FakeEndpointHost(project: "demo", clock: world.options.clock)
    host.add((any AuthAdminBackend).self, world.engine.administration)
    return host
  }

  private func ids(_ world: World, tenant: String? = nil) async throws -> [String] {
    var context = CallContext.owner
    context.tenantID = tenant
    return try await world.engine.administration.batchGet(BatchGetRequest(maxResults: 100), context: context).users
      .map(\.localID)
  }

  @Test(arguments: [1, 2, 500]) func `the accounts of an export are those of the import`(page: Int) async throws {
    let (world, other) = (World(), World())
    let admin = world.engine.administration
    for name in ["ada", "bob", "eve"] {
      _ = try await admin.createUser(
        CreateUserRequest(localID: name, email: "\(name)@example.com"), context: .owner)
    }
    let tenant = try await admin.createTenant(CreateTenantRequest(displayName: "One"), context: .owner).tenantID
    var context = CallContext.owner
    context.tenantID = tenant
    _ = try await admin.createUser(CreateUserRequest(localID: "tom", displayName: "}]{"), context: context)

    let directory = try TemporaryDirectory()
    let part = AuthExportPart(tuning: AuthExportTuning(accountsPerPage: page, readLength: 40))
    let entry = try await part.write(project: "demo", to: directory.path, in: host(world))
    for (file, count) in [("accounts", 3), ("accounts-\(tenant)", 1)] {
      let json = try JSONObject(json: try directory.bytes(of: "auth_export/\(file).json"))
      #expect(json["users"]?.array?.count == count && json["kind"] == "identitytoolkit#DownloadAccountResponse")
    }
    try await part.read(project: "demo", from: directory.path, entry: entry, in: host(other))
    #expect(try await ids(other) == ["ada", "bob", "eve"])
    #expect(try await ids(other, tenant: tenant) == ["tom"])
  }

  @Test func `an event without a name in the first generation has no message, and one of others no form`() throws {
    let form = UserEventForm()
    let trigger = EventTrigger(key: "k", eventType: "", generation: .multicast, types: [.userCreated, .userDeleted])
    func messages(_ type: EventType, _ service: String = "firebaseauth.googleapis.com") throws -> Int? {
      let event = Event(
        id: "e", type: type, source: "//\(service)/projects/p", path: "ada", time: 0, data: EventData(JSONObject()))
      return try form.messages(of: event, to: trigger, project: "p")?.count
    }
    #expect(try messages(.userCreated) == 1 && messages(.userDeleted) == 1)
    #expect(try messages(EventType(rawValue: "google.firebase.auth.user.v2.renamed")) == 0)
    #expect(try messages(.userCreated, "storage.googleapis.com") == nil)
  }
}
