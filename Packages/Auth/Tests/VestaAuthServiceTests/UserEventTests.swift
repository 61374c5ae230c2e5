import Testing
import VestaAuthBackend
import VestaBytes
import VestaEventsInterop
import VestaServiceInterop

@testable import VestaAuthService

/// The events of accounts that an engine records for functions.
@Suite struct UserEventTests {
  private func subscribe(_ world: World, _ types: Set<EventType>) {
    world.engine.events.subscribe([EventSubscription(function: "f", types: types)])
  }

  /// The events that wait, the oldest first: their types, and the accounts.
  private func events(_ world: World) async throws -> [String] {
    var seen: [String] = []
    for entry in try await world.engine.events.events(EventPageRequest(function: "f", limit: 100)).entries {
      let event = try #require(try await world.engine.events.event(entry))
      #expect(event.data["uid"]?.string == event.path)
      seen.append("\(event.type.rawValue) \(event.path)")
    }
    return seen
  }

  @Test func `an account has an event of its beginning and one of its end, but for a deletion of all`() async throws {
    let world = World()
    subscribe(world, [.userCreated, .userDeleted])
    let admin = world.engine.administration
    let own = try await world.signUp("own@example.com")
    let single = try await world.signUp("single@example.com")
    let batch = try await world.signUp("batch@example.com")
    let last = try await world.signUp("last@example.com")
    // A change is neither.
    _ = try await admin.updateUser(AdminUpdateRequest(localID: own.localID, displayName: "Own"), context: .owner)
    _ = try await world.engine.delete(DeleteRequest(idToken: own.tokens.idToken), context: world.context)
    try await admin.deleteUser(localID: single.localID, context: .owner)
    _ = try await admin.batchDelete(BatchDeleteRequest(localIDs: [batch.localID], force: true), context: .owner)
    try await admin.deleteAllAccounts(context: .owner)
    let accounts = [own, single, batch, last].map(\.localID)
    let (created, deleted) = (EventType.userCreated.rawValue, EventType.userDeleted.rawValue)
    let seen = try await events(world)
    #expect(seen == accounts.map { "\(created) \($0)" } + accounts.dropLast().map { "\(deleted) \($0)" })
  }

  @Test func `what no function wants is not recorded`() async throws {
    let world = World()
    subscribe(world, [.userDeleted])
    let made = try await world.signUp()
    #expect(try await events(world) == [])
    _ = try await world.engine.delete(DeleteRequest(idToken: made.tokens.idToken), context: world.context)
    #expect(try await events(world) == ["\(EventType.userDeleted.rawValue) \(made.localID)"])
  }
}
