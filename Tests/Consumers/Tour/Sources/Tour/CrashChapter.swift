import Foundation
import VestaCore
import VestaFirestore
import VestaFirestoreService
import VestaSQLite

// A process that is killed in the middle of its writes: what was acknowledged is there, and nothing is half there.
@Sendable
func crashChapter(_ guide: Guide) async throws {
  let options = guide.options("crash")
  guard case .embedded(let directory?) = options.backend else { return }
  let (process, output) = try startAgain(as: .writer, with: "\(guide.run) \(directory.path)")

  // Each line is the number of a document that was acknowledged.
  var lines = ""
  while lines.count(where: { $0 == "\n" }) < 50 {
    let more = output.availableData
    guard !more.isEmpty else { throw Stumble(description: "The second process ended by itself.") }
    lines += String(decoding: more, as: UTF8.self)
  }
  kill(process.processIdentifier, SIGKILL)
  lines += String(decoding: try output.readToEnd() ?? Data(), as: UTF8.self)
  process.waitUntilExit()
  let acknowledged = lines.split(separator: "\n").compactMap { Int($0) }.max() ?? 0
  try guide.show("a process that wrote documents was killed", process.terminationReason == .uncaughtSignal)

  let app = try VestaApp.configure(
    options: options, libraries: [FirestoreLibrary.self, FirestoreServiceLibrary.self, SQLiteLibrary.self])
  let documents = try await ledger(guide.run).getDocuments().documents
  let numbers = Set(documents.compactMap { $0.get("number") as? Int })
  try guide.show(
    "the engine opened anew: all \(acknowledged) documents that it had acknowledged are there",
    numbers.isSuperset(of: 1...acknowledged) && numbers.count <= acknowledged + 1)
  await app.delete()
}

private func ledger(_ run: Int) -> CollectionReference { Firestore.firestore().collection("ledger-\(run)") }

/// In the second process: writes one document after the other, until it is killed.
func writer(_ data: String) async throws {
  let parts = data.split(separator: " ", maxSplits: 1)
  guard parts.count == 2, let run = Int(parts[0]) else { return }
  try VestaApp.configure(
    options: VestaOptions(projectID: "tour", backend: .embedded(directory: URL(filePath: String(parts[1])))),
    libraries: [FirestoreLibrary.self, FirestoreServiceLibrary.self, SQLiteLibrary.self])
  for number in 1...100_000 {
    try await ledger(run).document("\(number)").setData(["number": number])
    FileHandle.standardOutput.write(Data("\(number)\n".utf8))
  }
}
