import Dispatch
import Foundation
import VestaCore
import VestaDatabase
import VestaDatabaseService
import VestaSQLite

/// A client that begins to observe a place of ten thousand children and takes their values out, on a separate app.
func clientValue() -> Side {
  side("value of 10k children", count: 20) { bench, _ in
    let (database, app) = try bench.clientApp()
    let reference = database.reference(withPath: "all")
    if try await reference.child("k0").getData().exists() == false {
      var children: [String: Int] = [:]
      for number in 0..<10_000 { children["k\(number)"] = number }
      try await reference.setValue(children)
    }
    for _ in 0..<20 {
      for try await snapshot in reference.value {
        precondition((snapshot.value as? [String: Any])?.count == 10_000)
        break
      }
    }
    await app.delete()
  }
}

extension DatabaseBench {
  /// A client with its own engine in a folder next to the others, which stays from one round to the next.
  func clientApp() throws -> (Database, VestaApp) {
    let directory = URL(filePath: "\(directory)/client", directoryHint: .isDirectory)
    let options = VestaOptions(projectID: "bench", backend: .embedded(directory: directory))
    options.callbackQueue = DispatchQueue(label: "bench.callbacks")
    let app = try VestaApp.configure(
      name: "database-bench", options: options,
      libraries: [DatabaseLibrary.self, DatabaseServiceLibrary.self, SQLiteLibrary.self])
    return (Database.database(app: app), app)
  }
}
