import Foundation
import VestaCore
import VestaFirestore
import VestaFirestoreService
import VestaSQLite

/// A city of the example.
struct City: Codable, Sendable {
  @DocumentID var id: String?
  var name: String
  var population: Int
}

/// From nothing to a live query: an app, a write, and a loop over the results.
///
/// - Returns: The names of the results, largest city first.
func liveQuery(in directory: URL) async throws -> [String] {
  let options = VestaOptions(projectID: "demo", backend: .embedded(directory: directory))
  let app = try VestaApp.configure(
    options: options, libraries: [FirestoreLibrary.self, FirestoreServiceLibrary.self, SQLiteLibrary.self])
  let cities = Firestore.firestore().collection("cities")
  try await cities.document("bonn").setData(encoding: City(name: "Bonn", population: 330_000))
  try await cities.document("berlin").setData(encoding: City(name: "Berlin", population: 3_700_000))
  var names: [String] = []
  for try await snapshot in cities.order(by: "population", descending: true).snapshots {
    names = try snapshot.documents.map { try $0.data(as: City.self).name }
    if names.count == 2 { break }
  }
  await app.delete()
  return names
}
