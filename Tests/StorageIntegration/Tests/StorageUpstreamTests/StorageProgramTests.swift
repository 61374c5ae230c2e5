import Foundation
import StorageHarness
import Testing
import VestaCore
import VestaStorage
import VestaTesting

@Suite struct StorageProgramTests {
  @Test @MainActor func `a program of the Firebase SDK's users does on Storage what it does there`() async throws {
    let directory = try TemporaryDirectory()
    let harness = try StorageHarness(directory: directory.path)
    let model = PhotoModel(storage: harness.storage)
    let log = Log<String>()
    model.upload(Data(count: 300_000), named: "cat.jpg") { log.add($0) }
    await log.wait { $0.count == 1 }
    #expect(log.entries == ["300000 cat.jpg"] || log.entries == ["300000 photos/cat.jpg"], "\(log.entries)")
    model.read("cat.jpg") { data, error in log.add("\(data?.count ?? -1) \(error?.code ?? 0)") }
    await log.wait { $0.count == 2 }
    model.read("dog.jpg") { data, error in log.add("\(data?.count ?? -1) \(error?.code ?? 0) \(error?.domain ?? "")") }
    await log.wait { $0.count == 3 }
    #expect(log.entries.dropFirst() == ["300000 0", "-1 -13010 FIRStorageErrorDomain"])
    #expect(await model.everything() == ["cat.jpg"])
    #expect(try await model.replace("cat.jpg") == "public,max-age=300")
    #expect(await model.remove("cat.jpg") == 0)
    #expect(await model.remove("cat.jpg") == StorageErrorCode.objectNotFound.rawValue)
    await harness.app.delete()
  }
}
