import Foundation
import Testing
import VestaCore

@testable import VestaFirestore
@testable import VestaFirestoreSync

/// The progress of a bundle as its observers and streams see it.
@Suite(.timeLimit(.minutes(15)))
struct LoadBundleTaskTests {
  private struct Unreadable: Error {}

  private let task = LoadBundleTask(firestore: testDatabase)

  private func progress(_ loaded: Int, _ state: LoadBundleTaskState) -> LoadBundleTaskProgress {
    var progress = BundleProgress()
    (progress.documentsLoaded, progress.totalDocuments) = (loaded, 2)
    return LoadBundleTaskProgress(progress, state: state)
  }

  /// The elements of a stream that has ended.
  private func collected(
    _ stream: AsyncThrowingStream<LoadBundleTaskProgress, any Error>
  ) async throws -> [LoadBundleTaskProgress] {
    var all: [LoadBundleTaskProgress] = []
    for try await progress in stream { all.append(progress) }
    return all
  }

  @Test func `a stream has each progress once, and one that is made later has at least the last`() async throws {
    let steps = [progress(0, .inProgress), progress(1, .inProgress), progress(2, .success)]
    let first = task.progress
    task.advance(to: steps[0])
    let second = task.progress
    task.advance(to: steps[1])
    task.advance(to: steps[2])
    let third = task.progress
    task.finish(nil)
    #expect(try await collected(first) == steps)
    #expect(try await collected(second) == Array(steps[1...]))
    #expect(try await collected(third) == [steps[2]])
    #expect(try await collected(task.progress) == [steps[2]])
  }

  @Test func `a stream of a bundle that could not be loaded throws, also when it is made later`() async throws {
    let early = task.progress
    task.advance(to: progress(1, .inProgress))
    task.advance(to: progress(1, .error))
    task.finish(Unreadable())
    await #expect(throws: Unreadable.self) { try await collected(early) }
    await #expect(throws: Unreadable.self) {
      for try await _ in task.progress { Issue.record("a progress after the failure") }
    }
  }

  @Test func `the stream of a bundle is closed when it was read`() async throws {
    let app = try makeApp()
    let db = try Firestore.instance(for: app)
    let stream = InputStream(data: Data("3{}".utf8))
    let loading = db.loadBundle(stream, completion: nil)
    #expect(stream.streamStatus == .closed)
    await #expect(throws: FirestoreErrorCode.self) { try await collected(loading.progress) }
    await app.delete()
  }
}
