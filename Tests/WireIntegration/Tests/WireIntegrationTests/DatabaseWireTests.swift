import Dispatch
import Foundation
import Testing
import VestaConcurrency
import VestaCore
import VestaDatabase
import VestaDatabaseBackend
import VestaDatabaseBackendContracts
import VestaDatabaseEndpoints
import VestaDatabaseRemote
import VestaDatabaseService
import VestaServiceInterop
import VestaStoreInteropFakes
import VestaTesting
import VestaTransport
import VestaTransportInterop
import VestaTransportInteropFakes

/// The Realtime Database over sockets: its contracts, and a client whose connections are cut all the time.
@Suite(.serialized, .timeLimit(.minutes(10))) struct DatabaseWireTests {
  private func host(_ engine: DatabaseEngine) -> FakeEndpointHost {
    let host = FakeEndpointHost(project: "demo", isDevelopment: false)
    host.add((any DatabaseBackend).self, engine)
    return host
  }

  @Test func `the contracts are kept over sockets`() async throws {
    for contract in DatabaseContracts.all {
      let engine = DatabaseEngine(store: ModelStore())
      let server = try await SocketServer(DatabaseEndpoints(), in: host(engine))
      let client = try VestaTransportClient()
      do {
        try await contract.verify(DatabaseSubject(DatabaseRemote(on: try server.service(client))))
      } catch {
        Issue.record("\(contract.name): \(error)")
      }
      await client.close()
      await server.stop()
      try await engine.close()
    }
  }

  @Test func `no write is lost and no observer is left behind although connections are cut again and again`()
    async throws
  {
    let engine = DatabaseEngine(store: ModelStore())
    let server = try await SocketServer(DatabaseEndpoints(), in: host(engine))
    let options = VestaOptions(
      projectID: "demo", backend: .emulators(["database": "127.0.0.1:\(server.port)"]))
    options.callbackQueue = DispatchQueue(label: "callbacks")
    let app = try VestaApp.configure(
      name: "database-\(UUID().uuidString)", options: options,
      libraries: [DatabaseLibrary.self, DatabaseServiceLibrary.self, DatabaseRemoteLibrary.self, TransportLibrary.self])

    let root = try Database.instance(for: app).reference()
    let seen = Log<Int>()
    let observer = root.child("n").observe(.value) { snapshot in seen.add(Int(snapshot.childrenCount)) }
    let text = String(repeating: "ä", count: 40_000)
    let count = 60
    for number in 0..<count {
      // The client waits longer after each cut, so there are few.
      if number % 12 == 6 {
        await server.cut()
        try await server.listen()
      }
      try await root.child("n/\(number)").setValue(["n": number, "text": number % 10 == 0 ? text : ""])
    }
    await seen.wait { $0.last == count }
    root.child("n").removeObserver(withHandle: observer)

    let request = DatabaseReadRequest(namespace: "demo-default-rtdb", path: "n")
    let node = try await engine.read(request, context: .owner).node
    #expect(node.childCount == count)
    for number in 0..<count {
      #expect(node[DatabasePath("\(number)/n")].leaf == .int(Int64(number)))
      if number % 10 == 0 { #expect(node[DatabasePath("\(number)/text")].leaf == .string(text)) }
    }
    await app.delete()
    await server.stop()
    try await engine.close()
  }
}
