import Foundation
import Testing
import VestaStoreInterop
import VestaStoreInteropCrashTesting
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaSQLite

extension OneAtATime {
  /// Kills processes that write, at random times, and looks at what they left behind.
  ///
  /// 12 rounds; 200 with `VESTA_SOAK=1`.
  @Suite struct CrashSoakTests {
    private static var rounds: Int { ProcessInfo.processInfo.environment["VESTA_SOAK"] == "1" ? 200 : 12 }

    private func subject(_ directory: TemporaryDirectory, worker: String = "write") -> StoreCrashSubject {
      StoreCrashSubject(
        directory: directory.path, rounds: Self.rounds,
        start: { arguments in
          let isWriting = arguments.first == "write"
          return try WorkerProcess(
            "StoreCrashWorker", arguments: isWriting ? [worker] + arguments.dropFirst() : arguments)
        },
        open: { try directory.open(clock: $0) })
    }

    @Test(arguments: StoreCrashContracts.all)
    func `the store keeps its promises across killed processes`(_ contract: Contract<StoreCrashSubject>) async throws {
      let directory = try TemporaryDirectory()
      try await contract.verify(subject(directory))
      guard FileManager.default.fileExists(atPath: directory.database) else { return }
      let store = try directory.open()
      #expect(try await store.checkIntegrity() == [])
      try await store.close()
    }

    @Test func `a store that acknowledges before it commits is found`() async throws {
      let directory = try TemporaryDirectory()
      let contract = try #require(StoreCrashContracts.all.first { $0.name.hasPrefix("what was acknowledged") })
      await #expect(throws: ContractViolation.self) { try await contract.verify(subject(directory, worker: "hasty")) }
    }

    @Test func `a store that lets a second process in, or forgets its floor, is found`() async throws {
      let directory = try TemporaryDirectory()
      let real = subject(directory)
      let forgetful = StoreCrashSubject(directory: directory.path, rounds: 2, start: { try real.launch($0) }) { clock in
        ModelStore(clock: clock)
      }
      for contract in StoreCrashContracts.all.dropFirst() {
        await #expect(throws: ContractViolation.self, "\(contract.name)") { try await contract.verify(forgetful) }
      }
    }
  }
}
