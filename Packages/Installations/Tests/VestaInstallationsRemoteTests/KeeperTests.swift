import Foundation
import Testing
import VestaConcurrency
import VestaInstallationsBackend
import VestaInstallationsService
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaInstallationsRemote

/// A service that counts its calls and fails on request.
private final class CountedService: InstallationsBackend {
  let engine: InstallationsEngine
  let calls = Log<String>()
  private let failures = Locked<[ServiceCode]>([])
  private let gate = Locked<Gate?>(nil)

  init(_ engine: InstallationsEngine) { self.engine = engine }

  func fail(_ codes: ServiceCode...) { failures.withLock { $0 = codes } }
  func hold(at gate: Gate?) { self.gate.withLock { $0 = gate } }

  private func note(_ call: String) async throws(InstallationsServiceError) {
    calls.add(call)
    if let gate = gate.withLock({ $0 }) { await gate.wait() }
    let code = failures.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    if let code { throw InstallationsServiceError(code, "on request") }
  }

  func create(
    _ request: CreateInstallationRequest, context: CallContext
  ) async throws(InstallationsServiceError) -> CreatedInstallation {
    try await note("create \(request.id ?? "")")
    return try await engine.create(request, context: context)
  }

  func generateToken(
    id: String, refreshToken: String, context: CallContext
  ) async throws(InstallationsServiceError) -> InstallationToken {
    try await note("renew")
    return try await engine.generateToken(id: id, refreshToken: refreshToken, context: context)
  }

  func delete(id: String, refreshToken: String, context: CallContext) async throws(InstallationsServiceError) {
    try await note("delete")
    try await engine.delete(id: id, refreshToken: refreshToken, context: context)
  }
}

/// The keeper of an app's installation, with an engine as its service.
@Suite(.timeLimit(.minutes(10))) struct KeeperTests {
  private static let ids = ["cABCDEFGHIJKLMNOPQRST0", "cABCDEFGHIJKLMNOPQRST1", "cABCDEFGHIJKLMNOPQRST2"]
  private let clock = ManualClock()
  private let service: CountedService
  private let directory: TemporaryDirectory
  private let number = Locked(0)

  init() throws {
    var options = InstallationsServiceOptions(clock: clock.service)
    options.tokenLifetime = .seconds(7_200)
    let store = ModelStore()
    service = CountedService(InstallationsEngine(options: options) { store })
    directory = try TemporaryDirectory("installation-keeper")
  }

  private func keeper(onDisk: Bool = true) -> InstallationKeeper {
    let ids = InstallationKeeper.IDs { [number] in
      Self.ids[number.withLock { $0 }]
    } renew: { [number] in
      number.withLock { $0 += 1 }
    }
    let file = onDisk ? URL(filePath: directory.path).appending(path: "installation.json") : nil
    return InstallationKeeper(of: service, appID: "1:2:ios:3", ids: ids, file: file, clock: clock.service) { 0 }
  }

  private func code(_ keeper: InstallationKeeper) async -> ServiceCode? {
    do {
      _ = try await keeper.credential()
      return nil
    } catch {
      return error.code
    }
  }

  @Test func `an installation is created once, and a second run knows it from its file`() async throws {
    let first = try await keeper().credential()
    #expect(first.id == Self.ids[0])
    #expect(try await service.engine.verify(token: first.token, context: CallContext()).id == first.id)
    let again = keeper()
    #expect(try await again.credential() == first)
    #expect(service.calls.entries == ["create \(Self.ids[0])"])
    clock.advance(by: .seconds(3_600))
    let renewed = try await again.credential()
    #expect(renewed.id == first.id && renewed.token != first.token)
    #expect(try await keeper().credential() == renewed)
    #expect(service.calls.entries.count == 2)
  }

  @Test func `a token that was refused is not used by a second run either`() async throws {
    let first = keeper()
    let refused = try await first.credential()
    first.tokenWasRefused(refused.token)
    let second = try await keeper().credential()
    #expect(second.id == refused.id && second.token != refused.token)
    #expect(service.calls.entries == ["create \(Self.ids[0])", "renew"])
  }

  @Test func `callers at the same time wait for one request`() async throws {
    let (keeper, gate) = (keeper(), Gate())
    service.hold(at: gate)
    let callers = (0..<20).map { _ in Task { try await keeper.credential() } }
    await service.calls.wait(for: 1)
    gate.open()
    var seen: Set<InstallationCredential> = []
    for caller in callers { seen.insert(try await caller.value) }
    #expect(seen.count == 1 && service.calls.entries.count == 1)
  }

  @Test func `a caller that is cancelled leaves at once, and the others get the installation`() async throws {
    let (keeper, gate) = (keeper(), Gate())
    service.hold(at: gate)
    let one = Task { try await keeper.credential() }, two = Task { try await keeper.credential() }
    await service.calls.wait(for: 1)
    one.cancel()
    let error = await #expect(throws: InstallationsServiceError.self) { try await one.value }
    #expect(error?.code == .cancelled)
    gate.open()
    _ = try await two.value
    #expect(await code(keeper) == nil)
  }

  @Test func `an installation that the service has forgotten is replaced by another one`() async throws {
    let (keeper, first) = (keeper(), try await keeper().credential())
    try await service.engine.delete(
      id: first.id, refreshToken: try secret(), context: CallContext())
    keeper.tokenWasRefused(first.token)
    let second = try await keeper.credential()
    #expect(second.id == Self.ids[1])
    #expect(service.calls.entries == ["create \(Self.ids[0])", "renew", "create \(Self.ids[1])"])
    #expect(try await self.keeper().credential() == second)
  }

  private func secret() throws -> String {
    let path = URL(filePath: directory.path).appending(path: "installation.json")
    return try JSONDecoder().decode(InstallationMachine.Record.self, from: Data(contentsOf: path)).refreshToken
  }

  @Test func `after failures the service is left alone until the pause is over`() async throws {
    let keeper = keeper()
    service.fail(.unavailable, .unavailable)
    #expect(await code(keeper) == .unavailable)
    #expect(await code(keeper) == .unavailable)
    #expect(service.calls.entries.count == 2)
    clock.advance(by: .seconds(1))
    #expect(await code(keeper) == nil)
    #expect(service.calls.entries.count == 3)
  }

  @Test func `one failure that passes is not seen by the caller`() async throws {
    service.fail(.internal)
    #expect(await code(keeper()) == nil)
    #expect(service.calls.entries.count == 2)
  }

  @Test func `a deleted installation is another one afterwards, and a deletion that fails deletes nothing`()
    async throws
  {
    let keeper = keeper()
    let first = try await keeper.credential()
    service.fail(.unavailable)
    await #expect(throws: InstallationsServiceError.self) { try await keeper.delete() }
    #expect(try await keeper.credential() == first)
    try await keeper.delete()
    #expect(try await keeper.credential().id == Self.ids[1])
  }

  @Test func `a damaged file is an installation less, and no failure`() async throws {
    let path = URL(filePath: directory.path).appending(path: "installation.json")
    try Data("{".utf8).write(to: path)
    #expect(try await keeper().credential().id == Self.ids[0])
  }
}
