import Foundation
import Testing
import VestaAuth
import VestaConcurrency
@_spi(VestaTesting) import VestaCore
import VestaDatabase
import VestaFirestore
import VestaInstallationsBackend
import VestaServiceInterop
import VestaTesting
import VestaTransportInteropFakes

/// A program whose backend is another one from its next start on.
@Suite(.serialized, .timeLimit(.minutes(10))) struct BackendSwitchTests {
  /// The objects of one start of the program.
  private struct Program {
    let app: VestaApp
    let db: Firestore
    let root: DatabaseReference
    let auth: Auth

    init(_ world: SoakWorld, at port: Int, project: String) throws {
      app = try world.app(at: port, name: "switched", project: project)
      db = try Firestore.instance(for: app)
      let database = try Database.instance(for: app)
      database.isPersistenceEnabled = true
      root = database.reference()
      auth = try Auth.instance(for: app)
    }

    func installationID() async throws -> String {
      try await app.container.require((any InstallationSource).self).credential().id
    }
  }

  @Test func `what one backend is owed reaches no other one, and that backend in the end`() async throws {
    let (first, second) = (try await SoakWorld(), try await SoakWorld())
    let project = first.project
    var directories: [URL] = []
    defer { for directory in directories { try? FileManager.default.removeItem(at: directory) } }

    // Signed in at the first server; then its network is silent, and writes wait.
    var program = try Program(first, at: first.network.port, project: project)
    directories.append(program.app.dataDirectory)
    let user = try await program.auth.createUser(withEmail: "ada@example.com", password: "correct horse").user.uid
    let installation = try await program.installationID()
    try await program.db.document("rooms/a").setData(["n": 1])
    try await program.root.child("n").setValue(1)
    first.network.set(.silent)
    let one: [String: Any] = ["n": FieldValue.increment(Int64(1))]
    try await program.db.batch().setData(one, forDocument: program.db.document("rooms/a"), merge: true).startCommit()
      .localCommit()
    program.root.child("owed").setValue("to the first") { _, _ in }
    program.root.child("n").setValue(2) { _, _ in }
    // The tree's writes are on the disk when a read of the device has them.
    let pending = EventLog<Int>(patience: .seconds(60))
    let observer = program.root.child("n").observe(.value) { pending.record($0.value as? Int ?? 0) }
    try await pending.wait(for: "the value on the device") { $0.last == 2 }
    program.root.child("n").removeObserver(withHandle: observer)
    _ = await program.app.delete()

    // The second server, under the same names.
    program = try Program(second, at: second.port, project: project)
    directories.append(program.app.dataDirectory)
    #expect(program.auth.currentUser == nil)
    #expect(try await program.installationID() != installation)
    try await program.db.document("rooms/b").setData(["n": 1])
    try await program.root.child("other").setValue(true)
    try await program.db.waitForPendingWrites()
    #expect(try await !program.db.document("rooms/a").getDocument(source: .server).exists)
    let tree = try await program.root.getData()
    #expect(tree.value as? [String: Bool] == ["other": true])
    _ = await program.app.delete()

    // The first one again.
    first.network.set(.fine)
    program = try Program(first, at: first.network.port, project: project)
    #expect(program.auth.currentUser?.uid == user)
    #expect(try await program.installationID() == installation)
    try await program.db.waitForPendingWrites()
    // Writes of the tree are sent in their order.
    try await program.root.child("last").setValue(3)
    let truth = try first.app(at: first.port)
    let room = try await Firestore.instance(for: truth).document("rooms/a").getDocument(source: .server)
    #expect(room.get("n") as? Int == 2)
    #expect(try await !Firestore.instance(for: truth).document("rooms/b").getDocument(source: .server).exists)
    let found = try await Database.instance(for: truth).reference().getData().value as? [String: Any]
    #expect(found?["n"] as? Int == 2 && found?["owed"] as? String == "to the first" && found?["other"] == nil)
    _ = await program.app.delete()
    await truth.erase()
    await first.stop()
    await second.stop()
  }
}
