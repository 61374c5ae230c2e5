import Testing
import VestaFirestoreBackend
import VestaFirestoreBackendFakes
import VestaFirestoreReference
import VestaFirestoreWire

@testable import VestaFirestoreEndpoints

@Suite struct ImportCommitTests {
  @Test func `an import commits when it has enough documents, by their number or by their size`() async throws {
    var tuning = FirestoreExportTuning()
    (tuning.documentsPerCommit, tuning.commitLength) = (3, 100)
    let writes = ImportedWrites(
      database: "projects/demo/databases/(default)", backend: FakeFirestoreAdmin(ReferenceBackend()), context: .owner,
      tuning: tuning)
    var written: [Int] = []
    for (number, size) in [10, 10, 10, 60, 40, 10].enumerated() {
      try await writes.add(ExportEntity(path: ["a", "\(number)"], fields: [:]), size: size)
      written.append(writes.progress.documents)
    }
    try await writes.finish()
    #expect(written == [0, 0, 3, 3, 5, 5] && writes.progress.documents == 6)
  }
}
