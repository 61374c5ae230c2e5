import Testing
import VestaAuthBackend
import VestaServiceInterop
import VestaStoreInterop
import VestaStoreInteropFakes

@testable import VestaAuthService

/// A full disk: accounts can be deleted, and everything continues when there is room.
@Suite struct FullDiskTests {
  @Test func `accounts can be deleted on a full disk, and everything works when there is room again`() async throws {
    let store = SmallDiskStore()
    let world = World(store: store)
    let ada = try await world.signUp()
    for number in 0..<20 {
      _ = try await world.engine.administration.createUser(
        CreateUserRequest(localID: "u\(number)", email: "u\(number)@x.com"), context: .owner)
    }
    store.isFull = true
    #expect(await refusal { try await world.signUp("new@x.com") } == .resourceExhausted)
    #expect(await refusal { try await world.signIn() } == .resourceExhausted)
    // A call that needs no row works.
    #expect(try await world.lookup(ada.tokens).localID == ada.localID)
    let batch = BatchDeleteRequest(localIDs: (0..<10).map { "u\($0)" }, force: true)
    #expect(try await world.engine.administration.batchDelete(batch, context: .owner).errors.isEmpty)
    for number in 10..<20 {
      try await world.engine.administration.deleteUser(localID: "u\(number)", context: .owner)
    }
    try await world.engine.delete(DeleteRequest(idToken: ada.tokens.idToken), context: world.context)
    let left = try await world.engine.administration.batchGet(BatchGetRequest(maxResults: 100), context: .owner)
    #expect(left.users.isEmpty)
    store.isFull = false
    let again = try await world.signUp()
    #expect(try await world.signIn().localID == again.localID)
  }
}
