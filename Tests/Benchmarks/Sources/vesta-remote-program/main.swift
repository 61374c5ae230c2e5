import Foundation
import VestaAuth
import VestaAuthRemote
import VestaCore
import VestaFirestore
import VestaFirestoreRemote
import VestaSQLite
import VestaTransport

// Signs in at a server, and prints the notes of the user as they change.
let options = try VestaOptions.fromEnvironment()
let app = try VestaApp.configure(
  options: options,
  libraries: [
    AuthLibrary.self, AuthRemoteLibrary.self, FirestoreLibrary.self, FirestoreRemoteLibrary.self, SQLiteLibrary.self,
    TransportLibrary.self,
  ])
try await Task.detached {
  let user = try await Auth.auth().signInAnonymously().user
  let notes = Firestore.firestore().collection("notes").whereField("owner", isEqualTo: user.uid)
  for try await snapshot in notes.snapshots {
    for document in snapshot.documents { print(document.documentID, document.data()) }
  }
}.value
