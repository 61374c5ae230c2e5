import Foundation
import VestaConcurrency
import VestaStorage
import VestaTesting

extension OracleClients {
  /// Sizes around every border: of the store's own rows, of pieces, of chunks and of calls.
  private static let borders = [0, 1, 7, 8, 100, 4_096, 16_384, 65_536, 262_144, 524_288]

  private func content(_ random: inout SplitMix) -> OracleContent {
    let length = random.pick(Self.borders) + random.below(3) - 1
    return OracleContent(number: random.next(), length: max(0, random.oneIn(5) ? random.below(700_000) : length))
  }

  // MARK: Uploads

  func put(_ reference: StorageReference, _ random: inout SplitMix) async {
    let content = content(&random), metadata = StorageMetadata()
    metadata.contentType = "text/v-\(random.below(100_000))"
    metadata.customMetadata = random.oneIn(3) ? [:] : ["k\(random.below(3))": "\(random.next())"]
    let isFile = random.oneIn(2), grows = isFile && random.oneIn(4), cancels = random.oneIn(4)
    let longer = OracleContent(number: content.number, length: content.length + 1 + random.below(5_000))
    // The first bytes of contents of fewer than eight bytes say something else.
    let changes = grows && content.length >= 8
    let id = begin(reference.fullPath, .put) {
      $0.contents = changes ? [content, longer] : [content]
      ($0.custom, $0.contentType) = (metadata.customMetadata ?? [:], metadata.contentType)
    }
    let path = "\(folder)/source-\(id)"
    if isFile { _ = FileManager.default.createFile(atPath: path, contents: content.data) }
    let disturbance = Disturbance(random.next(), cancels: cancels)
    let outcome: Result<StorageMetadata?, any Error>
    if random.oneIn(3) {
      outcome = await disturbance.cancelling { [isFile] in
        isFile
          ? try await reference.putFileAsync(from: URL(fileURLWithPath: path), metadata: metadata)
          : try await reference.putDataAsync(content.data, metadata: metadata)
      }
    } else {
      let task =
        if isFile {
          reference.putFile(from: URL(fileURLWithPath: path), metadata: metadata)
        } else if random.oneIn(3) {
          reference.putStream(Pieces(data: content.data, length: 1 + random.below(100_000)), metadata: metadata)
        } else {
          reference.putData(content.data, metadata: metadata)
        }
      let end = Task { await disturbance.end(of: task).map { $0.metadata } }
      if changes, let file = FileHandle(forWritingAtPath: path) {
        for _ in 0..<random.below(300) { await Task.yield() }
        _ = try? file.seekToEnd()
        try? file.write(contentsOf: longer.data.dropFirst(content.length))
        try? file.close()
      }
      outcome = await end.value
    }
    switch outcome {
    case .success(let metadata?): done(id, metadata)
    case .success(nil):
      answer(id, .undecided)
      say(.broken("upload \(id) ended without metadata"))
    case .failure(let error):
      // A file that changed on the way is refused.
      if changes, (error as? StorageError)?.code != .cancelled { return answer(id, .refused) }
      fail(id, error, mayBeCancelled: cancels)
    }
  }

  // MARK: Downloads

  /// Downloads to a file, which has its old content or the whole new one.
  func write(_ reference: StorageReference, _ lane: Int, _ random: inout SplitMix) async {
    let path = "\(folder)/target-\(lane)", before = OracleContent(fileAt: path)
    let cancels = random.oneIn(3), disturbance = Disturbance(random.next(), cancels: cancels)
    let id = begin(reference.fullPath, .write) { ($0.target, $0.before) = (path, before) }
    let outcome: Result<Void, any Error>
    if random.oneIn(3) {
      outcome = await disturbance.cancelling { _ = try await reference.writeAsync(toFile: URL(fileURLWithPath: path)) }
    } else {
      outcome = await disturbance.end(of: reference.write(toFile: URL(fileURLWithPath: path))).map { _ in }
    }
    let after = OracleContent(fileAt: path)
    switch outcome {
    case .success:
      guard let after else {
        answer(id, .undecided)
        return say(.broken("download \(id) has left a file with a content that no object has had"))
      }
      answer(id, .done) { $0.content = after }
    case .failure(let error):
      fail(id, error, mayBeCancelled: cancels)
      if after != before { say(.broken("download \(id) failed, and its target has changed: \(error)")) }
    }
  }

  /// Downloads to memory.
  func get(_ reference: StorageReference, _ random: inout SplitMix) async {
    let cancels = random.oneIn(3), disturbance = Disturbance(random.next(), cancels: cancels)
    let id = begin(reference.fullPath, .get)
    let outcome: Result<Data, any Error>
    if random.oneIn(2) {
      outcome = await disturbance.cancelling { try await reference.data(maxSize: 2_000_000) }
    } else {
      outcome = await withCheckedContinuation { continuation in
        let task = reference.getData(maxSize: 2_000_000) { (result: Result<Data, any Error>) in
          continuation.resume(returning: result)
        }
        Task { await disturbance.disturb(task) }
      }
    }
    read(id, outcome, mayBeCancelled: cancels)
  }

  /// Reads the chunks of an object, or leaves it early.
  func stream(_ reference: StorageReference, _ random: inout SplitMix) async {
    let id = begin(reference.fullPath, .get)
    var data = Data()
    let leaves = random.oneIn(3), pauses = random.oneIn(2)
    do {
      for try await chunk in reference.contents(chunkSize: 1 + random.below(60_000)) {
        data += chunk
        if leaves { return answer(id, .undecided) }
        if pauses { for _ in 0..<random.below(20) { await Task.yield() } }
      }
      read(id, .success(data), mayBeCancelled: false)
    } catch {
      read(id, .failure(error), mayBeCancelled: false)
    }
  }

  private func read(_ id: Int, _ outcome: Result<Data, any Error>, mayBeCancelled: Bool) {
    switch outcome {
    case .success(let data):
      guard let content = OracleContent(data) else {
        answer(id, .undecided)
        return say(.broken("download \(id) has \(data.count) bytes that no object has had"))
      }
      answer(id, .done) { $0.content = content }
    case .failure(let error): fail(id, error, mayBeCancelled: mayBeCancelled)
    }
  }

  /// Reads everything, when nothing else runs.
  public func readAll() async {
    var random = SplitMix(seed: 1)
    for (number, name) in Self.names.enumerated() {
      let reference = storages[number % storages.count].reference(withPath: name)
      await look(reference)
      let id = begin(name, .get)
      let outcome: Result<Data, any Error>
      do {
        outcome = .success(try await reference.data(maxSize: 2_000_000))
      } catch {
        outcome = .failure(error)
      }
      read(id, outcome, mayBeCancelled: false)
      await look(reference)
    }
    for storage in storages { for _ in 0..<4 { await list(storage, &random) } }
  }

  /// Downloads with each app, and again to the files of downloads that were killed.
  public func rewrite(_ calls: [OracleCall]) async {
    for storage in storages {
      let scratch = storage.reference(withPath: "scratch"), file = URL(fileURLWithPath: "\(folder)/target-scratch")
      do {
        _ = try await scratch.putDataAsync(Data([1]))
        _ = try await scratch.writeAsync(toFile: file)
        try FileManager.default.removeItem(at: file)
      } catch {
        say(.broken("download of an object of its own: \(error)"))
      }
    }
    let downloads = calls.filter { $0.kind == .write }
    // Each app continues its own ones.
    for (storage, call) in storages.flatMap({ storage in downloads.map { (storage, $0) } }) {
      guard let target = call.target else { continue }
      let reference = storage.reference(withPath: call.name)
      let before = OracleContent(fileAt: target)
      let id = begin(call.name, .write) { ($0.target, $0.before) = (target, before) }
      do {
        _ = try await reference.writeAsync(toFile: URL(fileURLWithPath: target))
        guard let content = OracleContent(fileAt: target) else {
          answer(id, .undecided)
          say(.broken("download \(id) has left a file with a content that no object has had"))
          continue
        }
        answer(id, .done) { $0.content = content }
      } catch {
        fail(id, error, mayBeCancelled: false)
      }
    }
  }

  /// Continues the uploads that a killed process has left.
  ///
  /// - Parameter contents: The calls whose answers are missing.
  public func resume(_ calls: [OracleCall]) async {
    for storage in storages {
      for task in storage.resumeInterruptedUploads() {
        let name = task.snapshot.reference.fullPath
        let candidates = calls.filter { $0.name == name && $0.kind == .put }
        if candidates.isEmpty { say(.broken("an upload to \(name) continues that nobody has begun")) }
        // Which one of them it is, its answer says by the media type.
        let outcome = await Disturbance(0, cancels: false).end(of: task)
        guard case .success(let snapshot) = outcome, let metadata = snapshot.metadata else {
          if case .failure(let error) = outcome, candidates.allSatisfy({ $0.contents.count == 1 }) {
            say(.broken("a continued upload to \(name) failed: \(error)"))
          }
          continue
        }
        guard let call = candidates.first(where: { $0.contentType == metadata.contentType }) else {
          say(.broken("a continued upload to \(name) has the metadata of none: \(metadata)"))
          continue
        }
        done(begin(name, .put) { $0 = OracleCall(copying: call, id: $0.id) }, metadata)
      }
    }
  }
}

extension OracleCall {
  init(copying call: OracleCall, id: Int) {
    self = call
    self.id = id
  }
}

/// The pieces of an upload, which sometimes wait.
private struct Pieces: AsyncSequence, Sendable {
  let data: Data
  let length: Int

  struct AsyncIterator: AsyncIteratorProtocol {
    var rest: Data
    let length: Int

    mutating func next() async throws -> Data? {
      for _ in 0..<(rest.count % 7) { await Task.yield() }
      guard !rest.isEmpty else { return nil }
      defer { rest = rest.dropFirst(length) }
      return Data(rest.prefix(length))
    }
  }

  func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rest: data, length: length) }
}
