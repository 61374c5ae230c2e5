import Foundation
import VestaCore
import VestaServer

/// Does everything with each backend that needs nothing but this machine; throws at the first thing that is not so.
func check() async throws {
  let folder = FileManager.default.temporaryDirectory.appending(path: "notes-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  setenv("XDG_DATA_HOME", folder.path, 1)

  try await check("embedded", VestaOptions(projectID: "notes", backend: .embedded(directory: folder)), folder)

  // Every port is chosen by the system, so that nothing is in the way.
  let ports = Dictionary(uniqueKeysWithValues: ServerSettings.usualPorts.keys.map { ($0, 0) })
  let server = try await VestaServer.start(ServerSettings(project: "notes", ports: ports))
  do {
    guard let port = server.port(of: ServerSettings.shared) else { throw Complaint("The server has no port.") }
    let backend = VestaOptions.Backend.emulator(host: "127.0.0.1", port: port)
    try await check("vesta", VestaOptions(projectID: "notes", backend: backend), folder)
  } catch {
    await server.stop()
    throw error
  }
  await server.stop()
}

private func check(_ title: String, _ options: VestaOptions, _ folder: URL) async throws {
  options.storageBucket = "notes.appspot.com"
  options.callbackQueue = DispatchQueue(label: "notes")
  let name = "notes-\(title)"
  let first = try Notes(options, name: name)
  let uid = try await first.signIn("ada@example.com", "correct horse")
  try require(uid == (try await first.signIn("ada@example.com", "correct horse")), "the account is made once")

  // The query is followed while notes are added.
  let follower = Task {
    var seen: Set<String> = []
    try await first.follow(limit: 3) { seen.insert($0) }
    return seen
  }
  for text in ["one", "two", "three"] { try await first.add(text) }
  try require(try await follower.value == ["one", "two", "three"], "the query has seen every note")

  let picture = folder.appending(path: "picture-\(title).raw"), copy = folder.appending(path: "copy-\(title).raw")
  let bytes = Data((0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
  try bytes.write(to: picture)
  let object = try await first.upload(picture)
  try require(object == "notes/\(uid)/picture-\(title).raw", "the file has its place")
  await first.close()

  // A second run: the session, the notes and the file are there.
  let second = try Notes(options, name: name)
  try require(second.user == "ada@example.com", "the user is still signed in")
  var seen: Set<String> = []
  try await second.follow(limit: 3) { seen.insert($0) }
  try require(seen == ["one", "two", "three"], "the notes are there")
  try await second.download("picture-\(title).raw", to: copy)
  try require(try Data(contentsOf: copy) == bytes, "the file is unchanged")
  try second.signOut()
  await second.close()
  print("\(title): signed in, followed 3 notes, uploaded and downloaded \(bytes.count) bytes")
}

private func require(_ holds: Bool, _ fact: String) throws {
  guard holds else { throw Complaint("This should be so and is not: \(fact).") }
}
